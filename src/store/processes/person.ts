/**
 * Is a person at the terminal? An agent can call every command, so its approval would be worth nothing. It is known by
 * its environment and by its ancestors. Who hides from both on purpose gets through: this is a lock, not a jail.
 */
import { isatty } from "node:tty";
import { attempt } from "../../kernel/attempt.ts";
import { readlink } from "../../native/disk.ts";
import { messageOf } from "../files.ts";
import { basename } from "../names.ts";
import { allPointers } from "../place.ts";
import type { Client } from "./client.ts";
import { hasProc, ownerGone, PS, pidNamespace, pidsAbove, proc, procStatus, procText } from "./owner.ts";
import { oddTerminal, terminalHolders } from "./terminal.ts";

export type PersonState = { ok: true; who: string } | { ok: false; why: string };

export function isPerson(): PersonState {
  const agent = agentCalling();
  if (agent !== null) return { ok: false, why: `${agent}: only a person can approve` };
  if (!isatty(0) || !isatty(1)) return { ok: false, why: "there is no terminal: only a person at one can approve" };
  const odd = oddTerminal();
  if (odd !== null) return { ok: false, why: `${odd}: only a person at a terminal of their own can approve` };
  return { ok: true, who: userName() };
}

/** How we know that an agent calls; null: nothing shows one. What cannot be looked at counts as one. */
export function agentCalling(): string | null {
  const marker = markerIn(process.env);
  if (marker !== undefined) return `${marker} in the environment shows that an agent calls this`;
  try {
    const clients = liveClients();
    const recorded = clients.map(({ pid }) => pid);
    const above = ancestors().flatMap((one) => suspicion(one, recorded) ?? [])[0];
    return above ?? holderSuspicion(recorded) ?? lonely(clients);
  } catch (error) {
    return `Pawl cannot see who runs this (${messageOf(error)})`;
  }
}

/** Is the caller the agent of a session of ours? Less than the above: an agent may run what is no approval. */
export function agentOfSession(): string | null {
  const marker = markerIn(process.env);
  if (marker !== undefined) return `${marker} is set`;
  const clients = liveClients();
  if (clients.length === 0) return null;
  const recorded = clients.map(({ pid }) => pid);
  const above = ancestors().find(({ pid }) => recorded.includes(pid));
  if (above) return `it was started below process ${above.pid}, the agent of a session`;
  return holderSuspicion(recorded) ?? lonely(clients);
}

/** The system's answer: variables like USER say what the caller wants. */
export function userName(): string {
  const name = attempt(() => Bun.spawnSync(["/usr/bin/id", "-un"], { timeout: 5_000 }).stdout.toString().trim(), "");
  return name || `uid ${process.getuid?.() ?? "?"}`;
}

// ── Signs ───────────────────────────────────────────────────────────────────

/** Set by agents for the commands they run. Variables that people set for themselves (keys, homes) are not here. */
const MARKERS = new Set(
  [
    "AGENT AI_AGENT AMP_CURRENT_THREAD_ID ANTIGRAVITY_AGENT AUGMENT_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLINE_ACTIVE CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID COPILOT_AGENT COPILOT_CLI CURSOR_AGENT GEMINI_CLI GEMINI_SESSION_ID GOOSE_TERMINAL OPENCODE QWEN_CODE",
  ].flatMap((names) => names.split(" ")),
);

const PROGRAMS =
  /^(claude|claude-code|codex|gemini|gemini-cli|copilot|opencode|qwen|qwen-code|cursor-agent|aider|goose|amp|crush|droid|auggie|cline|kiro-cli)$/;
const PACKAGES =
  /\/(@anthropic-ai\/claude-(code|agent-sdk)|@openai\/codex|@google\/gemini-cli|@github\/copilot|opencode-ai|@qwen-code\/qwen-code|claude\/versions)(\/|$)/;
const INTERPRETERS = /^(node|nodejs|bun|deno|python[\d.]*)(\.exe)?$/;

const markerIn = (env: Record<string, string | undefined>) =>
  Object.keys(env).find((name) => MARKERS.has(name) && env[name] !== "" && env[name] !== undefined);

/** The name it goes by, the file it is, and for an interpreter the script it runs. */
function suspicion(one: Ancestor | null, recorded: number[]): string | null {
  if (one === null) return null;
  const { pid, comm, args, exe, env } = one;
  const program = basename(args[0] ?? "");
  const script = INTERPRETERS.test(basename(exe) || program)
    ? (args.slice(1).find((arg) => !arg.startsWith("-")) ?? "")
    : "";
  const named = [comm, program, basename(exe), scriptName(script)].find((name) => PROGRAMS.test(name));
  if (named !== undefined) return `it was started below ${named} (process ${pid})`;
  if ([args[0] ?? "", exe, script].some((path) => PACKAGES.test(path)))
    return `it was started below an agent (process ${pid})`;
  const marker = markerIn(env);
  if (marker !== undefined) return `it was started below an agent's shell (process ${pid} has ${marker})`;
  return recorded.includes(pid) ? `it was started below the agent of a session (process ${pid})` : null;
}

