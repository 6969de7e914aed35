/**
 * One transcript, line by line, folded into turns. Lines that cannot matter are passed over by a search for bytes:
 * inside a JSON text a quotation mark is always escaped, so `"tool_result"` is found only where it means that.
 */

import { changesOf, isEditor } from "../../checks/evidence/edits.ts";
import { type Entry, parseLine, record, string, textOf } from "../../hosts/claude/entry.ts";
import type { Json, ToolCall } from "../../kernel/types/run.ts";
import { judgeWeights, type TurnJudgement, type Weight, weigh } from "../core/turns.ts";
import { claimOf, isPersonsPrompt } from "./entries.ts";

export interface Turn {
  at: string;
  cwd: string;
  claim: string;
  judged: TurnJudgement;
  /** the same in every file that repeats the turn, as forks do */
  key: string;
}

interface Open {
  at: string;
  cwd: string;
  key: string;
  promptId: string;
  weights: Weight[];
  pending: Map<string, ToolCall>;
  /** lines with text behind the last tool call: the newest of them are the agent's last message */
  texts: Buffer[];
}

export interface Fold {
  open: Open | null;
  /** what the sub-agents did, in order of time; each belongs to the turn it happened in */
  agents: Weight[];
  counts(path: string): boolean;
  emit(turn: Turn): void;
}

const TOOL_RESULT = Buffer.from('"tool_result"');
const TOOL_USE = Buffer.from('"tool_use"');
const TOOL_USE_ID = Buffer.from('"tool_use_id"');
const ASSISTANT = Buffer.from('"assistant"');
const USER = Buffer.from('"user"');
const TEXT = Buffer.from('"text"');
const SIDECHAIN = Buffer.from('"isSidechain":true');
const LOOKS = ["Read", "Grep", "Glob", "LS", "TodoWrite", "WebFetch"].map((name) => Buffer.from(`"name":"${name}"`));
const ERROR = /"is_error":\s*true/;
const QUOTE = 34;
/** a message has few text blocks, and no more of them matter */
const MOST_TEXTS = 16;
const LONGEST_TEXT = 1024 * 1024;

export function takeLine(fold: Fold, line: Buffer): void {
  if (line.includes(TOOL_RESULT)) takeResult(fold.open, line);
  else if (line.includes(ASSISTANT)) {
    if (line.includes(TOOL_USE)) takeCall(fold.open, line, "main");
    else if (fold.open !== null && line.length <= LONGEST_TEXT && line.includes(TEXT)) takeText(fold.open, line);
  } else if (line.includes(USER)) takePrompt(fold, line);
}

/** The last turn has no prompt behind it. */
export function endFold(fold: Fold): void {
  closeTurn(fold, "\uffff");
}

/** A sub-agent's own file: only what it did counts, not what it said. */
export function agentFold(): { take(line: Buffer): void; end(): Weight[] } {
  const open: Open = { at: "", cwd: "", key: "", promptId: "", weights: [], pending: new Map(), texts: [] };
  return {
    take(line) {
      if (line.includes(TOOL_RESULT)) takeResult(open, line);
      else if (line.includes(ASSISTANT) && line.includes(TOOL_USE)) takeCall(open, line, "agent");
    },
    end() {
      settle(open);
      return open.weights;
    },
  };
}

// ── Lines ───────────────────────────────────────────────────────────────────

function takeText(open: Open, line: Buffer): void {
  open.texts.push(Buffer.from(line));
  if (open.texts.length > MOST_TEXTS) open.texts.shift();
}

function takeCall(open: Open | null, line: Buffer, whose: "main" | "agent"): void {
  if (open === null) return;
  if (isIdle(line)) {
    if (whose === "main" && !line.includes(SIDECHAIN)) open.texts = [];
    return;
  }
  const entry = parseLine(line);
  if (entry?.type !== "assistant") return;
  if (whose === "main" && entry.isSidechain !== true) open.texts = [];
  const { content } = record(entry.message);
  for (const block of Array.isArray(content) ? content.map(record) : []) {
    if (block.type === "tool_use") noteCall(open, callOf(block, string(entry.timestamp), whose));
  }
}

