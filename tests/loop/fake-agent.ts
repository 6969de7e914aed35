#!/usr/bin/env bun
/**
 * An agent for tests that does what its arguments say: steps, separated by a word `;`.
 *
 *   bun tests/loop/fake-agent.ts says hello ';' wait go ';' succeeds
 *   bun tests/loop/fake-agent.ts --script steps.txt
 *
 * With `--script` each start takes the next line of the file (words separated by blanks, steps by ` ; `); the last line
 * is taken again and again. Which start it is stands in `steps.txt.count`.
 *
 * succeeds | fails | both          prints the signal with an explanation after it; both: SUCCESS, then FAILURE
 * malformed | quoted               a reason inside the tag; an exact tag in a fence
 * says WORDS… | warns WORDS…       a line on stdout, on stderr
 * splits [WORD]                    the signal of WORD (SUCCESS) byte by byte, each a write of its own
 * echoes                           reads stdin and prints it
 * reads FILE                       reads stdin into FILE; without `echoes` or `reads` stdin is never touched
 * writes FILE WORDS…               a file, for instance the work it is said to have done
 * exits N                          ends with this status, without a word (the end of the steps is `exits 0`)
 * crashes [SIGNAL]                 ends itself by a signal (SIGSEGV)
 * hangs                            until it is ended
 * deaf                             from now on SIGTERM and SIGINT are ignored
 * forks FILE                       leaves three children behind that ignore SIGTERM and hold the output open: one in
 *                                  its group, one in a session of its own, and one that was orphaned there. Their
 *                                  numbers, and its own first, are in FILE when the step is over
 * floods BYTES                     prints so many bytes of lines, as quickly as it can
 * closes                           closes stdout and stderr and goes on
 * limit                            the text of a used-up limit, and status 1
 * wait FILE                        goes on when FILE is there (at most a minute)
 *
 * Nothing here lives longer than ten minutes.
 */
import { closeSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";

const LONGEST_S = 600;
const tag = (word: string) => `<promise>${word}</promise>`;

type Step = (args: string[]) => void | Promise<void>;

const print = (text: string) => writeAll(Buffer.from(text));

function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

async function until(what: string, isSo: () => boolean, seconds = 60): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`fake agent waited in vain: ${what}`);
    await Bun.sleep(5);
  }
}

const STUBBORN = 'trap "" TERM INT HUP; echo $$ >> "$1"; end=600; while [ $end -gt 0 ]; do sleep 1; end=$((end-1)); done'; // biome-ignore format: one program

/** The shell in between ends at once, so that its child is no one's. */
async function fork([file = ""]: string[]): Promise<void> {
  writeFileSync(file, `${process.pid}\n`);
  const inherit = { stdin: "ignore", stdout: "inherit", stderr: "inherit" } as const;
  const child = ["/bin/sh", "-c", STUBBORN, "sh", file];
  Bun.spawn(child, inherit).unref();
  Bun.spawn(["setsid", ...child], inherit).unref();
  Bun.spawnSync(["/bin/sh", "-c", 'setsid "$@" &', "sh", ...child], inherit);
  await until("three children", () => readFileSync(file, "utf8").trim().split("\n").length === 4);
}

const LINE = "2026-01-23 11:45:00 [info] compiled src/core/thing.ts in 12 ms; Array<number> ok - 3/5\n";

function flood([bytes = "0"]: string[]): void {
  const chunk = Buffer.from(LINE.repeat(Math.ceil((1 << 18) / LINE.length)));
  for (let left = Number(bytes); left > 0; left -= chunk.length) writeAll(chunk.subarray(0, Math.min(left, chunk.length))); // biome-ignore format: one thought
}

const steps: Record<string, Step> = {
  succeeds: () => print(`Looked, found nothing left.\n\n${tag("SUCCESS")}\n\nAll ready work completed.\n`),
  fails: () => print(`Looked.\n\n${tag("FAILURE")}\n\nBlocked because the tracker is missing.\n`),
  both: () => print(`${tag("SUCCESS")}\n\nNo, wait.\n\n${tag("FAILURE")}\n`),
  malformed: () => print(`It did not work.\n\n${"<promise>FAILURE: no key"}</promise>\n`),
  quoted: () => print(`I would say:\n\n\`\`\`\n${tag("SUCCESS")}\n\`\`\`\n`),
  says: (words) => print(`${words.join(" ")}\n`),
  warns: (words) => void writeSync(2, `${words.join(" ")}\n`),
  async splits([word = "SUCCESS"]) {
    for (const byte of Buffer.from(`${tag(word)}\n`)) {
      writeAll(Uint8Array.of(byte));
      await Bun.sleep(1);
    }
  },
  echoes: () => print(readFileSync(0, "utf8")),
  reads: ([file = ""]) => writeFileSync(file, readFileSync(0)),
  writes: ([file = "", ...words]) => writeFileSync(file, `${words.join(" ")}\n`),
  exits: ([status = "0"]) => process.exit(Number(status)),
  crashes: ([signal = "SIGSEGV"]) => {
    process.kill(process.pid, signal as NodeJS.Signals);
    return Bun.sleep(LONGEST_S * 1000);
  },
  hangs: () => Bun.sleep(LONGEST_S * 1000),
  deaf: () => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
  },
  forks: fork,
  floods: flood,
  closes: () => {
    closeSync(1);
    closeSync(2);
  },
  limit: () => {
    print("Claude AI usage limit reached|1893456000\n");
    process.exit(1);
  },
  wait: ([file = ""]) => until(file, () => existsSync(file)),
};

function nextLine(script: string): string[] {
  const lines = readFileSync(script, "utf8").split("\n").filter((line) => line.trim() !== ""); // biome-ignore format: one thought
  const count = `${script}.count`;
  const number = existsSync(count) ? Number(readFileSync(count, "utf8")) : 0;
  writeFileSync(count, String(number + 1));
  return (lines[Math.min(number, lines.length - 1)] ?? "").trim().split(/\s+/);
}

const [first, second, ...rest] = process.argv.slice(2);
let words =
  first === "--script" ? nextLine(second ?? "") : [first, second, ...rest].filter((word) => word !== undefined);
while (words.length > 0) {
  const end = words.includes(";") ? words.indexOf(";") : words.length;
  const [name = "", ...args] = words.slice(0, end);
  const step = steps[name];
  if (step === undefined) throw new Error(`fake agent: no step ${name}`);
  await step(args);
  words = words.slice(end + 1);
}
process.exit(0);
