/** What the loop itself costs: reading an agent's output for signals, a flood of it, and one iteration. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { closeScan, feed, openScan } from "../src/loop/core/signal.ts";
import { runAgent } from "../src/loop/process.ts";
import type { Counted } from "./contention.ts";
import { median } from "./measure.ts";

const LEAST_MB_S = 500;
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

export function measureScan(): Counted[] {
  return Object.entries(KINDS).map(([kind, part]) => {
    const chunk = Buffer.from(part.repeat(Math.ceil((1 << 16) / part.length)));
    const rounds = Array.from({ length: 5 }, () => scanOnce(chunk, 128 << 20));
    const rate = median(rounds.map(({ rate }) => rate));
    const word = rate >= LEAST_MB_S ? "ok" : "UNDER";
    const problems = rounds.every(({ found }) => found) ? [] : ["the signal at the end was not found"];
    return { name: `loop reads ${kind}`, result: `${word} ${rate.toFixed(0)} of ${LEAST_MB_S} MB/s`, problems };
  });
}

function scanOnce(chunk: Buffer, bytes: number): { rate: number; found: boolean } {
  const scan = openScan(PROMPT);
  const began = Bun.nanoseconds();
  for (let at = 0; at < bytes; at += chunk.length) feed(scan, chunk);
  feed(scan, Buffer.from(`\n\n\`\`\`\n\`\`\`\n\n${TAG}\n`));
  const { success, failure } = closeScan(scan);
  return { rate: bytes / 1e6 / ((Bun.nanoseconds() - began) / 1e9), found: success && !failure };
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
  const scan = openScan(PROMPT);
  const onOutput = (chunk: Uint8Array) => feed(scan, chunk);
  const ended = await runAgent({ ...run([process.execPath, FAKE, "floods", bytes, ";", "succeeds"]), onOutput });
  return { bytes: ended.bytes, ms: ended.elapsed_ms, success: closeScan(scan).success, peak_mb: peakMb() };
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
  buffer: 10 << 20,
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
