import { name as packageName, version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import { errorCode, messageOf } from "../store/files.ts";
import { type Command, type Io, readArgs } from "./shared/args.ts";
import { writeText } from "./shared/write.ts";

/** The commands, each loaded only when it is called. */
export const COMMANDS: Record<string, { load: () => Promise<Command>; about: string }> = {
  demo: { load: () => import("./demo.ts"), about: "see what Pawl does in thirty seconds, without an agent" },
  init: { load: () => import("./init.ts"), about: "install Pawl in this project (shows every change first)" },
  add: {
    load: () => import("./add.ts").then((both) => both.add),
    about: "add a part: complete-work, shortcuts, auto, formal, statusline",
  },
  remove: { load: () => import("./add.ts").then((both) => both.remove), about: "remove a part again" },
  uninstall: { load: () => import("./uninstall.ts"), about: "remove Pawl and restore your files" },
  doctor: { load: () => import("./doctor.ts"), about: "check the installation and show how to fix it" },
  status: { load: () => import("./status.ts"), about: "show what is next, what is running and what needs you" },
  report: {
    load: () => import("./report.ts"),
    about: "show what happened since yesterday evening: needs you, proved, failed, not checked",
  },
  runs: { load: () => import("./runs.ts"), about: "list, show, pause, resume, finish or abort runs" },
  explain: { load: () => import("./explain.ts"), about: "show why each stop was continued or allowed" },
  approve: { load: () => import("./approve.ts"), about: "accept a claim that a gate has not passed" },
  trust: { load: () => import("./trust.ts"), about: "approve the commands that this project's gates run" },
  verify: { load: () => import("./verify.ts"), about: "run this project's gates now, without an agent" },
  history: {
    load: () => import("./history.ts"),
    about: "show how often your agent's “done” was true, from transcripts on this machine",
  },
  task: { load: () => import("./task/task.ts"), about: "add, list, start, finish, block, drop and edit tasks" },
  loop: { load: () => import("./loop/loop.ts"), about: "run a procedure in fresh agent processes until it is done" },
  notify: { load: () => import("./notify.ts"), about: "get notified when a run needs you" },
  log: { load: () => import("./log.ts"), about: "show everything Pawl saw and decided" },
  stats: { load: () => import("./stats.ts"), about: "show times, counts, failures and trends per stage" },
  dashboard: { load: () => import("./dashboard.ts"), about: "show all of this live in the browser" },
  list: { load: () => import("./workflows/list.ts"), about: "list the workflows you can start here" },
  show: { load: () => import("./workflows/show.ts"), about: "show one workflow: stages, signals, prompts" },
  check: { load: () => import("./workflows/check.ts"), about: "check workflow files for errors" },
  graph: {
    load: () => import("./workflows/show.ts").then((both) => both.graph),
    about: "draw a workflow as text or Mermaid",
  },
  schema: { load: () => import("./schema.ts"), about: "print the JSON Schema of a file for your editor" },
  detect: { load: () => import("./detect.ts"), about: "show which stage a text or transcript proves, and how" },
  statusline: { load: () => import("./statusline.ts"), about: "one line for the client's status line" },
  helper: { load: () => import("./helper.ts"), about: "memory and archive for the agents of complete-work" },
  off: { load: () => import("./off.ts"), about: "turn Pawl off in this project or session" },
  on: { load: () => import("./off.ts").then((both) => both.on), about: "turn it on again" },
};

/** `pawl help all` lists these, too. */
const RARE = ["list", "show", "check", "graph", "schema", "detect", "statusline", "helper"];

const SHORTCUTS = { load: () => import("./shared/help-shortcuts.ts") };

const terminal = (): Io => ({
  out: (text) => writeText(1, text) || process.exit(0),
  err: (text) => writeText(2, text) || process.exit(0),
  cwd: currentFolder(),
  isTTY: process.stdout.isTTY === true,
});

export async function main(name: string, args: string[], io: Io = terminal()): Promise<number> {
  if (name === "--version" || name === "-v" || name === "version") return say(io, `pawl ${version}\n`);
  const [about = "all"] = args;
  const ofShortcuts = name === "help" && about === "shortcuts";
  if (name === "help" && about !== "all" && !ofShortcuts) return await main(about, ["--help"], io);
  const here = name === "" ? await showHere(io) : null;
  if (here !== null) return say(io, here);
  const isHelp = name === "" || name === "--help" || name === "-h" || name === "help";
  if (isHelp && !ofShortcuts) return say(io, help(args[0] === "all"));
  if (Object.hasOwn(CALLED, name)) return say(io, CALLED[name]!);
  const command = ofShortcuts ? SHORTCUTS : Object.hasOwn(COMMANDS, name) && COMMANDS[name];
  if (!command) return fail(io, await unknownCommand(name, args, io));
  let loaded: Command | undefined;
  try {
    loaded = await command.load();
    if (args.includes("--help") || args.includes("-h")) return say(io, `${loaded.usage}\n`);
    const [full, rest] = ofShortcuts ? ["help shortcuts", args.slice(1)] : [name, args];
    return await loaded.run(readArgs(rest, full, loaded), io);
  } catch (error) {
    return fail(io, error, loaded?.showsUsage ? `\n${loaded.usage}\n` : "");
  }
}

/** null: nothing is installed here, or it cannot be read: then the help page is shown. */
async function showHere(io: Io): Promise<string | null> {
  try {
    const [{ overview }, { findRoot }] = await Promise.all([import("./overview.ts"), import("../store/place.ts")]);
    return overview(findRoot(io.cwd));
  } catch {
    return null;
  }
}

function say(io: Io, text: string): number {
  io.out(text);
  return 0;
}

function fail(io: Io, error: unknown, usage = ""): number {
  if (error instanceof UserError) {
    io.err(`pawl: ${error.message}\n  hint: ${error.hint}\n${error.code === 2 ? usage : ""}`);
    return error.code;
  }
  const place = PLACES[errorCode(error)];
  const hint = place ?? "please report this; `pawl log --json` shows what happened before";
  io.err(`pawl: ${messageOf(error)}\n  hint: ${hint}\n`);
  return place === undefined ? 3 : 1;
}

/** Not our mistake: the place is like that. */
const PLACES: Record<string, string> = {
  EACCES: "you have no permission there; `ls -ld` shows who does",
  EPERM: "you have no permission to change that; `ls -ld` shows who does",
  EROFS: "that disk is read-only",
  ENOSPC: "the disk is full; free some space and try again",
  EDQUOT: "your share of the disk is full; free some space and try again",
};

/** What the agent's client and Pawl itself call: a person only wants to know what it is. */
const CALLED: Record<string, string> = {
  hook: `usage: pawl hook claude --via NAME

Called by the agent's client with the event as JSON on stdin; answers with one JSON object or nothing, and exits with 0.
\`pawl init\` installs it, \`pawl doctor\` tries it.
`,
  rewake: `usage: pawl rewake claude

Called by the agent's client next to the hook of every stop: waits for a check that still runs, then wakes the agent.
`,
};

/** A person may type a workflow or a procedure where a command is expected. */
async function unknownCommand(name: string, args: string[], io: Io): Promise<UserError> {
  const { nearest } = await import("../kernel/text/nearest.ts");
  const known = await findElsewhere(name, args, io);
  if (known) return new UserError(known.what, known.hint);
  const close = nearest(name, [...Object.keys(COMMANDS), "help", "version"]);
  const hint =
    close === null
      ? "run `pawl help all` for all commands"
      : `did you mean \`pawl ${close}\`? \`pawl help all\` lists all`;
  return new UserError(`there is no command ${name}`, hint);
}

const IN_A_SHELL: Record<string, string> = {
  until: "`pawl verify` runs this project's gates, and `pawl loop` works until a procedure is done",
  go: "`pawl runs resume` lets a run go on",
  keys: "`pawl help shortcuts` lists the keys",
};

async function findElsewhere(name: string, args: string[], io: Io): Promise<{ what: string; hint: string } | null> {
  const { findByArm, findByName } = await import("../definitions/registry.ts");
  const { findProcedure } = await import("../definitions/procedures.ts");
  const { findRoot } = await import("../store/place.ts");
  const root = findRoot(io.cwd);
  const found = findByArm(`/${name}`, root, io.home) ?? findByName(name, root, io.home);
  const workflow = found && "workflow" in found ? found.workflow : null;
  const word = name === "go" || name === "keys" ? `/pawl:${name}` : workflow?.arm.find((arm) => arm.endsWith(name));
  const start = workflow?.watch
    ? "`pawl help all` lists the commands"
    : `\`pawl runs start ${workflow?.name}\` begins it`;
  if (word !== undefined)
    return {
      what: `${name} is typed in the agent's client: ${[word, ...args].join(" ")}`,
      hint: `in a shell, ${IN_A_SHELL[name] ?? start}`,
    };
  if (workflow) return { what: `${name} is a workflow`, hint: start };
  return (
    findProcedure(name, root, io.home) && { what: `${name} is a procedure`, hint: `\`pawl loop ${name}\` runs it` }
  );
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UserError("the current folder was deleted", "change to a folder that exists");
  }
}

function help(all: boolean): string {
  const shown = Object.entries(COMMANDS).filter(([name]) => all || !RARE.includes(name));
  const lines = shown.map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
  return `${packageName} ${version}: your agent says done, Pawl checks.

Pawl works through your agent's hooks. Type /complete-work in Claude Code: Pawl keeps the session on the
workflow, checks what the agent claims, and survives stops, compaction and crashes.

${lines.join("\n")}
${all ? `  ${"hook".padEnd(12)}called by the agent's client: pawl hook claude --via local, JSON on stdin\n` : ""}
  pawl help all       every command          pawl <command> --help   its options
  pawl help shortcuts the one-key shortcuts (s, x, d: …)
  PAWL=0              turns Pawl off for everything started from that shell
`;
}
