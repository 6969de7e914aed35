/** Reads what an agent's client prints: what happens, its final message, its tool calls. Signals count only in the message. */
import {
  asLine,
  type Line,
  listIn,
  objectsIn,
  parseLine,
  parseLines,
  readCount,
  readMoney,
  textOrNull,
  within,
} from "../../kernel/text/output-lines.ts";
import { isLimit } from "./usage-limit.ts";

/** claude: stream-json · codex: exec --json · gemini: one object · opencode: run --format json · text: anything else */
export type OutputFormat = "claude" | "codex" | "gemini" | "opencode" | "text";

// ── What happens ────────────────────────────────────────────────────────────

interface ToolResult {
  /** null: it has not ended */
  failed: boolean | null;
  /** refused: no permission */
  denied: boolean;
  text: string;
}

/** The same for all clients. `message`: which of the agent's messages it belongs to; null: sub-agents and the client itself. */
export type AgentEvent =
  | { kind: "started"; cwd: string }
  | { kind: "thinking" | "other"; message: unknown }
  | { kind: "writing" | "finishing" }
  | { kind: "text"; message: unknown; text: string }
  /** `result`: where the client reports a tool only when it is done */
  | { kind: "tool"; message: unknown; id: string; name: string; input: Line; isSub: boolean; result: ToolResult | null }
  | { kind: "tool-ended"; id: string; result: ToolResult }
  | { kind: "error"; text: string };

export function readEvents(line: Line): AgentEvent[] {
  const type = String(line.type);
  if (type === "error" || type === "turn.failed") return [{ kind: "error", text: errorIn(line) }];
  if (/^(thread|turn|item)\./.test(type)) return codexEvents(line, type);
  return asLine(line.part) ? opencodeEvents(within(line, "part"), type) : claudeEvents(line, type);
}

function claudeEvents(line: Line, type: string): AgentEvent[] {
  if (type === "system" && line.subtype === "init") return [{ kind: "started", cwd: textOrNull(line.cwd) ?? "" }];
  if (type === "result") return [{ kind: "finishing" }];
  if (type !== "assistant" && type !== "user") return [];
  const isSub = (line.parent_tool_use_id ?? null) !== null;
  const { id = "", model } = within(line, "message");
  const message = isSub || type === "user" || model === "<synthetic>" ? null : id;
  return listIn(within(line, "message"), "content").map((block): AgentEvent => {
    if (block.type === "tool_use") {
      const call = { id: String(block.id), name: textOrNull(block.name) ?? "", input: within(block, "input") };
      return { kind: "tool", message, ...call, isSub, result: null };
    }
    if (block.type === "tool_result") {
      const result = { failed: block.is_error === true, denied: false, text: flatten(block.content) };
      return { kind: "tool-ended", id: String(block.tool_use_id), result };
    }
    if (isSub || type === "user") return { kind: "other", message };
    if (block.type === "text") return { kind: "text", message, text: textOrNull(block.text) ?? "" };
    return { kind: block.type === "thinking" ? "thinking" : "other", message };
  });
}

function flatten(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((one) => textOrNull(asLine(one)?.text) ?? "").join("\n") : "";
}

function codexEvents(line: Line, type: string): AgentEvent[] {
  if (type === "turn.started") return [{ kind: "thinking", message: null }];
  if (type === "turn.completed") return [{ kind: "finishing" }];
  if (!type.startsWith("item.")) return [];
  const item = within(line, "item");
  const kind = textOrNull(item.type) ?? textOrNull(item.item_type) ?? "something";
  const isDone = type === "item.completed";
  if (kind === "reasoning") return [{ kind: "thinking", message: null }];
  if (kind === "agent_message" && isDone) return [{ kind: "text", message: item, text: textOrNull(item.text) ?? "" }];
  if (kind === "agent_message" || kind === "error") return [{ kind: "writing" }];
  if (type === "item.updated") return [];
  const { status } = item;
  const text = textOrNull(item.aggregated_output) ?? "";
  const result = isDone ? { failed: status !== "completed", denied: status === "declined", text } : null;
  const message = kind === "command_execution" || kind === "file_change" ? item : null;
  return [{ kind: "tool", message, id: String(item.id), ...codexTool(kind, item), isSub: false, result }];
}

