/** Transcripts of any size: the same million bytes again and again, and an end that matters. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { talkFrom } from "./talk.ts";

const MIB = 1024 * 1024;
export const LAST_WORDS = "That is all for this step.";
export const SIGNAL = "<promise>MEMORY_UPDATED</promise>";

let count = 0;
const line = (type: string, message: object) =>
  `${JSON.stringify({
    parentUuid: `0f5d0d0e-0000-4000-8000-${String(count++).padStart(12, "0")}`,
    isSidechain: false,
    type,
    message,
    uuid: `0f5d0d0e-0000-4000-8000-${String(count).padStart(12, "0")}`,
    timestamp: "2026-01-23T11:45:00.000Z",
    cwd: "/project",
    sessionId: "bench",
    version: "2.1.197",
    gitBranch: "main",
  })}\n`;

const said = (id: string, ...content: object[]) =>
  line("assistant", { model: "claude-opus-4-8", id, type: "message", role: "assistant", content });

const result = (content: unknown) =>
  line("user", { role: "user", content: [{ tool_use_id: "toolu_bench", type: "tool_result", content }] });

const SOURCE =
  "export function total(items: Item[]) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n";

/** A tool call, its result, a remark: what a transcript mostly holds. */
function exchange(n: number): string {
  const call = { type: "tool_use", id: "toolu_bench", name: "Bash", input: { command: `bun test part-${n}` } };
  const remark = { type: "text", text: `Part ${n} passes, the signal \`${SIGNAL}\` comes when all do.` };
  return said(`msg_call_${n}`, call) + result(SOURCE.repeat(1 + (n % 40))) + said(`msg_said_${n}`, remark);
}

function block(): string {
  const lines: string[] = [];
  for (let size = 0; size < MIB; size += lines.at(-1)!.length) lines.push(exchange(lines.length));
  return lines.join("");
}

/** One message in two lines; only the first carries the signal, the hook is given the second. */
const splitMessage = () =>
  said("msg_last", { type: "text", text: `Memory is written.\n\n${SIGNAL}` }) +
  said("msg_last", { type: "text", text: LAST_WORDS });

const plainMessage = () => said("msg_last", { type: "text", text: LAST_WORDS });

const image = (bytes: number) =>
  result([{ type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(bytes) } }]);

export type Ending = "signal" | "no signal" | "signal, then an image";

const ENDINGS: Record<Ending, () => string> = {
  signal: splitMessage,
  "no signal": plainMessage,
  "signal, then an image": () => splitMessage() + image(8 * MIB),
};

export const WORDS = "The implementation is complete.";
const UNITS = 24;
export const LAST_CALLS = 200;

/** Work of this moment, and the words of an agent that forgot its marker: 24 units of 8 or 9 calls. */
export function workOfNow(): string {
  const talk = talkFrom(new Date().toISOString());
  const units = Array.from({ length: UNITS }, (_, n) => talk.work(n, n % 3 === 0));
  return [...units, talk.say(WORDS)].join("");
}

export function writeTranscript(path: string, mebibytes: number, ending: Ending | (() => string)): string {
  const part = Buffer.from(block());
  const fd = openSync(path, "w");
  try {
    for (let size = 0; size < mebibytes * MIB; size += part.length) writeSync(fd, part);
    writeSync(fd, typeof ending === "string" ? ENDINGS[ending]() : ending());
    // or else it is written out while others are measured
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return path;
}
