/** `pawl loop` with the real client as its agent: a suite, a list of tasks, and what each iteration's model does. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Commit, JournalRecord } from "../../src/kernel/types/run.ts";
import { type KeptLoop, listLoops } from "../../src/store/loops.ts";
import { lastWords } from "../harness/last-words.ts";
import { eventsIn, type LoopEvent } from "../loop/world.ts";
import { bash, type Ground, openGated } from "./gated.ts";
import { claudeBinary } from "./install.ts";
import type { Model, Script } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { makeScreen } from "./screen.ts";

export interface Looped {
  code: number;
  out: string;
  err: string;
  events: LoopEvent[];
}

const WIDTH = 120;
const HEIGHT = 40;
export const PERMISSIONS = { allow: ["Bash", "Read", "Edit", "Write", "Agent"] };

/** Installed as a person does it; the agent may do what a loop needs, and finds `claude` and `pawl` on its PATH. */
export async function openLooped(script: Script, ground: Ground, more: Record<string, string> = {}) {
  const scene = await openGated(script, ground);
  const { project, model } = scene;
  await putOnPath(project);
  allow(project);
  const env = environment(project, model, more);
  const frames: string[] = [];
  return {
    ...scene,
    env,
    /** every screen that `watch` has seen so far, the newest last */
    frames,
    start: (...args: string[]) => startLoop(project.root, env, args),
    loop: (...args: string[]) => heard(startLoop(project.root, env, args)),
    watch: (...args: string[]) => watchLoop(project.root, env, args, frames),
    pawl: (...args: string[]) => pawl(project.root, env, args),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

export type LoopedScene = Awaited<ReturnType<typeof openLooped>>;

async function putOnPath({ home }: Project): Promise<void> {
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(await claudeBinary(), join(bin, "claude"));
  // As `npm` does it, so that whoever asks for the path of its program is told ours.
  writeFileSync(join(bin, "pawl"), `#!/bin/sh\nexec "${PAWL}" "$@"\n`);
  chmodSync(join(bin, "pawl"), 0o755);
}

function allow({ root }: Project): void {
  const path = join(root, ".claude/settings.local.json");
  const settings = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...settings, permissions: PERMISSIONS }));
}

function environment(project: Project, model: Model, more: Record<string, string>): Record<string, string> {
  const path = [join(project.home, "bin"), more.PATH, "/usr/local/bin:/usr/bin:/bin"].filter(Boolean).join(":");
  return { ...project.env(model.url), GIT_CONFIG_NOSYSTEM: "1", ...more, PATH: path };
}

function startLoop(root: string, env: Record<string, string>, args: string[]) {
  return Bun.spawn([PAWL, "loop", ...args], { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}

/** The same as a person sees it: all screens that were drawn, the last one last. */
async function watchLoop(root: string, env: Record<string, string>, args: string[], frames: string[]) {
  const screen = makeScreen(WIDTH, HEIGHT);
  const decoder = new TextDecoder();
  const data = (_: unknown, bytes: Uint8Array) => {
    screen.feed(decoder.decode(bytes, { stream: true }));
    if (screen.text() !== frames.at(-1)) frames.push(screen.text());
  };
  const words = lastWords();
  const terminal = { cols: WIDTH, rows: HEIGHT, data, exit: words.exit };
  const loop = Bun.spawn([PAWL, "loop", ...args], { cwd: root, env, terminal });
  const code = await loop.exited;
  await words.heard();
  loop.terminal?.close();
  return { code, frames };
}

export async function heard(loop: ReturnType<typeof startLoop>): Promise<Looped> {
  const [out, err] = await Promise.all([new Response(loop.stdout).text(), new Response(loop.stderr).text()]);
  return { code: await loop.exited, out, err, events: eventsIn(out) };
}

function pawl(root: string, env: Record<string, string>, args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([PAWL, ...args], { cwd: root, env, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`pawl ${args.join(" ")}: ${exitCode} ${stdout}${stderr}`);
  return stdout.toString();
}

/** The agent's own command lasts until the test has seen what it wants to see. */
export const pause = bash(
  'touch "$HOME/here"; for i in $(seq 1200); do [ -e "$HOME/seen" ] && exit 0; sleep 0.05; done; exit 1',
);

/** The loop as it stands on disk. */
export function keptLoop({ root, home }: Project): KeptLoop {
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    return listLoops(root)[0]!;
  } finally {
    process.env.HOME = before;
  }
}

/** Ended, but asked for by no one, is not alive: where these tests run nothing may collect orphans. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

export const only = (events: LoopEvent[], event: string) => events.filter((one) => one.event === event);

/** The sessions the client itself has kept a transcript of. */
export function sessionsOf({ home }: Project): string[] {
  const names = readdirSync(join(home, ".claude/projects"), { recursive: true }).map(String);
  return names.flatMap((name) => /^[^/]+\/([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1] ?? []).sort();
}

/** What an ended run's journal has of one kind, in order. */
export function recordsOf({ folder }: { folder: string }, kind: string): JournalRecord[] {
  const lines = readFileSync(join(folder, "commits.jsonl"), "utf8").split("\n").filter(Boolean);
  return lines.flatMap((line) => (JSON.parse(line) as Commit).records).filter((record) => record.kind === kind);
}
