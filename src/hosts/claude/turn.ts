/** The tool calls of the person's present turn, known by its id. What the transcript does not show is not known. */

import type { Fact, ToolCall } from "../../kernel/types/run.ts";
import { linesFromEnd, pollFile } from "./tail.ts";
import { readToolsSince } from "./transcript.ts";

const REACH = 64 * 1024 * 1024;
/** a prompt with its time is shorter; longer lines are results and images */
const LONGEST_PROMPT = 4 * 1024 * 1024;

const ASSISTANT = Buffer.from('"assistant"');
const TEXT = Buffer.from('"text"');
const PROMPT_ID = Buffer.from('"promptId"');
const TIME = /"timestamp":\s*"([^"]{10,40})"/;
const ID = /"promptId":\s*"([^"]{1,200})"/;

interface Scan {
  /** the last message stands in it: so does everything before */
  flushed: boolean;
  /** when the turn began, as far as it was seen */
  since: string | null;
}

/** `message`: with what the turn ends. The client writes with a delay. */
export function readTurn(path: string, turn: string, message: string, waitMs = 300): Fact<ToolCall[]> {
  const wanted = message.trim();
  const read = (fd: number, size: number) => scanTurn(linesFromEnd(fd, size, REACH), turn, wanted);
  const found = pollFile(path, waitMs, read, (scan) => scan.flushed);
  if (!found.ok) return found;
  const { flushed, since } = found.value;
  if (!flushed || since === null) return { ok: false, why: "the transcript does not show this turn" };
  return readToolsSince(path, since, waitMs);
}

/** Backwards: first the last message, then lines of this turn, then one of another. */
function scanTurn(lines: Iterable<Buffer>, turn: string, wanted: string): Scan {
  const scan: Scan = { flushed: false, since: null };
  for (const line of lines) {
    if (!scan.flushed) {
      const text = line.includes(ASSISTANT) && line.includes(TEXT) ? textOf(line) : "";
      if (text === "") continue;
      if (!text.includes(wanted)) break;
      scan.flushed = true;
    }
    if (!line.includes(PROMPT_ID)) continue;
    const seen = line.length <= LONGEST_PROMPT ? line.toString("latin1") : "";
    if ((ID.exec(seen)?.[1] ?? turn) !== turn) break;
    scan.since = TIME.exec(seen)?.[1] ?? scan.since;
  }
  return scan;
}

interface Line {
  type?: unknown;
  isSidechain?: unknown;
  message?: { content?: unknown };
}

/** "" for whatever is no text of the main agent. */
function textOf(line: Buffer): string {
  try {
    const { type, isSidechain, message } = JSON.parse(line.toString("utf8")) as Line;
    const blocks = Array.isArray(message?.content) ? (message.content as { type?: unknown; text?: unknown }[]) : [];
    if (type !== "assistant" || isSidechain === true) return "";
    return blocks
      .map((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : ""))
      .join("\n");
  } catch {
    return "";
  }
}