const scriptName = (script: string) => basename(script).replace(/\.[cm]?[jt]s$|\.py$/, "");

interface LiveClient {
  pid: number;
  start: string;
}

/** The processes that sessions of ours belong to, and that are still the same. */
function liveClients(): LiveClient[] {
  const here = pidNamespace();
  return allPointers().flatMap(({ pointer: { pid, pid_start = "", ...rest } }) =>
    pid !== undefined && rest.pid_ns === here && !ownerGone({ pid, pid_start, ...rest })
      ? [{ pid, start: pid_start }]
      : [],
  );
}

// ── The terminal ────────────────────────────────────────────────────────────

/** An agent that makes a terminal holds its other end: by itself, or by a server that it started. */
function holderSuspicion(recorded: number[]): string | null {
  for (const holder of terminalHolders()) {
    const found = pidsAbove(holder).flatMap((pid) => suspicion(fromProc(pid), recorded) ?? [])[0];
    if (found !== undefined) return `process ${holder} made its terminal, and ${found}`;
  }
  return null;
}

/** What a desktop, a login or an editor gives to everything that is started in it. */
const AT_HOME =
  /^(DISPLAY|WAYLAND_DISPLAY|TERM|TERM_PROGRAM|SSH_CONNECTION|SSH_TTY|XDG_SESSION_ID|XDG_RUNTIME_DIR|VSCODE_\w+)$/;

/**
 * `env -i` hides the marks, and setsid the ancestors. What remains has no sign of a person's session, and is younger than an
 * agent that runs here.
 */
function lonely(clients: LiveClient[]): string | null {
  if (!hasProc()) return null;
  const roots = [process.pid, ...terminalHolders()].flatMap((pid) => fromProc(pid) ?? []);
  const odd = roots.find(
    ({ pid, env }) => isYounger(pid, clients) && !Object.keys(env).some((name) => AT_HOME.test(name)),
  );
  return odd === undefined
    ? null
    : `process ${odd.pid} was started while an agent runs, with no sign of a person's session`;
}

function isYounger(pid: number, clients: LiveClient[]): boolean {
  const start = Number(procStatus(pid)?.start);
  return clients.some((client) => Number(client.start) < start);
}

// ── Ancestors ───────────────────────────────────────────────────────────────

interface Ancestor {
  pid: number;
  comm: string;
  args: string[];
  /** "" where it is not ours to see */
  exe: string;
  env: Record<string, string>;
}

/** Processes of others may be hidden; those of the same person are not. */
function ancestors(): Ancestor[] {
  const found = hasProc() ? pidsAbove().flatMap((pid) => fromProc(pid) ?? []) : fromPs();
  if (found.length === 0 && process.ppid > 0) throw new Error("the processes above it are hidden");
  return found;
}

function fromProc(pid: number): Ancestor | null {
  if (!procStatus(pid)) return null;
  const exe = attempt(() => readlink(`${proc.root}/${pid}/exe`), "").replace(/ \(deleted\)$/, "");
  const args = procText(pid, "cmdline").split("\0");
  return { pid, comm: procText(pid, "comm").trim(), args, exe, env: readEnviron(pid) };
}

function readEnviron(pid: number): Record<string, string> {
  const entries = procText(pid, "environ")
    .split("\0")
    .map((line) => line.split(/=(.*)/s));
  return Object.fromEntries(entries.map(([name = "", value = ""]) => [name, value]));
}

/** Where there is no /proc. One look at all of them, so that none is missed in between. */
function fromPs(): Ancestor[] {
  const { stdout, exitCode } = Bun.spawnSync([PS, "-axo", "pid=,ppid=,command="], { timeout: 5_000 });
  if (exitCode !== 0) throw new Error("ps does not answer");
  const all = new Map<number, Ancestor & { parent: number }>();
  for (const line of stdout.toString().split("\n")) {
    const [, pid, parent, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const args = command.split(" ");
    if (pid) all.set(Number(pid), { pid: Number(pid), parent: Number(parent), comm: "", args, exe: "", env: {} });
  }
  const found: Ancestor[] = [];
  for (let one = all.get(process.ppid); one && found.length < all.size; one = all.get(one.parent)) found.push(one);
  return found;
}

// ── Prompts ─────────────────────────────────────────────────────────────────

/**
 * Why the person cannot have typed a prompt that came from the session's own process; null: nothing speaks against it.
 * Where that process could not be read, the marks that a client gives to its agent's shells are all there is.
 * `weighty`: the prompt would decide something for the person.
 */
export function forgedBy({ pid }: Client, weighty: boolean): string | null {
  if (isAgentShell(process.env)) return "the hook was called from the agent's shell";
  return weighty && pid !== undefined && isAgentShell(readEnviron(pid)) ? "its client was started by an agent" : null;
}

/** `claude-code_2-1-197_agent`; its hooks have `…_harness`. */
const isAgentShell = (env: Record<string, string | undefined>) => /_agent$/.test(env.AI_AGENT ?? "");
