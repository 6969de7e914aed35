/** A throw-away project, a home of its own, and the real binary in a real process, as an agent's client would call it. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CLIENT, openSession as open, type Session, transcribe, transcribeMessage } from "../../src/play/client.ts";

export {
  CLIENT,
  payload,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
} from "../../src/play/client.ts";

export const PAWL = process.env.PAWL_BINARY ?? resolve(import.meta.dir, "../../dist/pawl");

export interface Place {
  base: string;
  root: string;
  home: string;
  env: Record<string, string>;
}

export interface Ran {
  /** null: ended by a signal */
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
}

let template: string | null = null;
const bases: string[] = [];

/** Git repositories are copied from one that was made once: that is several processes less per test. */
export function makePlace(options: { git?: boolean } = {}): Place {
  if (!existsSync(PAWL)) throw new Error(`no binary at ${PAWL}: run "npm run build" first`);
  const base = temporary();
  const place = { base, root: join(base, "project"), home: join(base, "home"), env: environment(join(base, "home")) };
  mkdirSync(place.home);
  if (options.git === false) mkdirSync(place.root);
  else cpSync(gitTemplate(), place.root, { recursive: true });
  return place;
}

function gitTemplate(): string {
  template ??= makeTemplate();
  return template;
}

export function removePlaces(): void {
  for (const base of bases.splice(0)) rmSync(base, { recursive: true, force: true });
  template = null;
}

function temporary(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "pawl-test-")));
  bases.push(base);
  return base;
}

/** Nothing of the environment the tests run in, which may itself be an agent's. */
function environment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home,
    TMPDIR: tmpdir(),
    TZ: "UTC",
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
  };
}

function makeTemplate(): string {
  const base = temporary();
  const root = join(base, "project");
  mkdirSync(root);
  const script = `git init -q -b main && rm -f .git/hooks/*.sample && git config user.name Tester && git config user.email tester@example.org &&
    git config commit.gpgsign false && git config maintenance.auto false && echo "# A project" > README.md && git add . && git commit -q -m "first"`;
  const { code, err } = shell({ base, root, home: base, env: environment(base) }, script);
  if (code !== 0) throw new Error(`no git repository: ${err}`);
  return root;
}

// ── Processes ───────────────────────────────────────────────────────────────

export function runPawl(place: Place, args: string[], options: RunOptions = {}): Ran {
  return run(place, [PAWL, ...args], options);
}

export function runHook(place: Place, payload: unknown, via = "local", options: RunOptions = {}): Ran {
  const env = { ...CLIENT, ...options.env };
  return runPawl(place, ["hook", "claude", "--via", via], { input: `${JSON.stringify(payload)}\n`, ...options, env });
}

export function shell(place: Place, script: string): Ran {
  return run(place, ["/bin/sh", "-c", script], {});
}

export function run(place: Place, cmd: string[], options: RunOptions): Ran {
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd,
    cwd: options.cwd ?? place.root,
    env: { ...place.env, ...options.env },
    stdin: Buffer.from(options.input ?? ""),
    timeout: 30_000,
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}

// ── A client and its sessions ───────────────────────────────────────────────

/** Tests name their sessions; the id shows the name in hex. */
export function openSession(place: Place, name: string): Session {
  return open(place, `${Buffer.from(name).toString("hex").padEnd(8, "0").slice(0, 8)}-0000-4000-8000-000000000000`);
}

// ── What is on disk ─────────────────────────────────────────────────────────

export function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Everything that was written to either error log. */
export function errorsOf({ root, home }: Place): string {
  const logs = [join(root, ".pawl/errors.log"), join(home, ".local/state/pawl/errors.log")];
  return logs.map((path) => textOf(path) ?? "").join("");
}

/** A tool call with its result, as text and, where the tool has one, as data. */
export function transcribeTool(
  session: Session,
  name: string,
  text: string,
  data: unknown = text,
  input: unknown = {},
): void {
  const id = `toolu_${session.messages + 1}`;
  transcribeMessage(session, [{ type: "tool_use", id, name, input }]);
  const content = [{ tool_use_id: id, type: "tool_result", content: text }];
  transcribe(session, { type: "user", message: { role: "user", content }, toolUseResult: data });
}

/** A sub-agent's own transcript: its last message is its report. */
export function transcribeReport({ transcript, id: session }: Session, agent: string, text: string): void {
  const folder = join(transcript.replace(/\.jsonl$/, ""), "subagents");
  mkdirSync(folder, { recursive: true });
  const message = { id: `msg_${agent}`, role: "assistant", model: "m", content: [{ type: "text", text }] };
  const line = {
    type: "assistant",
    isSidechain: true,
    timestamp: new Date().toISOString(),
    sessionId: session,
    message,
  };
  appendFileSync(join(folder, `agent-${agent}.jsonl`), `${JSON.stringify(line)}\n`);
}
