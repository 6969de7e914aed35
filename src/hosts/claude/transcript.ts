/** What Claude Code's transcript says: the last message in full, and the tool calls of a turn or since a time. */

import type { Fact, Json, ToolCall } from "../../kernel/types/run.ts";
import { errorCode, messageOf as whyOf } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { type Entry, entryMessage, joinText, listBlocks, parseLine, record, string } from "./entry.ts";
import { agentsFolder, transcriptsIn } from "./folders.ts";
import { linesFromEnd, piecesFromEnd, pollFile } from "./tail.ts";

const REACH = 64 * 1024 * 1024;
/** all sub-agents' files of one look together */
const AGENTS_REACH = 256 * 1024 * 1024;
const MOST_AGENTS = 200;
/** lines are not strictly in the order of their times */
const DISORDER_MS = 10_000;
/** a line without a tool is parsed only for its time; long ones are not worth it */
const SHORT_LINE = 64 * 1024;
/** a prompt with its time is shorter; longer lines are results and images */
const LONGEST_PROMPT = 4 * 1024 * 1024;

const ASSISTANT = Buffer.from('"assistant"');
const USER = Buffer.from('"user"');
const TOOL_USE = Buffer.from('"tool_use"');
const TOOL_RESULT = Buffer.from('"tool_result"');
const TYPE_USER = Buffer.from('"type":"user"');
const RESULT_OF = Buffer.from('"tool_use_id":"');
const QUOTE = 34;
const STOP_SUMMARY = Buffer.from('"stop_hook_summary"');
const HOOK_CONTEXT = Buffer.from('"hook_additional_context"');
const HOOK_BLOCK = Buffer.from('"hook_blocking_error"');
const PROMPT_ID = Buffer.from('"promptId"');
const TIME = /"timestamp":\s*"([^"]{10,40})"/;
/** the prompt of a turn that the client began: a task in the background is over */
const NOTIFIED = /"content":\s*"<task-notification>/;
const ID = /"promptId":\s*"([^"]{1,200})"/;

// ── The last message ────────────────────────────────────────────────────────

interface Message {
  text: string;
  /** something newer than the message shows that its turn is over */
  past: boolean;
}

/**
 * All text of the newest message of the main agent. The host writes with a delay: given the message's
 * tail, wait for the message that holds it; if it does not come, the tail is all there is.
 */
export function readLastMessage(path: string, tail: string, waitMs = 300): Fact<string> {
  const wanted = tail.trim();
  const isThere = (found: Message | null) => found !== null && !found.past && found.text.includes(wanted);
  const read = (fd: number, size: number) => newestMessage(linesFromEnd(fd, size, REACH));
  const found = pollFile(path, wanted === "" ? 0 : waitMs, read, isThere);
  if (!found.ok) return found;
  if (wanted !== "") return { ok: true, value: isThere(found.value) ? found.value!.text : tail };
  if (found.value === null) return { ok: false, why: "the transcript holds no message of the agent" };
  return { ok: true, value: found.value.text };
}

/** Of lines that come backwards. */
export function newestMessage(lines: Iterable<Buffer>): Message | null {
  const texts: string[] = [];
  let id: string | null = null;
  let past = false;
  for (const line of lines) {
    if (endsTurn(line)) {
      if (id !== null) break;
      past = true;
    }
    const entry = line.includes(ASSISTANT) ? mainAgentLine(line) : null;
    if (entry === null) continue;
    const own = entryId(entry);
    if (id !== null && own !== id) break;
    const text = joinText(entryMessage(entry).content);
    if (text.trim() === "") continue;
    id = own;
    texts.push(text);
  }
  return id === null ? null : { text: texts.reverse().join("\n"), past };
}

const entryId = (entry: Entry) => string(entryMessage(entry).id) || string(entry.uuid);

/** Not a sub-agent's, nor made by the client: API errors and fillers. */
function mainAgentLine(line: Buffer): Entry | null {
  const entry = parseLine(line);
  if (entry?.type !== "assistant" || entry.isSidechain === true || entry.isApiErrorMessage === true) return null;
  return entryMessage(entry).model === "<synthetic>" ? null : entry;
}

