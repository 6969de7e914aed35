/**
 * The house in figures: for each room of src its files, lines and what it serves. `--write` puts the table into
 * docs/ARCHITECTURE.md; without it the table is printed (`npm run check`).
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const SRC = new URL("../src/", import.meta.url);
const PAGE = new URL("../docs/ARCHITECTURE.md", import.meta.url);

/** Bottom up: a room imports only rooms above it in this list, and capability rooms do not know each other. */
export const ROOMS: Record<string, string> = {
  kernel: "types; text (safe text, prose, signals, shell lines), time; pure, imports nothing",
  native: "the one table of kernel calls: libc, errno, disk",
  store: "the only writers: runs, journal, documents, sessions, locks, seals, trust; processes",
  hosts: "a folder per agent client: wire format, transcript, turn, settings",
  definitions: "YAML to checked workflow, project, procedure; JSON Schema; check; graph",
  trackers: "tasks in beads, GitHub and session.md",
  checks: "gate kinds, jobs, the tree as one hash, trust closure; evidence and weakened tests",
  engine: "handle an event: load, decide, gather, commit, speak, apply; begin; the run view",
  auto: "working through tasks; markers; `pawl detect`",
  formal: "formal workflows: phases, documents, guidance, discovery",
  controls: "shortcuts, STATUS, tasks at the prompt, the status line",
  guard: "a “done” without a run; `pawl history`",
  loop: "`pawl loop`: procedures in fresh agent processes",
  insight: "journals folded into SQLite; report, stats",
  notify: "notifications: what deserves one, channels, quiet hours",
  verify: "gates without an agent; receipts",
  play: "Pawl plays a client: demo, doctor, tests",
  web: "the dashboard: server and page",
  setup: "install, uninstall, doctor, helpers",
  demo: "the story that `pawl demo` tells",
  cli: "one file per command",
};

export interface Room {
  room: string;
  files: number;
  lines: number;
}

export const sources = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .sort();

export const textOf = (name: string) => readFileSync(new URL(name, SRC), "utf8");

export function measure(): Room[] {
  const rooms = new Map<string, Room>();
  for (const name of sources()) {
    const room = name.includes("/") ? name.slice(0, name.indexOf("/")) : "(root)";
    const one = rooms.get(room) ?? { room, files: 0, lines: 0 };
    rooms.set(room, { room, files: one.files + 1, lines: one.lines + textOf(name).split("\n").length - 1 });
  }
  const order = ["(root)", ...Object.keys(ROOMS)];
  return [...rooms.values()].sort((a, b) => order.indexOf(a.room) - order.indexOf(b.room));
}

export function table(): string {
  const rows = measure();
  const sum = (key: "files" | "lines") => rows.reduce((total, row) => total + row[key], 0);
  const serves = (room: string) => ROOMS[room] ?? "`main.ts`: argv; `fast-path.ts`: does this event concern us at all?";
  return [
    "| room | files | lines | what it serves |",
    "|---|---:|---:|---|",
    ...rows.map(({ room, files, lines }) => `| \`${room}\` | ${files} | ${lines} | ${serves(room)} |`),
    `| **all** | **${sum("files")}** | **${sum("lines")}** | |`,
  ].join("\n");
}

const BLOCK = /(<!-- rooms: npm run house -->\n)[\s\S]*?(<!-- end -->)/;
export const inPage = () => BLOCK.exec(readFileSync(PAGE, "utf8"))?.[0] ?? "";

if (import.meta.main) {
  if (process.argv.includes("--write")) {
    const page = readFileSync(PAGE, "utf8");
    writeFileSync(
      PAGE,
      page.replace(BLOCK, (_all, begin, end) => `${begin}${table()}\n${end}`),
    );
  } else console.log(table());
}
