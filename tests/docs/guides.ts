/** Plays a guide: its fenced blocks, from the first to the last, in one scratch project. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { contentOf, stampOf } from "../../bin/place.mjs";
import { makePlace, PAWL, shell } from "../harness/harness.ts";
import { runOutside } from "../harness/person.ts";
import { perform, type World } from "../scenarios/scenario.ts";

export interface Block {
  /** line of its fence in the guide */
  line: number;
  language: string;
  /** the file it shows, from the fence's second word */
  path: string;
  text: string;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^```(\S*) ?(.*)$/.exec(line);
    if (open && line === "```") {
      blocks.push(open);
      open = null;
    } else if (open) open.text += `${line}\n`;
    else if (fence) open = { line: index + 1, language: fence[1]!, path: fence[2]!, text: "" };
  }
  if (open) throw new Error(`the block of line ${open.line} has no end`);
  return blocks;
}

/** What is not as the guide tells it, the first such place only. */
export function play(markdown: string): string[] {
  const world = openWorld();
  for (const block of blocksOf(markdown)) {
    const perform = PLAYERS[block.language] ?? file;
    const problems = perform(world, block);
    if (problems.length > 0) return problems.map((problem) => `line ${block.line}: ${problem}`);
  }
  return [];
}

/** As after `npm install -g`: the binary is in its home, and in the PATH. */
function openWorld(): World {
  const place = makePlace();
  const bin = join(place.home, ".local/share/pawl/bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(PAWL, join(bin, "pawl"));
  copyFileSync(resolve(import.meta.dir, "../../bin/hook.sh"), join(bin, "../hook"));
  writeFileSync(join(bin, "pawl.version"), stampOf(contentOf(resolve(import.meta.dir, "../..")), PAWL));
  const env = { ...place.env, PATH: `${bin}:${place.env.PATH}` };
  return { place: { ...place, env }, sessions: {}, current: "A", last: null };
}

const PLAYERS: Record<string, (world: World, block: Block) => string[]> = {
  /** these two are for the eye only: what cannot be played */
  "": () => [],
  text: () => [],
  console: (world, { text }) =>
    steps(text, /^\$ /).flatMap(({ first: command, rest: shown }) => {
      const { out } = runOutside(world.place, ["/bin/sh", "-c", `{ ${command}\n} 2>&1`]);
      return compare(command, plain(world, out), shown);
    }),
  /** what only a person at a terminal can do: shown for the eye; an approval in it is given */
  terminal: (world, { text }) => {
    if (/^\$ pawl trust$/m.test(text)) perform(world, { trust: true });
    return [];
  },
  session,
  diff: (world, { text, path }) => {
    const target = join(world.place.root, path);
    const before = readFileSync(target, "utf8");
    const [gone, come] = ["-", "+"].map((sign) => linesWith(text, sign));
    if (before.split(gone!).length !== 2) return [`${path} does not have exactly once: ${gone}`];
    writeFileSync(
      target,
      before.replace(gone!, () => come!),
    );
    return [];
  },
};

function file(world: World, { language, path, text }: Block): string[] {
  if (path === "") return [`a block that is neither played nor a file: ${language || "(no language)"}`];
  const target = join(world.place.root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return [];
}

// ── A conversation ──────────────────────────────────────────────────────────

const SPEAKER = /^(you|agent|agent runs|reviewer|pawl|pawl → agent) ▸ /;

/** What the agent does between two stops: a command is really run, a reviewer's words are as shown. */
const TOOLS: Record<string, (world: World, text: string) => void> = {
  "agent runs": (world, command) => {
    const result = shell(world.place, `{ ${command}\n} 2>&1`).out;
    perform(world, { tool: { name: "Bash", input: { command }, result } });
  },
  reviewer: (world, result) =>
    void perform(world, { tool: { name: "Agent", input: { subagent_type: "oracle-reviewer" }, result } }),
};

/** `pawl ▸` is all that the person sees, `pawl → agent ▸` all that the agent goes on with. */
function session(world: World, { text }: Block): string[] {
  const said = steps(text, SPEAKER).map(({ first, rest, mark }) => ({
    who: mark.replace(" ▸ ", ""),
    text: [first, ...rest.map((line) => line.trimStart())].join("\n").trimEnd(),
  }));
  return said.flatMap((one, index) => {
    if (one.who.startsWith("pawl")) return [];
    if (TOOLS[one.who]) {
      TOOLS[one.who]!(world, one.text);
      return [];
    }
    const { ran } = perform(world, one.who === "you" ? { prompt: one.text } : { stop: one.text });
    const answer = ran!.out === "" ? {} : JSON.parse(ran!.out);
    const answered = said.slice(index + 1).slice(0, repliesAt(said, index + 1));
    const shown = (who: string) => answered.find((reply) => reply.who === who)?.text.split("\n") ?? [];
    const person = unindented(plain(world, answer.systemMessage ?? ""));
    const agent = unindented(plain(world, answer.reason ?? answer.hookSpecificOutput?.additionalContext ?? ""));
    return [
      ...compare(`to the person after “${one.text}”`, person, shown("pawl")),
      ...compare(`to the agent after “${one.text}”`, agent, shown("pawl → agent")),
    ];
  });
}

function repliesAt(said: { who: string }[], start: number): number {
  const next = said.slice(start).findIndex(({ who }) => !who.startsWith("pawl"));
  return next < 0 ? said.length : next;
}

const unindented = (text: string) => text.replace(/^ +/gm, "");

// ── Lines ───────────────────────────────────────────────────────────────────

interface Told {
  mark: string;
  first: string;
  rest: string[];
}

/** Each line that begins with the mark, and the lines up to the next one. */
function steps(text: string, mark: RegExp): Told[] {
  const found: Told[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const begins = mark.exec(line)?.[0];
    if (begins !== undefined) found.push({ mark: begins, first: line.slice(begins.length), rest: [] });
    else if (found.length === 0) throw new Error(`nobody says “${line}”`);
    else found.at(-1)!.rest.push(line);
  }
  return found;
}

const linesWith = (text: string, sign: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith(sign))
    .map((line) => `${line.slice(1)}\n`)
    .join("");

const plain = (world: World, text: string) =>
  text.replaceAll(world.place.root, "~/project").replaceAll(world.place.home, "~");

/** `…` alone on its line stands for any lines, within one for any text; all else must be there, and nothing more. */
export function compare(what: string, actual: string, shown: string[]): string[] {
  const wanted = shown.map((line) => (line.trim() === "…" ? "(?:.*\n)*?" : `${pattern(line.trimEnd())} *\n`)).join("");
  const text = `${actual.trimEnd()}\n`;
  const fits = shown.length === 0 ? actual.trim() === "" : new RegExp(`^${wanted}$`).test(text);
  return fits ? [] : [`${what}\n── really ──\n${text}── in the guide ──\n${shown.join("\n")}`];
}

const pattern = (line: string) => line.split("…").map(RegExp.escape).join(".*");