/** A prompt, or the trace of a finished Stop: messages before it belong to the past. */
function endsTurn(line: Buffer): boolean {
  if (tracesStop(line)) return true;
  if (!line.includes(USER) || line.includes(TOOL_RESULT)) return false;
  const entry = parseLine(line);
  return entry?.type === "user" && entry.isSidechain !== true;
}

function tracesStop(line: Buffer): boolean {
  if (line.includes(STOP_SUMMARY)) return parseLine(line)?.subtype === "stop_hook_summary";
  return (line.includes(HOOK_CONTEXT) || line.includes(HOOK_BLOCK)) && isStopAttachment(parseLine(line));
}

function isStopAttachment(entry: Entry | null): boolean {
  return entry?.type === "attachment" && record(entry.attachment).hookEvent === "Stop";
}

// ── Tool calls ──────────────────────────────────────────────────────────────

interface Scan {
  /** the newest first */
  calls: ToolCall[];
  /** a call of the newest message has no result: it may not have been written yet */
  pending: boolean;
}

type Result = NonNullable<ToolCall["result"]>;

/**
 * Calls made since a time, by the main agent and its sub-agents, in order of time. A call that started an agent in the
 * background has its report as result, once there is one.
 */
export function readToolsSince(path: string, since: string, waitMs = 300): Fact<ToolCall[]> {
  const from = Date.parse(since);
  if (Number.isNaN(from)) return { ok: false, why: `not a time: ${since}` };
  const main = scanFile(path, from, waitMs, "", REACH);
  if (!main.ok) return main;
  const agents = scanAgents(path, from);
  if (!agents.ok) return agents;
  const calls = inOrder([...main.value.calls, ...agents.value]);
  return { ok: true, value: calls.map((call) => (STARTS_AGENT.includes(call.name) ? withReport(path, call) : call)) };
}

const STARTS_AGENT = ["Agent", "Task"];

function withReport(path: string, call: ToolCall): ToolCall {
  const { id, name, input, at, agent } = call;
  return withResult({ id, name, input, at, agent }, () => {
    const { result } = call;
    const { status, agentId } = record(result?.data);
    const launched = status === "async_launched" && typeof agentId === "string" ? agentId : "";
    const report = launched === "" ? null : readReport(path, launched);
    return report === null
      ? result
      : { text: report, error: false, data: { ...record(result!.data), status: "completed" } as Json };
  });
}

/** The last message of a sub-agent that has ended; null: it is at work, or was cut off. */
function readReport(path: string, agent: string): string | null {
  if (!/^[\w-]+$/.test(agent)) return null;
  const file = join(agentsFolder(path), `agent-${agent}.jsonl`);
  const found = pollFile(
    file,
    0,
    (fd, size) => closingText(linesFromEnd(fd, size, REACH)),
    () => true,
  );
  return found.ok ? found.value : null;
}

/** Of lines that come backwards. What follows the message, or a tool in it, shows that the agent went on. */
function closingText(lines: Iterable<Buffer>): string | null {
  const texts: string[] = [];
  let id: string | null = null;
  for (const line of lines) {
    const entry = line.includes(ASSISTANT) || line.includes(TYPE_USER) ? parseLine(line) : null;
    if (entry?.type !== "assistant" && entry?.type !== "user") continue;
    if (entry.type === "user" || (id !== null && entryId(entry) !== id)) break;
    const { content, model, stop_reason } = entryMessage(entry);
    // The tool of a message may not have been written yet.
    const goesOn = stop_reason === "tool_use" || listBlocks(content, "tool_use").length > 0;
    if (model === "<synthetic>" || goesOn) return null;
    id = entryId(entry);
    texts.push(joinText(content));
  }
  return id === null ? null : texts.reverse().join("\n").trim();
}

function scanFile(path: string, from: number, waitMs: number, agent: string, reach: number): Fact<Scan> {
  const read = (fd: number, size: number) => scanCalls(fd, size, reach, from, agent);
  return pollFile(path, waitMs, read, (scan) => !scan.pending);
}

