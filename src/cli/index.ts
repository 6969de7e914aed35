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
    about: "see what Pawl does in thirty seconds, without an agent",
  },
  init: {
    load: () => import("./init.ts"),
    first: true,
    about: "install Pawl in this project (shows every change first)",
  },
  uninstall: { load: () => import("./uninstall.ts"), first: true, about: "remove Pawl and restore your files" },
  doctor: {
    load: () => import("./doctor.ts"),
    first: true,
    about: "check the installation and show how to fix it",
  },
  status: {
    load: () => import("./status.ts"),
    first: true,
    about: "show what is next, what is running and what needs you",
  },
  report: {
    load: () => import("./report.ts"),
    first: true,
    about: "show what happened since yesterday evening: needs you, proved, failed, not checked",
  },
  runs: { load: () => import("./runs.ts"), first: true, about: "list, show, pause, resume, finish or abort runs" },
  explain: { load: () => import("./explain.ts"), first: true, about: "show why each stop was continued or allowed" },
  approve: {
    load: () => import("./approve.ts"),
    first: true,
    about: "accept a claim that a gate has not passed",
  },
  trust: { load: () => import("./trust.ts"), first: true, about: "approve the commands that this project's gates run" },
  verify: { load: () => import("./verify.ts"), first: true, about: "run this project's gates now, without an agent" },
  history: {
    load: () => import("./history.ts"),
    first: true,
    about: "show how often your agent's “done” was true, from transcripts on this machine",
  },
  task: {
    load: () => import("./task/task.ts"),
    first: true,
    about: "add, list, start, finish, block, drop and edit tasks",
  },
  loop: {
    load: () => import("./loop/loop.ts"),
    first: true,
    about: "run a procedure in fresh agent processes until it is done",
  },
  notify: { load: () => import("./notify.ts"), first: true, about: "get notified when a run needs you" },
  log: { load: () => import("./log.ts"), first: true, about: "show everything Pawl saw and decided" },
  stats: { load: () => import("./stats.ts"), first: true, about: "show times, counts, failures and trends per stage" },
  dashboard: { load: () => import("./dashboard.ts"), first: true, about: "show all of this live in the browser" },
  list: { load: () => import("./workflows/list.ts"), about: "list the workflows you can start here" },
  show: { load: () => import("./workflows/show.ts"), about: "show one workflow: stages, signals, prompts" },
  check: { load: () => import("./workflows/check.ts"), about: "check workflow files for errors" },
  graph: { load: () => import("./workflows/graph.ts"), about: "draw a workflow as text or Mermaid" },
  detect: { load: () => import("./detect.ts"), about: "show which stage a text or transcript proves, and how" },
  statusline: { load: () => import("./statusline.ts"), about: "one line for the client's status line" },
  helper: { load: () => import("./helper.ts"), about: "memory and archive for the agents of complete-work" },
  off: { load: () => import("./off.ts"), first: true, about: "turn Pawl off in this project or session" },
  on: { load: () => import("./on.ts"), first: true, about: "turn it on again" },
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

function nearest(name: string): string {
  const close = Object.keys(COMMANDS).find((known) => known.startsWith(name.slice(0, 2)));
  return close ? `did you mean \`pawl ${close}\`? \`pawl help\` lists all` : "run `pawl help` for all commands";
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

Pawl works through your agent's hooks. Type /complete-work in Claude Code: Pawl keeps the session on the
workflow, checks what the agent claims, and survives stops, compaction and crashes.

${lines.join("\n")}
${all ? `  ${"hook".padEnd(12)}called by the agent's client: pawl hook claude --via local, JSON on stdin\n` : ""}
  pawl help all       every command          pawl <command> --help   its options
  pawl help shortcuts the one-key shortcuts (s, x, d: …)
  PAWL=0              turns Pawl off for everything started from that shell
`;
}