/** One call of a tool that only looks: most are, and need not be parsed. */
function isIdle(line: Buffer): boolean {
  const first = line.indexOf(TOOL_USE);
  return line.indexOf(TOOL_USE, first + 1) < 0 && LOOKS.some((name) => line.includes(name));
}

function callOf(block: Entry, at: string, agent: string): ToolCall {
  const name = string(block.name);
  const input = isEditor(name) ? onlyNames(record(block.input)) : ((block.input ?? null) as Json);
  return { id: string(block.id), name, input, result: null, at, agent: agent === "main" ? "" : agent };
}

/** What was written may be long; where is all that counts. */
const onlyNames = (input: Entry): Json =>
  Object.fromEntries(
    Object.entries(input).filter(([, value]) => typeof value === "string" && value.length < 1024),
  ) as Json;

function noteCall(open: Open, call: ToolCall): void {
  if (call.id !== "" && changesOf(call).length > 0) open.pending.set(call.id, call);
}

function takeResult(open: Open | null, line: Buffer): void {
  if (open === null || open.pending.size === 0) return;
  for (let at = line.indexOf(TOOL_USE_ID); at >= 0; at = line.indexOf(TOOL_USE_ID, at + TOOL_USE_ID.length)) {
    const call = open.pending.get(idAt(line, at + TOOL_USE_ID.length));
    if (call) finish(open, call, resultOf(call, line));
  }
}

function idAt(line: Buffer, from: number): string {
  const begin = line.indexOf(QUOTE, from) + 1;
  const end = line.indexOf(QUOTE, begin);
  return begin > 0 && end > begin && end - begin <= 200 ? line.toString("latin1", begin, end) : "";
}

/** The result of an edit can hold the whole file twice, and says only whether it succeeded. */
function resultOf(call: ToolCall, line: Buffer): ToolCall["result"] {
  if (isEditor(call.name)) {
    const head = line.toString("latin1", 0, Math.min(line.length, 4096));
    return { text: "", error: ERROR.test(head), data: null };
  }
  const entry = parseLine(line);
  const { content } = record(entry?.message);
  const blocks = Array.isArray(content) ? content.map(record).filter((block) => block.type === "tool_result") : [];
  const block = blocks.find((one) => one.tool_use_id === call.id);
  if (!block) return null;
  const data = blocks.length === 1 ? ((entry?.toolUseResult ?? null) as Json) : null;
  return { text: textOf(block.content), error: block.is_error === true, data };
}

function finish(open: Open, call: ToolCall, result: ToolCall["result"]): void {
  open.pending.delete(call.id);
  const weight = weigh({ ...call, result });
  if (weight !== null) open.weights.push(weight);
}

function settle(open: Open): void {
  for (const call of [...open.pending.values()]) finish(open, call, null);
}

// ── Turns ───────────────────────────────────────────────────────────────────

function takePrompt(fold: Fold, line: Buffer): void {
  const entry = parseLine(line);
  if (entry === null || !isPersonsPrompt(entry)) return;
  const promptId = string(entry.promptId);
  if (promptId !== "" && promptId === fold.open?.promptId) return;
  const at = string(entry.timestamp);
  closeTurn(fold, at);
  const key = `${at} ${textOf(record(entry.message).content).slice(0, 200)}`;
  fold.open = { at, cwd: string(entry.cwd), key, promptId, weights: [], pending: new Map(), texts: [] };
}

function closeTurn(fold: Fold, end: string): void {
  const { open } = fold;
  fold.open = null;
  if (open === null) return;
  settle(open);
  const agents = fold.agents.filter((weight) => weight.at >= open.at && weight.at < end);
  const weights = [...open.weights, ...agents];
  if (open.texts.length === 0 || !weights.some(hasEdit)) return;
  const judged = judgeWeights(
    weights.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    fold.counts,
  );
  const claim = judged.edited.length === 0 ? null : claimOf(open.texts);
  if (claim !== null) fold.emit({ at: open.at, cwd: open.cwd, key: open.key, claim, judged });
}

const hasEdit = (weight: Weight) => weight.edited.length + weight.after.length > 0;
