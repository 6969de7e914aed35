/** The tree's hash against `git status` on a repository of 50,000 files, both in this process, in turn. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnGit } from "../src/checks/git.ts";
import { treeHash } from "../src/checks/tree/tree.ts";
import type { Counted } from "./contention.ts";
import { median } from "./measure.ts";

const FILES = 50_000;
const MOST = 1.5;
const STATUS = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"];

type Mode = "not kept" | "kept";

function git(root: string, ...args: string[]): string {
  const who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  const done = spawnGit(root, [...who, ...args], { timeout: 300_000, maxBuffer: 64 << 20 });
  if (done.exitCode !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
  return done.stdout.toString().trim();
}

const nameOf = (i: number) => `pkg${i % 50}/src/mod${Math.floor(i / 50) % 40}/file${i}.ts`;
const textOf = (i: number) => `export const value${i} = ${i};\n`.repeat(10 + (i % 30));

function makeRepository(folder: string): string {
  const root = join(folder, "large");
  for (let i = 0; i < FILES; i++) {
    if (i < 50 * 40) mkdirSync(join(root, nameOf(i), ".."), { recursive: true });
    writeFileSync(join(root, nameOf(i)), textOf(i));
  }
  git(root, "init", "-q", "--template=");
  git(root, "add", "-A");
  git(root, "commit", "-qm", "begin");
  // Files as young as the index are read again by every look; this one is younger than they are.
  Bun.sleepSync(1_100);
  git(root, "update-index", "-q", "--really-refresh", "--force-write-index");
  return root;
}

const STATES: [string, (root: string) => void][] = [
  ["clean", () => {}],
  ["20 changed files", (root) => each(20, (i) => writeFileSync(join(root, nameOf(i * 7)), `// ${i}\n`))],
  ["1,000 untracked files", (root) => each(1_000, (i) => put(root, `new${i % 20}/file${i}.ts`, textOf(i)))],
];

function each(count: number, act: (i: number) => void): void {
  for (let i = 0; i < count; i++) act(i);
}

function put(root: string, path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

function timed<T>(work: () => T): { ms: number; value: T } {
  const began = Bun.nanoseconds();
  const value = work();
  return { ms: (Bun.nanoseconds() - began) / 1e6, value };
}

/** The first kept hash of a state writes what git has not got; it is told apart. */
function compare(root: string, objects: string, rounds: number, name: string): Counted {
  const first = timed(() => treeHash(root, objects));
  const times = { status: [] as number[], "not kept": [] as number[], kept: [] as number[] };
  const problems: string[] = first.value.ok ? [] : [first.value.why];
  for (let round = 0; round < rounds; round++) {
    times.status.push(timed(() => spawnGit(root, STATUS)).ms);
    for (const mode of ["not kept", "kept"] as const) {
      const { ms, value } = timed(() => treeHash(root, mode === "kept" ? objects : null));
      times[mode].push(ms);
      if (JSON.stringify(value) !== JSON.stringify(first.value))
        problems.push("the hash differs from one look to the next");
    }
  }
  const ratio = (mode: Mode) => median(times[mode]) / median(times.status);
  const over = Math.max(ratio("not kept"), ratio("kept")) <= MOST ? "ok" : "OVER";
  const figures = `${over} ${ratio("not kept").toFixed(2)} (kept ${ratio("kept").toFixed(2)}) of ${MOST} x git status`;
  const base = `${median(times.status).toFixed(0)} ms; first time kept ${first.ms.toFixed(0)} ms`;
  return { name: `tree hash, ${FILES} files, ${name}`, result: `${figures} (${base})`, problems };
}

export function compareTrees(folder: string, rounds: number): Counted[] {
  const root = makeRepository(folder);
  const objects = join(folder, "large-objects");
  const done = STATES.map(([name, change]) => {
    change(root);
    const counted = compare(root, objects, rounds, name);
    git(root, "checkout", "-q", ".");
    git(root, "clean", "-qfd");
    return counted;
  });
  rmSync(root, { recursive: true, force: true });
  return done;
}
