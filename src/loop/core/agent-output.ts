/** Reads an agent's final message out of what its client printed. Signals count only there. */
import {
  countOf,
  type Line,
  linesOf,
  listIn,
  moneyOf,
  objectsIn,
  parseLine,
  textOf,
  within,
} from "../../kernel/text/output-lines.ts";
import { isLimit } from "./usage-limit.ts";

/** claude: stream-json · codex: exec --json · gemini: one object · opencode: run --format json · text: anything else */
export type OutputFormat = "claude" | "codex" | "gemini" | "opencode" | "text";

export interface AgentSaid {
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
const LONG = ['{"type":"user"', '{"type":"item.started"', '{"type":"item.updated"'];
const MOST_TRIES = 20;
const NOTHING: AgentSaid = { message: null, cost_usd: null, tokens: null, session: null, error: null, limit: null };

export function readOutput(format: OutputFormat, tail: string): AgentSaid {
  if (format === "text") return readText(tail);
  if (format === "gemini") return readGemini(tail);
  const lines = linesOf(tail, LONG);
  // Not this format at all: the client printed something else.
  if (lines.length === 0) return tail.includes('"type":') ? { ...NOTHING, message: "" } : readText(tail);
  const said = { claude: readClaude, codex: readCodex, opencode: readOpencode }[format](lines);
  return { ...said, limit: said.error !== null && isLimit(said.error) ? said.error : null };
}

/** In plain text only a line that no agent would write counts as a limit. */
function readText(tail: string): AgentSaid {
  const last = tail.trimEnd().split("\n").at(-1) ?? "";
  const limit = /usage limit reached\|\d{10,13}\s*$/.test(last) ? last.trim() : null;
  return { ...NOTHING, error: limit, limit };
}

// ── Claude Code ─────────────────────────────────────────────────────────────

function readClaude(lines: Line[]): AgentSaid {
  const result = lines.findLast(({ type }) => type === "result") ?? null;
  const error = claudeError(lines, result);
  const said = textOf(result?.result) ?? "";
  // If a hook had the last word, the result is empty; the agent's last answer comes before it.
  const message = error !== null || said === "" ? lastAnswer(lines) : said;
  return {
    message,
    cost_usd: moneyOf(result?.total_cost_usd),
    tokens: result && claudeTokens(result),
    session: textOf(lines.findLast(({ session_id }) => typeof session_id === "string")?.session_id),
    error,
    limit: null,
  };
}

/** Neither sub-agents nor the client itself speak for the agent. */
const isMain = (line: Line) => (line.parent_tool_use_id ?? null) === null;
const isSynthetic = (line: Line) => within(line, "message").model === "<synthetic>";

/** The last text; "" if a tool call followed, because then the agent was cut off. */
function lastAnswer(lines: Line[]): string {
  const own = lines.filter((line) => line.type === "assistant" && isMain(line) && !isSynthetic(line));
  const last = own.at(-1);
  if (!last) return "";
  // One message may come as several lines, one per block.
  const id = within(last, "message").id;
  const blocks = own.filter((line) => within(line, "message").id === id).flatMap(blocksOf);
  if (blocks.some(({ type }) => type === "tool_use")) return "";
  return textIn(blocks);
}

const blocksOf = (line: Line): Line[] => listIn(within(line, "message"), "content");

function claudeError(lines: Line[], result: Line | null): string | null {
  if (result && result.is_error !== true && !String(result.subtype).startsWith("error")) return null;
  const failed = lines.findLast((line) => typeof line.error === "string" && line.type === "assistant" && isMain(line));
  const kind = textOf(failed?.error);
  const said = result ? reasonOf(result) : failed ? textIn(blocksOf(failed)) : null;
  if (said === null) return null;
  return kind === null || said.includes(kind) ? said : `${said} (${kind})`;
}

const reasonOf = (result: Line): string => textOf(result.result) ?? errorsOf(result) ?? String(result.subtype);
const textIn = (blocks: Line[]): string =>
  blocks.flatMap((block) => (block.type === "text" ? [textOf(block.text) ?? ""] : [])).join("");

function errorsOf(result: Line): string | null {
  if (!Array.isArray(result.errors)) return null;
  const texts = result.errors.filter((one) => typeof one === "string");
  return texts.length > 0 ? texts.join("; ") : null;
}

function claudeTokens(result: Line): AgentSaid["tokens"] {
  const models = objectsIn(Object.values(within(result, "modelUsage")));
  const sum = (keys: string[], from: Line[]) =>
    from.reduce((total, one) => total + keys.reduce((count, key) => count + countOf(one[key]), 0), 0);
  if (models.length > 0) {
    const read = ["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    return { in: sum(read, models), out: sum(["outputTokens"], models) };
  }
  const usage = [within(result, "usage")];
  const read = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
  return { in: sum(read, usage), out: sum(["output_tokens"], usage) };
}

// ── Codex ───────────────────────────────────────────────────────────────────

function readCodex(lines: Line[]): AgentSaid {
  const done = lines.filter(({ type }) => type === "turn.completed");
  const items = lines.filter(({ type }) => type === "item.completed").map((line) => within(line, "item"));
  const last = items.findLast((item) => ["agent_message", "command_execution", "file_change"].includes(kindOf(item)));
  const end = lines.findLast(({ type }) => ["turn.completed", "turn.failed", "error"].includes(String(type)));
  const usages = done.map((line) => within(line, "usage"));
  return {
    ...NOTHING,
    message: last && kindOf(last) === "agent_message" ? (textOf(last.text) ?? "") : "",
    tokens:
      usages.length === 0
        ? null
        : {
            in: usages.reduce((total, usage) => total + countOf(usage.input_tokens), 0),
            out: usages.reduce((total, usage) => total + countOf(usage.output_tokens), 0),
          },
    session: textOf(lines.find(({ type }) => type === "thread.started")?.thread_id),
    error: end && end.type !== "turn.completed" ? messageIn(end) : null,
  };
}

const kindOf = (item: Line) => String(item.type ?? item.item_type);

/** {"message"}, {"error":{"message"}}, {"error":{"data":{"message"}}}, {"error":"…"}: whichever exists. */
function messageIn(line: Line): string {
  const error = within(line, "error");
  const found = line.message ?? error.message ?? within(error, "data").message ?? error.name ?? line.error;
  return textOf(found) ?? "it reported an error without a message";
}

// ── opencode ────────────────────────────────────────────────────────────────

function readOpencode(lines: Line[]): AgentSaid {
  const parts = lines.map((line) => ({ type: String(line.type), part: within(line, "part") }));
  const last = parts.findLast(({ type }) => type === "text" || type === "tool_use");
  const texts = parts.filter(
    ({ type, part }) => type === "text" && part.messageID === last?.part.messageID && part.synthetic !== true,
  );
  const steps = parts.filter(({ type }) => type === "step_finish").map(({ part }) => part);
  const failed = lines.findLast(({ type }) => type === "error");
  return {
    ...NOTHING,
    message: last?.type === "text" ? texts.map(({ part }) => textOf(part.text) ?? "").join("") : "",
    cost_usd: steps.length === 0 ? null : steps.reduce((total, step) => total + (moneyOf(step.cost) ?? 0), 0),
    tokens: steps.length === 0 ? null : steps.map(opencodeTokens).reduce(added),
    session: textOf(lines.findLast(({ sessionID }) => typeof sessionID === "string")?.sessionID),
    error: failed ? messageIn(failed) : null,
  };
}

function opencodeTokens(step: Line): { in: number; out: number } {
  const tokens = within(step, "tokens");
  const cache = within(tokens, "cache");
  const read = countOf(tokens.input) + countOf(cache.read) + countOf(cache.write);
  return { in: read, out: countOf(tokens.output) + countOf(tokens.reasoning) };
}

const added = (a: { in: number; out: number }, b: { in: number; out: number }) => ({
  in: a.in + b.in,
  out: a.out + b.out,
});

// ── Gemini ──────────────────────────────────────────────────────────────────

/** One object over many lines, with other output before it. If its beginning is cut off, nothing can be read. */
function readGemini(tail: string): AgentSaid {
  const found = lastObject(tail);
  if (!found) return readText(tail);
  const error = found.error === undefined || found.error === null ? null : messageIn(found);
  const models = objectsIn(Object.values(within(within(found, "stats"), "models"))).map((one) => within(one, "tokens"));
  const sum = (key: string) => models.reduce((total, tokens) => total + countOf(tokens[key]), 0);
  return {
    ...NOTHING,
    message: textOf(found.response) ?? "",
    tokens: models.length === 0 ? null : { in: sum("prompt"), out: sum("candidates") + sum("thoughts") },
    session: textOf(found.session_id),
    error,
    limit: error !== null && isLimit(error) ? error : null,
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
