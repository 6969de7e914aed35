/** `pawl history` on generated transcripts: how many megabytes a second, counted right, in bounded memory. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Counted } from "./contention.ts";
import { median, memoryOf } from "./measure.ts";
import { ENV } from "./prepare.ts";
import { talkFrom } from "./talk.ts";

const MIB = 1024 * 1024;
const LEAST = 200;
const MOST_MEMORY_MB = 200;
const talk = talkFrom("2026-01-23T11:45:00.000Z");

/** Every other one is tested. */
const turn = (n: number) =>
  talk.ask(`Please mend part ${n}`) + talk.work(n, n % 2 === 0) + talk.say(`Done. Part ${n} is fixed.`);

interface Written {
  bytes: number;
  turns: number;
}

function write(path: string, mebibytes: number, from: number): Written {
  const fd = openSync(path, "w");
  const written = { bytes: 0, turns: 0 };
  try {
    while (written.bytes < mebibytes * MIB) {
      written.bytes += writeSync(fd, turn(from + written.turns));
      written.turns += 1;
    }
  } finally {
    closeSync(fd);
  }
  return written;
}

/** One session of a gigabyte and four of 64 MB; in a hurry two of 128. */
function writeAll(folder: string, quick: boolean): { bytes: number; turns: number } {
  const sum = { bytes: 0, turns: 0 };
  const sizes = quick ? [128, 128] : [1024, 64, 64, 64, 64];
  for (const [index, size] of sizes.entries()) {
    const { bytes, turns } = write(join(folder, `session-${index}.jsonl`), size, sum.turns);
    sum.bytes += bytes;
    sum.turns += turns;
  }
  return sum;
}

export async function measureHistory(
  pawl: string,
  folder: string,
  quick: boolean,
  python: string | null,
): Promise<Counted> {
  const home = join(folder, "history-home");
  const projects = join(home, ".claude/projects/-project");
  mkdirSync(projects, { recursive: true });
  const { bytes, turns } = writeAll(projects, quick);
  const problems: string[] = [];
  const rates: number[] = [];
  const command = [pawl, "history", "--all", "--json"];
  const env = { ...ENV, HOME: home };
  for (let round = 0; round < 4; round++) {
    const began = Bun.nanoseconds();
    const child = Bun.spawn(command, { env, stdout: "pipe" });
    const text = await new Response(child.stdout).text();
    await child.exited;
    const seconds = (Bun.nanoseconds() - began) / 1e9;
    // the first round only brings the files into memory
    if (round > 0) rates.push(bytes / 1e6 / seconds);
    problems.push(...wrongCounts(text, turns));
  }
  const memory = python === null ? null : memoryOf({ command, env, input: "" }, python);
  rmSync(home, { recursive: true, force: true });
  const rate = median(rates);
  const figures = `${rate >= LEAST ? "ok" : "UNDER"} ${rate.toFixed(0)} MB/s of at least ${LEAST}`;
  const peak =
    memory === null
      ? "not measured"
      : `${memory <= MOST_MEMORY_MB ? "ok" : "OVER"} ${memory.toFixed(0)} of ${MOST_MEMORY_MB} MB`;
  return { name: `history, ${(bytes / 1e6).toFixed(0)} MB`, result: `${figures}; memory ${peak}`, problems };
}

function wrongCounts(text: string, turns: number): string[] {
  const { total } = JSON.parse(text) as { total: Record<string, number> };
  const wanted = { verified: Math.ceil(turns / 2), stale: 0, failed: 0, never: Math.floor(turns / 2) };
  return JSON.stringify(total) === JSON.stringify(wanted) ? [] : [`counted ${JSON.stringify(total)} of ${turns} turns`];
}