function codexTool(kind: string, item: Line): { name: string; input: Line } {
  const command = textOrNull(item.command)
    ?.replace(/^\S*sh -l?c /, "")
    .replace(/^(['"])(.*)\1$/s, "$2");
  if (kind === "command_execution") return { name: "Shell", input: { command } };
  const files = listIn(item, "changes").map(({ path }) => String(path));
  if (kind === "file_change") return { name: "Edit", input: { path: files.join(" ") } };
  if (kind === "mcp_tool_call") return { name: `${item.server} ${item.tool}`, input: {} };
  return { name: kind.replaceAll("_", " "), input: item };
}

/** opencode reports a tool when it is done. */
function opencodeEvents(part: Line, type: string): AgentEvent[] {
  if (type === "text") {
    const message = part.synthetic === true ? null : (part.messageID ?? "");
    return [{ kind: "text", message, text: textOrNull(part.text) ?? "" }];
  }
  if (type === "reasoning" || type === "step_start") return [{ kind: "thinking", message: null }];
  if (type !== "tool_use") return [];
  const state = within(part, "state");
  const text = textOrNull(state.error) ?? textOrNull(state.output) ?? "";
  const failed = state.status === "completed" ? false : state.status === "error" ? true : null;
  const result = { failed, denied: failed === true && /permission|rejected/i.test(text), text };
  const [name, input] = [textOrNull(part.tool) ?? "", within(state, "input")];
  return [{ kind: "tool", message: part, id: "", name, input, isSub: false, result }];
}

/** {"message"}, {"error":{"message"}}, {"error":{"data":{"message"}}}, {"error":"…"}: whichever exists. */
function errorIn(line: Line): string {
  const error = within(line, "error");
  const found = line.message ?? error.message ?? within(error, "data").message ?? error.name ?? line.error;
  return textOrNull(found) ?? "it reported an error without a message";
}

// ── Tool calls ──────────────────────────────────────────────────────────────

export interface ToolUse {
  name: string;
  /** of a shell, else "" */
  command: string;
  /** null: no result */
  failed: boolean | null;
  denied: boolean;
  result: string;
}

const UNFINISHED = ['{"type":"item.started"', '{"type":"item.updated"'];

/** As the client reports them; the agent's own words do not count. null: this client does not report them. */
export function toolsIn(format: OutputFormat, tail: string): ToolUse[] | null {
  if (format === "gemini" || format === "text") return null;
  const lines = parseLines(tail, UNFINISHED);
  const events = lines.flatMap(readEvents);
  const results = new Map(events.flatMap((one) => (one.kind === "tool-ended" ? [[one.id, one.result]] : [])));
  // A turn that waited for sub-agents in the background has several results.
  const ends = lines.filter(({ type }) => type === "result");
  const denied = new Set(
    ends.flatMap((end) => listIn(end, "permission_denials")).map(({ tool_use_id }) => tool_use_id),
  );
  return events.flatMap((one) => {
    if (one.kind !== "tool") return [];
    const { name, id, input } = one;
    const result = one.result ?? results.get(id) ?? { failed: null, denied: false, text: "" };
    const isDenied = result.denied || denied.has(id);
    const command = textOrNull(input.command) ?? "";
    return [{ name, command, failed: result.failed, denied: isDenied, result: result.text }];
  });
}

// ── The end ─────────────────────────────────────────────────────────────────

export interface AgentReport {
  /** the agent's final message, "": none; null: unknown, so the whole output counts */
  message: string | null;
  cost_usd: number | null;
  /** in: everything read, including the cache */
  tokens: { in: number; out: number } | null;
  session: string | null;
  /** what the client itself reports as a failure */
  error: string | null;
  /** the text of a usage limit */
  limit: string | null;
}

/** Results of tools: most of the output, and none of it the agent's words. */
const LONG = ['{"type":"user"', ...UNFINISHED];
const MOST_TRIES = 20;
const NOTHING: AgentReport = { message: null, cost_usd: null, tokens: null, session: null, error: null, limit: null };

export function readOutput(format: OutputFormat, tail: string): AgentReport {
  const said = format === "gemini" ? readGemini(tail) : format === "text" ? null : readLines(format, tail);
  if (said === null) return readText(tail);
  const { error } = said;
  return { ...NOTHING, ...said, limit: error && isLimit(error) ? error : null };
}

/** In plain text only a line that no agent would write counts as a limit. */
function readText(tail: string): AgentReport {
  const last = tail.trimEnd().split("\n").at(-1) ?? "";
  const limit = /usage limit reached\|\d{10,13}\s*$/.test(last) ? last.trim() : null;
  return { ...NOTHING, error: limit, limit };
}

/** null: not this format at all, the client printed something else. */
function readLines(format: "claude" | "codex" | "opencode", tail: string): Partial<AgentReport> | null {
  const lines = parseLines(tail, LONG);
  if (lines.length === 0) return tail.includes('"type":') ? { message: "" } : null;
  const message = lastMessage(lines.flatMap(readEvents));
  return { message, ...{ claude: readClaude, codex: readCodex, opencode: readOpencode }[format](lines) };
}

/** The last text; "" if a tool call followed, because then the agent was cut off. */
function lastMessage(events: AgentEvent[]): string {
  const last = events.map(eventMessage).findLast((message) => message !== null);
  // One message may come as several lines, one per block.
  const own = events.filter((one) => eventMessage(one) === last);
  return own.some(({ kind }) => kind === "tool") ? "" : textIn(own);
}

const eventMessage = (event: AgentEvent) => ("message" in event ? event.message : null);
const textIn = (events: AgentEvent[]) => events.map((one) => (one.kind === "text" ? one.text : "")).join("");

function tokensIn(usages: Line[], read: string[], written: string[]): AgentReport["tokens"] {
  const sum = (keys: string[]) =>
    usages.reduce((total, one) => total + keys.reduce((count, key) => count + readCount(one[key]), 0), 0);
  return usages.length === 0 ? null : { in: sum(read), out: sum(written) };
}

function readClaude(lines: Line[]): Partial<AgentReport> {
  const result = lines.findLast(({ type }) => type === "result") ?? null;
  const error = claudeError(lines, result);
  const said = textOrNull(result?.result) ?? "";
  const models = objectsIn(Object.values(within(result, "modelUsage")));
  const usage = result ? [within(result, "usage")] : [];
  return {
    // If a hook had the last word, the result is empty; the agent's last answer comes before it.
    ...(error === null && said !== "" && { message: said }),
    cost_usd: readMoney(result?.total_cost_usd),
    tokens:
      tokensIn(models, ["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"], ["outputTokens"]) ??
      tokensIn(usage, ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"], ["output_tokens"]),
    session: textOrNull(lines.findLast(({ session_id }) => typeof session_id === "string")?.session_id),
    error,
  };
}

function claudeError(lines: Line[], result: Line | null): string | null {
  if (result && result.is_error !== true && !String(result.subtype).startsWith("error")) return null;
  const isFailed = ({ error, type, parent_tool_use_id }: Line) =>
    typeof error === "string" && type === "assistant" && (parent_tool_use_id ?? null) === null;
  const failed = lines.findLast(isFailed);
  const kind = textOrNull(failed?.error);
  const said = result ? readReason(result) : failed ? textIn(readEvents(failed)) : null;
  if (said === null) return null;
  return kind === null || said.includes(kind) ? said : `${said} (${kind})`;
}

function readReason({ result, errors, subtype }: Line): string {
  const texts = Array.isArray(errors) ? errors.filter((one) => typeof one === "string") : [];
  return textOrNull(result) ?? (texts.join("; ") || String(subtype));
}

function readCodex(lines: Line[]): Partial<AgentReport> {
  const usages = lines.filter(({ type }) => type === "turn.completed").map((line) => within(line, "usage"));
  const end = lines.findLast(({ type }) => ["turn.completed", "turn.failed", "error"].includes(String(type)));
  return {
    tokens: tokensIn(usages, ["input_tokens"], ["output_tokens"]),
    session: textOrNull(lines.find(({ type }) => type === "thread.started")?.thread_id),
    error: end && end.type !== "turn.completed" ? errorIn(end) : null,
  };
}

function readOpencode(lines: Line[]): Partial<AgentReport> {
  const steps = lines.filter(({ type }) => type === "step_finish").map((line) => within(line, "part"));
  const usages = steps.map((step) => within(step, "tokens")).map((one) => ({ ...one, ...within(one, "cache") }));
  const failed = lines.findLast(({ type }) => type === "error");
  return {
    cost_usd: steps.length === 0 ? null : steps.reduce((total, step) => total + (readMoney(step.cost) ?? 0), 0),
    tokens: tokensIn(usages, ["input", "read", "write"], ["output", "reasoning"]),
    session: textOrNull(lines.findLast(({ sessionID }) => typeof sessionID === "string")?.sessionID),
    error: failed ? errorIn(failed) : null,
  };
}

/** One object over many lines, with other output before it. If its beginning is cut off, nothing can be read: null. */
function readGemini(tail: string): Partial<AgentReport> | null {
  const found = lastObject(tail);
  if (!found) return null;
  const models = objectsIn(Object.values(within(within(found, "stats"), "models"))).map((one) => within(one, "tokens"));
  return {
    message: textOrNull(found.response) ?? "",
    tokens: tokensIn(models, ["prompt"], ["candidates", "thoughts"]),
    session: textOrNull(found.session_id),
    error: (found.error ?? null) === null ? null : errorIn(found),
  };
}

/** Such an object starts at the beginning of a line and runs to the end, except for text after it. */
function lastObject(tail: string): Line | null {
  const end = tail.lastIndexOf("}") + 1;
  for (let at = end, tries = 0; at > 0 && tries < MOST_TRIES; tries++) {
    at = tail.lastIndexOf("\n{", at - 1);
    const found = parseLine(tail.slice(at + 1, end));
    if (found && ("response" in found || "error" in found)) return found;
    if (at < 0) return null;
  }
  return null;
}
