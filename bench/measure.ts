/** Starts processes one after the other and measures them; every row in every round, in random order. */
import { dlopen, ptr } from "bun:ffi";
import { closeSync, writeSync } from "node:fs";

export interface Job {
  command: string[];
  env: Record<string, string>;
  input: string;
}

export interface Sample {
  ms: number;
  code: number | null;
  out: string;
  err: string;
}

export interface Row {
  name: string;
  /** in each round; more than once only where a start uses nothing up */
  starts: number;
  /** of the n-th start; everything slow happens before */
  job(n: number): Job;
  /** what is wrong with the result, looked at when the clock has stopped */
  wrong(sample: Sample, n: number): string | null;
}

const libc = dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
  pipe: { args: ["ptr"], returns: "i32" },
}).symbols;

const PIPE_HOLDS = 64 * 1024;

/** A real pipe, as the host gives one. Bun itself would hand a file in memory to the child, which reads faster. */
function pipeWith(text: string): number {
  if (Buffer.byteLength(text) >= PIPE_HOLDS) throw new Error("the payload does not fit into a pipe");
  const ends = new Int32Array(2);
  if (libc.pipe(ptr(ends)) !== 0) throw new Error("no pipe");
  writeSync(ends[1]!, text);
  closeSync(ends[1]!);
  return ends[0]!;
}

export function run({ command, env, input }: Job): Sample {
  const stdin = pipeWith(input);
  const began = Bun.nanoseconds();
  const done = Bun.spawnSync({ cmd: command, env, stdin, stdout: "pipe", stderr: "pipe" });
  const ms = (Bun.nanoseconds() - began) / 1e6;
  closeSync(stdin);
  return { ms, code: done.exitCode, out: done.stdout.toString(), err: done.stderr.toString() };
}

function shuffled<T>(items: T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}

const WARM_UP = 2;

/** The rounds to prepare jobs for: the measured ones, those before them, and those that look at memory. */
export const roundsToPrepare = (rounds: number) => rounds + WARM_UP + MEMORY_ROUNDS;

export async function measure(rows: Row[], rounds: number, stopped: () => boolean): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(rows.map((row) => [row.name, []]));
  // What preparing left to be written must not be written during a measured fsync.
  Bun.spawnSync(["sync"]);
  const starts = rows.flatMap((row) => Array.from({ length: row.starts }, () => row));
  for (let round = 0; round < rounds + WARM_UP; round++) {
    for (const row of shuffled(starts)) {
      const done = samples.get(row.name)!;
      done.push(run(row.job(done.length)));
    }
    await Bun.sleep(0); // for the signal to come through
    if (stopped()) throw new Error("interrupted");
  }
  return samples;
}

/** Without the warm-up. */
export const timesOf = (row: Row, samples: Sample[]) => samples.slice(WARM_UP * row.starts).map((sample) => sample.ms);

export const wrongResults = (row: Row, samples: Sample[]) =>
  samples.flatMap((sample, n) => {
    const why = sample.code === 0 ? row.wrong(sample, n) : `exit ${sample.code} ${sample.err.slice(0, 200)}`;
    return why === null ? [] : [`${row.name}, start ${n}: ${why}`];
  });

// ── Memory ──────────────────────────────────────────────────────────────────

const MEMORY_ROUNDS = 3;
/** A child is charged with the memory of who started it, and Bun is large: python3 starts it instead. */
const STARTER = [
  "import os, sys",
  "child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)",
  "_, status, usage = os.wait4(child, 0)",
  "sys.stderr.write('rss %d' % usage.ru_maxrss)",
].join("\n");

/** The most MB a row's process held; null where there is no python3 to look. */
export function peakMemory(row: Row, rounds: number, python: string | null): number | null {
  if (python === null) return null;
  return Math.max(...Array.from({ length: MEMORY_ROUNDS }, (_, i) => memoryOf(row.job(rounds + WARM_UP + i), python)));
}

/** In MB. */
export function memoryOf(job: Job, python: string): number {
  const { err } = run({ ...job, command: [python, "-ISE", "-c", STARTER, ...job.command] });
  return Number(/rss (\d+)$/.exec(err)?.[1]) / 1024;
}

// ── Numbers ─────────────────────────────────────────────────────────────────

export function quantile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

export const median = (values: number[]) => quantile(values, 0.5);
