/** What Claude Code's transcript says: the last message in full, and the tool calls since a time. */

import type { Fact, Json, ToolCall } from "../../kernel/types/run.ts";
import { agentFiles } from "./agents.ts";
import { blocksOf, type Entry, messageId, messageOf, parseLine, record, string, textOf } from "./entry.ts";
import { describe, linesFromEnd, piecesFromEnd, pollFile } from "./tail.ts";

const REACH = 64 * 1024 * 1024;
/** all sub-agents' files of one look together */
const AGENTS_REACH = 256 * 1024 * 1024;
/** lines are not strictly in the order of their times */
const DISORDER_MS = 10_000;
/** a line without a tool is parsed only for its time; long ones are not worth it */
const SHORT_LINE = 64 * 1024;

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

function newestMessage(lines: Iterable<Buffer>): Message | null {
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
    const own = messageId(entry);
    if (id !== null && own !== id) break;
    const text = textOf(messageOf(entry).content);
    if (text.trim() === "") continue;
    id = own;
    texts.push(text);
  }
  return id === null ? null : { text: texts.reverse().join("\n"), past };
}

function mainAgentLine(line: Buffer): Entry | null {
  const entry = parseLine(line);
  if (entry?.type !== "assistant" || entry.isSidechain === true) return null;
  return isSynthetic(entry) ? null : entry;
}

/** Made by the client, not the model: API errors and fillers. */
function isSynthetic(entry: Entry): boolean {
  return entry.isApiErrorMessage === true || messageOf(entry).model === "<synthetic>";
}

/** A prompt, or the trace of a finished Stop: messages before it belong to the past. */
function endsTurn(line: Buffer): boolean {
  if (line.includes(STOP_SUMMARY)) return parseLine(line)?.subtype === "stop_hook_summary";
  if (line.includes(HOOK_CONTEXT) || line.includes(HOOK_BLOCK)) return isStopAttachment(parseLine(line));
  if (!line.includes(USER) || line.includes(TOOL_RESULT)) return false;
  const entry = parseLine(line);
  return entry?.type === "user" && entry.isSidechain !== true;
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

/** Calls made since a time, by the main agent and its sub-agents, in order of time. */
export function readToolsSince(path: string, since: string, waitMs = 300): Fact<ToolCall[]> {
  const from = Date.parse(since);
  if (Number.isNaN(from)) return { ok: false, why: `not a time: ${since}` };
  const main = scanFile(path, from, waitMs, "", REACH);
  if (!main.ok) return main;
  const agents = scanAgents(path, from);
  if (!agents.ok) return agents;
  return { ok: true, value: inOrder([...main.value.calls, ...agents.value]) };
}

function scanFile(path: string, from: number, waitMs: number, agent: string, reach: number): Fact<Scan> {
  const read = (fd: number, size: number) => scanCalls(piecesFromEnd(fd, size, reach), from, agent);
  return pollFile(path, waitMs, read, (scan) => !scan.pending);
}

/** A sub-agent that cannot be read leaves the whole unproven: it may have done what matters. */
function scanAgents(path: string, from: number): Fact<ToolCall[]> {
  const calls: ToolCall[] = [];
  let budget = AGENTS_REACH;
  try {
    for (const file of agentFiles(path, from - DISORDER_MS)) {
      const scan = scanFile(file.path, from, 0, file.agent, Math.min(REACH, budget));
      if (!scan.ok) return { ok: false, why: `sub-agent ${file.agent}: ${scan.why}` };
      calls.push(...scan.value.calls);
      budget -= Math.min(file.size, REACH, budget);
    }
    return { ok: true, value: calls };
  } catch (error) {
    return { ok: false, why: `sub-agents: ${describe(error)}` };
  }
}

/**
 * Backwards: results come before their calls, and the first line that is old enough ends it. Most of a transcript are
 * results, and few of them are ever looked at: their lines are only kept, under the ids they name.
 */
function scanCalls(pieces: Iterable<Buffer[]>, from: number, agent: string): Scan {
  const scan: Scanning = { calls: [], pending: false, results: new Map(), newest: null, from, agent };
  for (const lines of pieces) if (!scanLines(lines, scan)) break;
  return scan;
}

interface Scanning extends Scan {
  results: Results;
  /** the newest message's id */
  newest: string | null;
  from: number;
  agent: string;
}

/** false: what comes next is too old. */
function scanLines(lines: Buffer[], scan: Scanning): boolean {
  const { results, from, agent } = scan;
  for (const line of lines) {
    if (keepResult(line, results)) continue;
    const entry = chainLine(line, agent);
    if (entry === null) continue;
    const at = Date.parse(string(entry.timestamp));
    if (at < from - DISORDER_MS) return false;
    if (entry.type === "user") for (const [id] of resultsOf(entry)) keep(results, id, line);
    if (entry.type !== "assistant") continue;
    const message = messageId(entry);
    scan.newest ??= message;
    if (!(at >= from)) continue;
    const calls = callsOf(entry, agent, results);
    scan.calls.push(...calls);
    if (message === scan.newest && calls.some((call) => call.result === null)) scan.pending = true;
  }
  return true;
}

/** The lines that may hold the result of a call, the newest first. */
type Results = Map<string, Buffer[]>;

function keep(results: Results, id: string, line: Buffer): void {
  const lines = results.get(id);
  if (lines) lines.push(line);
  else results.set(id, [line]);
}

/** Quotes inside a text are escaped, so these bytes are a key wherever they stand; whose, is seen when it is asked for. */
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

/** A line of this agent's own conversation that has a tool in it, or is cheap enough to ask for its time. */
function chainLine(line: Buffer, agent: string): Entry | null {
  const hasTool = line.includes(TOOL_USE) || line.includes(TOOL_RESULT);
  const hasTime = line.length <= SHORT_LINE && (line.includes(ASSISTANT) || line.includes(USER));
  return hasTool || hasTime ? ownEntry(line, agent) : null;
}

function ownEntry(line: Buffer, agent: string): Entry | null {
  const entry = parseLine(line);
  if (entry?.type !== "assistant" && entry?.type !== "user") return null;
  return agent === "" && entry.isSidechain === true ? null : entry;
}

function callsOf(entry: Entry, agent: string, results: Results): ToolCall[] {
  const at = string(entry.timestamp);
  const by = agent === "" ? "" : string(entry.attributionAgent) || agent;
  const calls: ToolCall[] = [];
  for (const { id, name, input } of blocksOf(messageOf(entry).content, "tool_use")) {
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
    const found = entry?.type === "user" ? resultsOf(entry).findLast(([of]) => of === id) : undefined;
    if (found) return found[1];
  }
  return null;
}

function resultsOf(entry: Entry): [string, Result][] {
  const blocks = blocksOf(messageOf(entry).content, "tool_result");
  const data = blocks.length === 1 ? ((entry.toolUseResult ?? null) as Json) : null;
  return blocks.map((block) => [
    string(block.tool_use_id),
    { text: textOf(block.content), error: block.is_error === true, data },
  ]);
}

/** Each call once, also if a fork's file repeats its parent's lines. */
function inOrder(calls: ToolCall[]): ToolCall[] {
  const once = new Map<string, ToolCall>();
  for (const call of calls) if (!once.has(call.id)) once.set(call.id, call);
  return [...once.values()].reverse().sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
