/** The tree hash against `git status` on a small and a large repository, both in this process, interleaved. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnGit } from "../src/checks/git.ts";
import { treeHash } from "../src/checks/tree/tree.ts";
import type { Counted } from "./contention.ts";
import { median } from "./measure.ts";

interface Size {
  files: number;
  /** the longest a tree hash may take, where `git status` takes `status` ms */
  bound(status: number): number;
  boundText: string;
}

const SIZES: Size[] = [
  { files: 1_000, bound: (status) => status + 10, boundText: "git status + 10 ms" },
  { files: 50_000, bound: (status) => status * 1.5, boundText: "1.5 x git status" },
];
const STATUS = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"];

function git(root: string, ...args: string[]): string {
  const who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  const done = spawnGit(root, [...who, ...args], { timeout: 300_000, maxBuffer: 64 << 20 });
  if (done.exitCode !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
  return done.stdout.toString().trim();
}

const nameOf = (i: number) => `pkg${i % 50}/src/mod${Math.floor(i / 50) % 40}/file${i}.ts`;
const textOf = (i: number) => `export const value${i} = ${i};\n`.repeat(10 + (i % 30));

function makeRepository(folder: string, files: number): string {
  const root = join(folder, `tree-${files}`);
  for (let i = 0; i < files; i++) {
    if (i < 50 * 40) mkdirSync(join(root, nameOf(i), ".."), { recursive: true });
    writeFileSync(join(root, nameOf(i)), textOf(i));
  }
  git(root, "init", "-q", "--template=");
  git(root, "add", "-A");
  // Git packs the objects of a large commit by itself; in the background it would disturb the measurement.
  git(root, "-c", "gc.autoDetach=false", "commit", "-qm", "begin");
  // Git reads files as young as the index again each time; this writes an index younger than they are.
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

/** The first kept hash of a state writes the objects that git does not have; its time is shown apart. */
function compare(root: string, objects: string, rounds: number, size: Size, state: string): Counted {
  const first = timed(() => treeHash(root, objects));
  const times = { status: [] as number[], "not kept": [] as number[], kept: [] as number[] };
  const problems: string[] = first.value.ok ? [] : [first.value.why];
  for (let round = 0; round < rounds; round++) {
    times.status.push(timed(() => spawnGit(root, STATUS)).ms);
    for (const mode of ["not kept", "kept"] as const) {
      const { ms, value } = timed(() => treeHash(root, mode === "kept" ? objects : null));
      times[mode].push(ms);
      if (JSON.stringify(value) !== JSON.stringify(first.value)) problems.push("two hashes of the same tree differ");
    }
  }
  const [status, notKept, kept] = [median(times.status), median(times["not kept"]), median(times.kept)];
  const verdict = Math.max(notKept, kept) <= size.bound(status) ? "ok" : "OVER";
  const ms = (time: number) => `${time.toFixed(1)} ms`;
  const figures = `${ms(notKept)}, kept ${ms(kept)}; git status ${ms(status)}; first time kept ${ms(first.ms)}`;
  return {
    name: `tree hash, ${size.files} files, ${state}`,
    result: `${verdict} ${(notKept / status).toFixed(2)} x (${figures}; at most ${size.boundText})`,
    problems,
  };
}

export function compareTrees(folder: string, rounds: number): Counted[] {
  return SIZES.flatMap((size) => {
    const root = makeRepository(folder, size.files);
    const objects = join(folder, `tree-${size.files}-objects`);
    const counted = STATES.map(([name, change]) => {
      change(root);
      const row = compare(root, objects, rounds, size, name);
      git(root, "checkout", "-q", ".");
      git(root, "clean", "-qfd");
      return row;
    });
    rmSync(root, { recursive: true, force: true });
    return counted;
  });
}
