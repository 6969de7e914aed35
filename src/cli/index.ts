import { name as packageName, version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import { errorCode, messageOf } from "../store/files.ts";
import type { Io } from "./shared/args.ts";

/** The commands, each loaded only when it is called. */
interface Command {
  summary: string;
  usage: string;
  run(args: string[], io: Io): number | Promise<number>;
}

export const COMMANDS: Record<string, { load: () => Promise<Command>; first?: true; about: string }> = {
  demo: {
    load: () => import("./demo.ts"),
    first: true,
    about: "see what Pawl does, in thirty seconds, without an agent",
  },
  init: {
    load: () => import("./init.ts"),
    first: true,
    about: "install: hooks, commands, agents; says first what it will touch",
  },
  uninstall: { load: () => import("./uninstall.ts"), first: true, about: "take it out again, exactly" },
  doctor: {
    load: () => import("./doctor.ts"),
    first: true,
    about: "find what is wrong with the installation, and the remedy",
  },
  status: { load: () => import("./status.ts"), first: true, about: "what is next, under way, and waiting for you" },
  report: {
    load: () => import("./report.ts"),
    first: true,
    about: "what happened since yesterday evening: needs you, proved, failed, unchecked",
  },
  runs: { load: () => import("./runs.ts"), first: true, about: "list, show, pause, resume, finish or abort runs" },
  explain: { load: () => import("./explain.ts"), first: true, about: "why each stop was continued or let go" },
  approve: {
    load: () => import("./approve.ts"),
    first: true,
    about: "take a claim as it is, though a gate has not passed it",
  },
  trust: { load: () => import("./trust.ts"), first: true, about: "approve the commands that this project's gates run" },
  verify: { load: () => import("./verify.ts"), first: true, about: "run this tree's gates now, no agent needed" },
  history: {
    load: () => import("./history.ts"),
    first: true,
    about: "how often your agent's “done” was true, from the transcripts already here",
  },
  task: {
    load: () => import("./task/task.ts"),
    first: true,
    about: "the project's tasks: add, list, start, done, block, drop, edit",
  },
  loop: {
    load: () => import("./loop/loop.ts"),
    first: true,
    about: "run a procedure in fresh agent processes until it is done",
  },
  notify: { load: () => import("./notify.ts"), first: true, about: "be called when a run needs you" },
  log: { load: () => import("./log.ts"), first: true, about: "everything Pawl saw and decided" },
  stats: { load: () => import("./stats.ts"), first: true, about: "per stage: how long, how often, what fails; trends" },
  dashboard: { load: () => import("./dashboard.ts"), first: true, about: "the same and more, live in the browser" },
  list: { load: () => import("./list.ts"), about: "the workflows that can be started here" },
  show: { load: () => import("./show.ts"), about: "one workflow: stages, signals, prompts" },
  check: { load: () => import("./check.ts"), about: "find mistakes in workflow files" },
  graph: { load: () => import("./graph.ts"), about: "draw a workflow as text or Mermaid" },
  detect: { load: () => import("./detect.ts"), about: "which stage a text or a transcript shows, and by what" },
  statusline: { load: () => import("./statusline.ts"), about: "one line for the client's status line" },
  helper: { load: () => import("./helper.ts"), about: "memory and archive, for the agents of complete-work" },
  off: { load: () => import("./off.ts"), first: true, about: "switch Pawl off in this project or session" },
  on: { load: () => import("./on.ts"), first: true, about: "switch it on again" },
};

const SHORTCUTS = { load: () => import("./shared/help-shortcuts.ts") };

const terminal = (): Io => ({
  out: (text) => writeOut(1, text),
  err: (text) => writeOut(2, text),
  cwd: currentFolder(),
  isTTY: process.stdout.isTTY === true,
});

export async function main(name: string, args: string[], io: Io = terminal()): Promise<number> {
  if (name === "--version" || name === "-v") return say(io, `pawl ${version}\n`);
  const ofShortcuts = name === "help" && args[0] === "shortcuts";
  const isHelp = name === "" || name === "--help" || name === "-h" || name === "help";
  if (isHelp && !ofShortcuts) return say(io, help(args[0] === "all"));
  const command = ofShortcuts ? SHORTCUTS : COMMANDS[name];
  if (!command) return fail(io, new UserError(`there is no command ${name}`, nearest(name)));
  try {
    const loaded = await command.load();
    if (args.includes("--help") || args.includes("-h")) return say(io, `${loaded.usage}\n`);
    return await loaded.run(ofShortcuts ? args.slice(1) : args, io);
  } catch (error) {
    return fail(io, error);
  }
}

function say(io: Io, text: string): number {
  io.out(text);
  return 0;
}

function fail(io: Io, error: unknown): number {
  if (error instanceof UserError) {
    io.err(`pawl: ${error.message}\n  hint: ${error.hint}\n`);
    return error.code;
  }
  const place = PLACES[errorCode(error)];
  const hint = place ?? "`pawl log --json` shows what happened before; please report this";
  io.err(`pawl: ${messageOf(error)}\n  hint: ${hint}\n`);
  return place === undefined ? 3 : 1;
}

/** Not our mistake: the place is like that. */
const PLACES: Record<string, string> = {
  EACCES: "you may not write or read there; `ls -ld` shows who may",
  EPERM: "you may not change that; `ls -ld` shows who may",
  EROFS: "that disk can only be read",
  ENOSPC: "the disk is full; make room, then try again",
  EDQUOT: "your share of the disk is full; make room, then try again",
};

function nearest(name: string): string {
  const close = Object.keys(COMMANDS).find((known) => known.startsWith(name.slice(0, 2)));
  return close ? `did you mean \`pawl ${close}\`? \`pawl help\` lists all` : "`pawl help` lists all commands";
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UserError("the current folder was deleted", "change to a folder that exists");
  }
}

/** A reader that closed the pipe (`pawl log | head`) has read enough: that is no error. */
function writeOut(fd: 1 | 2, text: string): void {
  const { writeSync } = require("node:fs") as typeof import("node:fs");
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}

function help(all: boolean): string {
  const shown = Object.entries(COMMANDS).filter(([, command]) => all || command.first);
  const lines = shown.map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
  return `${packageName} ${version}: your agent says done, Pawl checks.

It works through your agent's hooks: type /complete-work in Claude Code, and Pawl keeps the session on the
workflow, checks what the agent claims, and survives stops, compaction and crashes.

${lines.join("\n")}
${all ? `  ${"hook".padEnd(12)}what the agent calls: pawl hook claude --via local, JSON on stdin\n` : ""}
  pawl help all       every command          pawl <command> --help   its options
  pawl help shortcuts what s, x, d: and the like mean in a session
  PAWL=0              switches Pawl off for everything below that shell
`;
}
