/** What the loop itself costs: reading an agent's output for signals, a flood of it, and one iteration. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { signalsInOutput } from "../src/loop/core/signal.ts";
import { runAgent } from "../src/loop/process.ts";
import type { Counted } from "./contention.ts";
import { median } from "./measure.ts";

const BUFFER = 10 << 20;
const MOST_READING_MS = 1_000;
const MOST_MEMORY_MB = 150;
const MOST_OVERHEAD_MS = 20;
const FAKE = join(import.meta.dir, "../tests/loop/fake-agent.ts");
const TAG = "<promise>SUCCESS</promise>";
const PROMPT = `Do the next task.\nOutput the exact signal: ${TAG}\nThen explain what was done.\n`;

const KINDS = {
  "lines of a log": "2026-01-23 11:45:00 [info] compiled src/core/thing.ts in 12 ms; Array<number> ok - 3/5\n",
  paragraphs: "Now I read the file and change what it says.\nThen the tests.\n\n",
  "fenced code": `So:\n\n\`\`\`ts\n${"  const x: Map<string, Promise<void>> = new Map(); // a < b\n".repeat(20)}\`\`\`\n\n`,
  "coloured lines": "\u001b[32mok\u001b[0m tests/core/some.test.ts passed in 12 ms\n",
  "one endless line": "................",
};

// ── Reading ─────────────────────────────────────────────────────────────────

/** The buffer of a loop, full: that is all there is to read, however much an agent printed. */
export function measureReading(): Counted[] {
  return Object.entries(KINDS).map(([kind, part]) => {
    const end = `\n\n\`\`\`\n\`\`\`\n\n${TAG}\n`;
    const tail = Buffer.from(part.repeat(Math.floor(BUFFER / part.length)) + end);
    const rounds = Array.from({ length: 5 }, () => readOnce(tail));
    const ms = median(rounds.map(({ ms }) => ms));
    const word = ms <= MOST_READING_MS ? "ok" : "OVER";
    const problems = rounds.every(({ found }) => found) ? [] : ["the signal at the end was not found"];
    return {
      name: `loop reads 10 MiB of ${kind}`,
      result: `${word} ${ms.toFixed(0)} of ${MOST_READING_MS} ms`,
      problems,
    };
  });
}

function readOnce(tail: Uint8Array): { ms: number; found: boolean } {
  const began = Bun.nanoseconds();
  const { success, failure } = signalsInOutput({ head: new Uint8Array(0), tail, bytes: tail.length }, PROMPT);
  return { ms: (Bun.nanoseconds() - began) / 1e6, found: success && !failure };
}

// ── A flood, in a process of its own: then its memory is the loop's ─────────

interface Flooded {
  bytes: number;
  ms: number;
  success: boolean;
  peak_mb: number;
}

export function measureFlood(quick: boolean): Counted {
  const bytes = quick ? 1e9 : 10e9;
  const ran = Bun.spawnSync([process.execPath, import.meta.path, String(bytes)], { stderr: "inherit" });
  const flooded = JSON.parse(ran.stdout.toString()) as Flooded;
  const right = flooded.success && flooded.bytes > bytes;
  const memory = `${flooded.peak_mb <= MOST_MEMORY_MB ? "ok" : "OVER"} ${flooded.peak_mb.toFixed(0)} of ${MOST_MEMORY_MB} MB`;
  const result = `${(bytes / 1e3 / flooded.ms).toFixed(0)} MB/s from the agent's process; memory ${memory}`;
  return { name: `loop, an agent prints ${bytes / 1e9} GB`, result, problems: right ? [] : ["the signal was lost"] };
}

async function flood(bytes: string): Promise<Flooded> {
  const ended = await runAgent(run([process.execPath, FAKE, "floods", bytes, ";", "succeeds"]));
  const { success } = signalsInOutput(ended, PROMPT);
  return { bytes: ended.bytes, ms: ended.elapsed_ms, success, peak_mb: peakMb() };
}

/** Of this program alone: what resourceUsage tells begins with what whoever started it had at that moment. */
function peakMb(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  const [, kb] = /^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kb) / 1024;
}

const run = (argv: string[]) => ({
  argv,
  cwd: "/",
  env: process.env,
  stdin: PROMPT,
  timeout_ms: 300_000,
  buffer: BUFFER,
});

// ── One iteration ───────────────────────────────────────────────────────────

/** The same command, once alone and once as an agent, in turn. */
export async function measureIteration(rounds: number): Promise<Counted> {
  const argv = ["/bin/sh", "-c", "cat"];
  const [alone, agent]: [number[], number[]] = [[], []];
  let wrong = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await timed(() => Bun.spawn(argv, { stdin: Buffer.from(PROMPT), stdout: "ignore" }).exited));
    agent.push(await timed(async () => { wrong += (await runAgent(run(argv))).bytes === PROMPT.length ? 0 : 1; })); // biome-ignore format: one thought
  }
  const over = median(agent) - median(alone);
  const result = `${over <= MOST_OVERHEAD_MS ? "ok" : "OVER"} ${over.toFixed(1)} of ${MOST_OVERHEAD_MS} ms over the command alone`;
  return { name: "loop, starting and ending an agent", result, problems: wrong === 0 ? [] : [`${wrong} were wrong`] };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = Bun.nanoseconds();
  await work();
  return (Bun.nanoseconds() - began) / 1e6;
}

if (import.meta.main) console.log(JSON.stringify(await flood(process.argv[2] ?? "1e9")));
