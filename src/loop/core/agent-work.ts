/** What an agent is doing now and what it said last, read from its output as it arrives. */
import { type Line, parseLine, textOrNull } from "../../kernel/text/output-lines.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import { type AgentEvent, readEvents } from "./agent-output.ts";

export interface Work {
  /** "Edit src/a.ts", "thinking"; "": unknown */
  readonly doing: string;
  /** the last line of text */
  readonly line: string;
  /** readable lines since the last call */
  take(): { lines: string[]; missed: boolean };
  feed(bytes: Uint8Array): void;
}

/** Of what came since the last look only this much is read, the newest. */
const ROOM = 256 << 10;
const HALF = ROOM / 2;
const MOST_LINES = 400;
const MOST_OPEN = 50;
const LONGEST = 500;
const LONGEST_LINE = 4_000;

interface Now {
  doing: string;
  line: string;
  lines: string[];
  /** the agent's folder: file names are shown relative to it */
  cwd: string;
  /** running tools by id */
  open: Map<string, string>;
}

/** Output is only kept as it comes and read when shown. */
export function openWork(): Work {
  const now: Now = { doing: "", line: "", lines: [], cwd: "", open: new Map() };
  const decoder = new TextDecoder();
  let kept = "";
  let torn = false;
  let missed = false;
  const look = () => {
    const end = kept.lastIndexOf("\n");
    if (end >= 0) {
      const all = kept.slice(0, end).split("\n");
      const lines = torn ? all.slice(1) : all;
      missed ||= lines.length > MOST_LINES;
      for (const line of lines.slice(-MOST_LINES)) see(now, line);
      missed ||= now.lines.length > MOST_LINES;
      now.lines = now.lines.slice(-MOST_LINES);
      kept = kept.slice(end + 1);
      torn = false;
    }
    return { ...now, line: torn ? now.line : unfinished(kept) || now.line };
  };
  return {
    get doing() {
      return look().doing;
    },
    get line() {
      return look().line;
    },
    take() {
      const taken = { lines: look().lines, missed };
      now.lines = [];
      missed = false;
      return taken;
    },
    feed(bytes) {
      kept += decoder.decode(bytes, { stream: true });
      if (kept.length <= ROOM) return;
      kept = kept.slice(-HALF);
      torn = true;
      missed = true;
    },
  };
}

/** A line of text may take long to complete; half an object cannot be shown. */
function unfinished(text: string): string {
  const begins = text.slice(0, 100).trimStart();
  return begins === "" || begins.startsWith("{") ? "" : lastLine(text.slice(-4 * LONGEST));
}

function see(now: Now, line: string): void {
  const text = line.trim();
  const object = text.startsWith("{") ? parseLine(text) : null;
  if (typeof object?.type === "string") for (const event of readEvents(object)) seeEvent(now, event);
  // A torn object cannot be shown.
  else if (!text.startsWith('{"type"')) say(now, line);
}

function seeEvent(now: Now, event: AgentEvent): void {
  if (event.kind === "started") now.cwd = event.cwd;
  if (event.kind === "text") say(now, event.text, "writing");
  else if (event.kind === "error") say(now, event.text);
  else if (event.kind === "tool") seeTool(now, event);
  else if (event.kind === "tool-ended") end(now, event.id);
  else if (event.kind !== "other") now.doing = event.kind === "started" ? "thinking" : event.kind;
}

function seeTool(now: Now, { id, name, input, isSub, result }: Extract<AgentEvent, { kind: "tool" }>): void {
  if (result !== null && now.open.has(id)) end(now, id);
  else begin(now, result === null ? id : "", `${isSub ? "sub-agent: " : ""}${toolLabel(now, name, input)}`);
}

// ── What is shown ────────────────────────────────────────────────────────────

/** What a tool works on, by the keys of its input; the first that is there counts. */
const SUBJECTS = [
  ...["file_path", "filePath", "notebook_path", "path", "command", "pattern", "query", "url", "skill"],
  ...["subject", "description", "prompt"],
];

function toolLabel({ cwd }: Now, name: string, input: Line): string {
  const subject = SUBJECTS.map((key) => textOrNull(input[key])).find((text) => text) ?? "";
  const tool = (name || "a tool").replace(/^mcp__(.+?)__/, "$1 ");
  // A command may be a whole script.
  const short = subject.slice(0, 4 * LONGEST).replaceAll(cwd === "" ? "\u0000" : `${cwd}/`, "");
  return oneLine(`${tool} ${short}`);
}

/** `id` "": its end will not be reported. */
function begin(now: Now, id: string, label: string): void {
  now.doing = label;
  now.lines.push(`▸ ${label}`);
  if (id !== "") now.open.set(id, label);
  const [oldest] = now.open.keys();
  if (now.open.size > MOST_OPEN && oldest !== undefined) now.open.delete(oldest);
}

/** Several tools may run at once. */
function end(now: Now, id: string): void {
  now.open.delete(id);
  now.doing = [...now.open.values()].at(-1) ?? "thinking";
}

function say(now: Now, text: string, doing = now.doing): void {
  now.doing = doing;
  const lines = safeText(text.slice(-ROOM)).split("\n");
  const end = lines.findLastIndex((line) => line.trim() !== "") + 1;
  now.lines.push(...lines.slice(Math.max(0, end - MOST_LINES), end).map(shortened));
  now.line = lastLine(text.slice(-4 * LONGEST)) || now.line;
}

/** A line of only brackets or dashes is not worth showing. */
function lastLine(text: string): string {
  const lines = safeText(text).split("\n");
  return oneLine(lines.findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? "");
}

const shortened = (line: string) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
const oneLine = (text: string) => safeText(text).replace(/\s+/g, " ").trim().slice(0, LONGEST);