/** A sub-agent that cannot be read leaves the whole unproven: it may have done what matters. */
function scanAgents(path: string, from: number): Fact<ToolCall[]> {
  const calls: ToolCall[] = [];
  let budget = AGENTS_REACH;
  try {
    for (const file of agentFiles(path, from - DISORDER_MS)) {
      const agent = file.name.slice("agent-".length);
      const scan = scanFile(file.path, from, 0, agent, Math.min(REACH, budget));
      if (!scan.ok) return { ok: false, why: `sub-agent ${agent}: ${scan.why}` };
      calls.push(...scan.value.calls);
      budget -= Math.min(file.size, REACH, budget);
    }
    return { ok: true, value: calls };
  } catch (error) {
    return { ok: false, why: `sub-agents: ${whyOf(error)}` };
  }
}

/** The newest first. One that is taken away meanwhile is none. */
function agentFiles(path: string, since: number) {
  const files = transcriptsIn(agentsFolder(path), (_, error) => {
    if (errorCode(error) !== "ENOENT") throw error;
  });
  const recent = files.filter(({ name, changed }) => name.startsWith("agent-") && changed >= since);
  return recent.sort((a, b) => b.changed - a.changed).slice(0, MOST_AGENTS);
}

/** Backwards: results come before their calls, and the first line that is old enough ends it. */
function scanCalls(fd: number, size: number, reach: number, from: number, agent: string): Scan {
  const scan: Scan = { calls: [], pending: false };
  const results: Results = new Map();
  /** the newest message's id */
  let newest: string | null = null;
  for (const { lines } of piecesFromEnd(fd, size, reach)) {
    for (const { entry } of entriesIn(lines, agent, results, SHORT_LINE)) {
      const at = Date.parse(string(entry.timestamp));
      if (at < from - DISORDER_MS) return scan;
      if (entry.type !== "assistant") continue;
      const message = entryId(entry);
      newest ??= message;
      if (!(at >= from)) continue;
      const calls = readCalls(entry, agent, results);
      scan.calls.push(...calls);
      if (message === newest && calls.some((call) => call.result === null)) scan.pending = true;
    }
  }
  return scan;
}

/** The lines that may hold the result of a call, the newest first. */
export type Results = Map<string, Buffer[]>;

/**
 * What the agents and the person wrote, of lines that come backwards. Most of a transcript are results, and few of them
 * are ever looked at: their lines are only kept. `agent` "": without sub-agents. `longest`: of a line without a tool.
 */
export function* entriesIn(lines: Buffer[], agent: string, results: Results, longest: number) {
  for (const line of lines) {
    if (keepResult(line, results)) continue;
    const hasTool = line.includes(TOOL_USE) || line.includes(TOOL_RESULT);
    const isWorth = hasTool || (line.length <= longest && (line.includes(ASSISTANT) || line.includes(USER)));
    const entry = isWorth ? ownEntry(line, agent) : null;
    if (entry === null) continue;
    if (entry.type === "user") for (const [id] of readResults(entry)) keep(results, id, line);
    yield { entry, line };
  }
}

function keep(results: Results, id: string, line: Buffer): void {
  const lines = results.get(id);
  if (lines) lines.push(line);
  else results.set(id, [line]);
}

/** Quotes inside a text are escaped, so these bytes are a key wherever they are; whose, is seen when it is read. */
function keepResult(line: Buffer, results: Results): boolean {
  if (!line.includes(TOOL_RESULT) || !line.includes(TYPE_USER) || line.includes(TOOL_USE)) return false;
  let at = line.indexOf(RESULT_OF);
  if (at < 0) return false;
  for (; at >= 0; at = line.indexOf(RESULT_OF, at)) {
    at += RESULT_OF.length;
    keep(results, line.toString("utf8", at, line.indexOf(QUOTE, at)), line);
  }
  return true;
}

function ownEntry(line: Buffer, agent: string): Entry | null {
  const entry = parseLine(line);
  if (entry?.type !== "assistant" && entry?.type !== "user") return null;
  return agent === "" && entry.isSidechain === true ? null : entry;
}

/** The newest first. */
export function readCalls(entry: Entry, agent: string, results: Results): ToolCall[] {
  const at = string(entry.timestamp);
  const by = agent === "" ? "" : string(entry.attributionAgent) || agent;
  const calls: ToolCall[] = [];
  for (const { id, name, input } of listBlocks(entryMessage(entry).content, "tool_use")) {
    if (typeof id !== "string" || id === "") continue;
    const lines = results.get(id) ?? [];
    const call = { id, name: string(name), input: (input ?? null) as Json, at, agent: by };
    calls.unshift(withResult(call, () => resultIn(lines, id, agent)));
  }
  return calls;
}

