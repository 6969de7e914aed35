/** What an agent is doing now and what it said last, read from its output as it arrives. */
import { asLine, type Line, listIn, parseLine, textOf, within } from "../../kernel/text/output-lines.ts";
import { plain } from "../../kernel/text/safe-text.ts";

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
const NEWLINE = 10;

interface Now {
  doing: string;
  line: string;
  lines: string[];
  /** the agent's folder: file names are shown relative to it */
  cwd: string;
  /** running tools by id */
  open: Map<string, string>;
}

/** Bytes are only kept as they come and read when shown, so a flood costs one copy. */
export function openWork(): Work {
  const now: Now = { doing: "", line: "", lines: [], cwd: "", open: new Map() };
  const buffer = new Uint8Array(ROOM);
  let used = 0;
  let torn = false;
  let missed = false;
  const look = () => {
    const end = buffer.subarray(0, used).lastIndexOf(NEWLINE);
    if (end >= 0) {
      const lines = decoded(buffer.subarray(0, end))
        .split("\n")
        .slice(torn ? 1 : 0);
      missed ||= lines.length > MOST_LINES;
      for (const line of lines.slice(-MOST_LINES)) see(now, line);
      missed ||= now.lines.length > MOST_LINES;
      now.lines = now.lines.slice(-MOST_LINES);
      buffer.copyWithin(0, end + 1, used);
      used -= end + 1;
      torn = false;
    }
    return { ...now, line: torn ? now.line : unfinished(buffer.subarray(0, used)) || now.line };
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
      const newest = bytes.subarray(-HALF);
      const kept = newest.length < bytes.length ? 0 : used + newest.length > ROOM ? HALF : used;
      if (kept < used || newest.length < bytes.length) {
        buffer.copyWithin(0, used - kept, used);
        torn = true;
        missed = true;
      }
      used = kept;
      buffer.set(newest, used);
      used += newest.length;
    },
  };
}

const decoded = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** A line of text may take long to complete; half an object cannot be shown. */
function unfinished(bytes: Uint8Array): string {
  const begins = decoded(bytes.subarray(0, 100)).trimStart();
  return begins === "" || begins.startsWith("{") ? "" : lastLine(decoded(bytes.subarray(-4 * LONGEST)));
}

function see(now: Now, line: string): void {
  const text = line.trim();
  const object = text.startsWith("{") ? parseLine(text) : null;
  if (object && typeof object.type === "string") seeEvent(now, object, object.type);
  // A torn object cannot be shown.
  else if (!text.startsWith('{"type"')) say(now, line);
}

function seeEvent(now: Now, line: Line, type: string): void {
  if (/^(thread|turn|item)\./.test(type)) seeCodex(now, line, type);
  else if (asLine(line.part)) seeOpencode(now, type, within(line, "part"));
  else if (type === "error") say(now, textOf(line.message) ?? textOf(within(line, "error").message) ?? "an error");
  else seeClaude(now, line, type);
}

// ── The clients ─────────────────────────────────────────────────────────────

function seeClaude(now: Now, line: Line, type: string): void {
  const isMain = (line.parent_tool_use_id ?? null) === null;
  if (type === "system" && line.subtype === "init") {
    now.cwd = textOf(line.cwd) ?? "";
    now.doing = "thinking";
  }
  if (type === "result") now.doing = "finishing";
  if (type !== "assistant" && type !== "user") return;
  for (const block of listIn(within(line, "message"), "content")) {
    if (block.type === "thinking" && isMain) now.doing = "thinking";
    if (block.type === "text" && type === "assistant" && isMain) say(now, textOf(block.text) ?? "", "writing");
    const label = () => `${isMain ? "" : "sub-agent: "}${toolLabel(now, textOf(block.name), within(block, "input"))}`;
    if (block.type === "tool_use") begin(now, String(block.id), label());
    if (block.type === "tool_result") end(now, String(block.tool_use_id));
  }
}

function seeCodex(now: Now, line: Line, type: string): void {
  if (type === "turn.started") now.doing = "thinking";
  if (type === "turn.completed") now.doing = "finishing";
  if (type === "turn.failed") say(now, textOf(within(line, "error").message) ?? "the turn failed");
  if (!type.startsWith("item.")) return;
  const item = within(line, "item");
  const kind = textOf(item.type) ?? textOf(item.item_type) ?? "something";
  if (kind === "reasoning") now.doing = "thinking";
  else if (kind === "agent_message" && type === "item.completed") say(now, textOf(item.text) ?? "", "writing");
  else if (kind === "agent_message" || kind === "error") now.doing = "writing";
  else if (type === "item.started") begin(now, String(item.id), codexLabel(now, kind, item));
  else if (type === "item.completed" && !now.open.has(String(item.id))) begin(now, "", codexLabel(now, kind, item));
  else if (type === "item.completed") end(now, String(item.id));
}

function codexLabel(now: Now, kind: string, item: Line): string {
  const shell = textOf(item.command)?.replace(/^\S*sh -l?c /, "");
  const files = listIn(item, "changes").map(({ path }) => String(path));
  if (kind === "command_execution")
    return toolLabel(now, "Shell", { command: shell?.replace(/^(['"])(.*)\1$/s, "$2") });
  if (kind === "file_change") return toolLabel(now, "Edit", { path: files.join(" ") });
  if (kind === "mcp_tool_call") return toolLabel(now, `${item.server} ${item.tool}`, {});
  return toolLabel(now, kind.replaceAll("_", " "), item);
}

/** opencode reports a tool when it is done. */
function seeOpencode(now: Now, type: string, part: Line): void {
  if (type === "text") say(now, textOf(part.text) ?? "", "writing");
  if (type === "reasoning" || type === "step_start") now.doing = "thinking";
  if (type === "tool_use") begin(now, "", toolLabel(now, textOf(part.tool), within(within(part, "state"), "input")));
}

// ── What is shown ────────────────────────────────────────────────────────────

const SUBJECTS = [
  "file_path",
  "filePath",
  "notebook_path",
  "path",
  "command",
  "pattern",
  "query",
  "url",
  "skill",
].concat(["subject", "description", "prompt"]);

function toolLabel({ cwd }: Now, name: string | null, input: Line): string {
  const subject = SUBJECTS.map((key) => textOf(input[key])).find((text) => text) ?? "";
  const tool = (name ?? "a tool").replace(/^mcp__(.+?)__/, "$1 ");
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
  const lines = plain(text.slice(-ROOM)).split("\n");
  const end = lines.findLastIndex((line) => line.trim() !== "");
  now.lines.push(
    ...lines
      .slice(0, end + 1)
      .slice(-MOST_LINES)
      .map(shortened),
  );
  now.line = lastLine(text.slice(-4 * LONGEST)) || now.line;
}

/** A line of only brackets or dashes is not worth showing. */
function lastLine(text: string): string {
  const lines = plain(text).split("\n");
  return oneLine(lines.findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? "");
}

const shortened = (line: string) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
const oneLine = (text: string) => plain(text).replace(/\s+/g, " ").trim().slice(0, LONGEST);