/** Read when it is asked for, once. */
function withResult(call: Omit<ToolCall, "result">, read: () => Result | null): ToolCall {
  let result: Result | null | undefined;
  return {
    ...call,
    get result() {
      if (result === undefined) result = read();
      return result;
    },
  };
}

/** The oldest one counts. */
function resultIn(lines: Buffer[], id: string, agent: string): Result | null {
  for (const line of lines.toReversed()) {
    const entry = ownEntry(line, agent);
    const found = entry?.type === "user" ? readResults(entry).findLast(([of]) => of === id) : undefined;
    if (found) return found[1];
  }
  return null;
}

function readResults(entry: Entry): [string, Result][] {
  const blocks = listBlocks(entryMessage(entry).content, "tool_result");
  const data = blocks.length === 1 ? ((entry.toolUseResult ?? null) as Json) : null;
  return blocks.map((block) => [
    string(block.tool_use_id),
    { text: joinText(block.content), error: block.is_error === true, data },
  ]);
}

/** Each call once, also if a fork's file repeats its parent's lines. */
function inOrder(calls: ToolCall[]): ToolCall[] {
  const once = new Map<string, ToolCall>();
  for (const call of calls) if (!once.has(call.id)) once.set(call.id, call);
  return [...once.values()].reverse().sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

// ── The present turn ────────────────────────────────────────────────────────

interface WholeTurn {
  calls: ToolCall[];
  /** the id of the prompt that it began with */
  began: string;
}

/** The client writes every 100 ms: the file of a quick first turn is not even there at its stop. */
const WRITTEN_MS = 1_000;

/** How a turn stops: its id, with what it ends, and whether a stop of it was sent back before. */
interface TurnEnd {
  turn: string;
  message: string;
  continuing: boolean;
}

/** The person's present turn, once all of it has been written. */
export function readTurn(path: string, end: TurnEnd, waitMs = WRITTEN_MS): Fact<WholeTurn> {
  const read = (fd: number, size: number) => scanTurn(linesFromEnd(fd, size, REACH), end);
  const found = pollFile(path, waitMs, read, (scan) => scan.flushed);
  if (!found.ok) return found;
  const { flushed, since, began } = found.value;
  if (!flushed || since === null) return { ok: false, why: "the transcript does not show this turn" };
  const calls = readToolsSince(path, since, waitMs);
  return calls.ok ? { ok: true, value: { calls: calls.value, began } } : calls;
}

interface TurnScan {
  /** the last message is in it: so is everything before */
  flushed: boolean;
  /** when the turn began, as far as it was seen */
  since: string | null;
  began: string;
}

/**
 * Backwards: first the last message, then lines of this turn, then one of another. An agent that was sent back may claim
 * in the same words again: the trace of the stop before tells the two messages apart. A turn that began with a
 * notification continues the one before: what it is about was started there.
 */
function scanTurn(lines: Iterable<Buffer>, { turn, message, continuing }: TurnEnd): TurnScan {
  const wanted = message.trim();
  let since: string | null = null;
  let began = turn;
  let isThere = false;
  let isLast = !continuing;
  let notified = false;
  for (const line of lines) {
    if (!isThere) {
      if (endsTurn(line)) break;
      const entry = line.includes(ASSISTANT) ? mainAgentLine(line) : null;
      const text = joinText(record(entry?.message).content);
      if (text === "") continue;
      if (!text.includes(wanted)) break;
      isThere = true;
    }
    isLast ||= tracesStop(line);
    if (!line.includes(PROMPT_ID)) continue;
    const seen = line.length <= LONGEST_PROMPT ? line.toString("latin1") : "";
    const id = ID.exec(seen)?.[1] ?? began;
    if (id !== began && !notified) break;
    notified = (notified && id === began) || NOTIFIED.test(seen);
    began = id;
    since = TIME.exec(seen)?.[1] ?? since;
  }
  return { flushed: isThere && isLast, since, began };
}
