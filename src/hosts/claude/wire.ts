/**
 * Claude Code's wire format, in and out. On the hottest path: it imports nothing but the hash.
 * An unarmed hook must not even load node:fs.
 */

import type { Answer, Event, EventBase, EventKind, RunningAgent, StartSource } from "../../kernel/types/run.ts";
import { eventId } from "../identity.ts";

/** Begins every text Pawl gives the agent, so that it is known when the host hands it back as a prompt. */
export const MARK = "[pawl]";
/** The first client known (measured) to go on after a Stop hook's additionalContext. */
export const CONTEXT_SINCE = [2, 1, 197] as const;
/** Longer context and system messages are replaced by a file reference in the client. */
export const CONTEXT_LIMIT = 10_000;

const TEXT_LIMIT = 1024 * 1024;
const NAME_LIMIT = 200;
const PATH_LIMIT = 4096;
const SESSION_ID = /^(?!\.)[A-Za-z0-9._-]{1,128}$/;
const GO_ON = `${MARK} Go on with the current step.`;

type Fields = Record<string, unknown>;
type Body = { kind: EventKind; key: string[] };

export interface ParsedEvent {
  event: Event;
  /** hook_event_name: the answer has to name it */
  name: string;
  transcript: string | null;
  cwd: string | null;
}

// ── In ──────────────────────────────────────────────────────────────────────

export function parseEvent(raw: unknown, at: string, via: string): ParsedEvent | { ignored: string } {
  if (typeof raw !== "object" || raw === null) return { ignored: "the payload is not an object" };
  const fields = raw as Fields;
  const name = text(fields, "hook_event_name", NAME_LIMIT);
  if (name !== "SubagentStop" && isInsideSubagent(fields)) return { ignored: `${name} inside a sub-agent` };
  const body = readBody(name, fields);
  if (typeof body === "string") return { ignored: body };
  const event = { ...readBase(fields, at, via, body), ...body.kind };
  return { event, name, transcript: path(fields, "transcript_path"), cwd: path(fields, "cwd") };
}

function readBase(fields: Fields, at: string, via: string, body: Body): EventBase {
  const session = text(fields, "session_id", NAME_LIMIT);
  const base = { at, host: "claude", session: SESSION_ID.test(session) ? session : "", via };
  const turn = text(fields, "prompt_id", NAME_LIMIT);
  return { ...base, turn, id: eventId(base.host, base.session, turn, body.kind.kind, ...body.key) };
}

/** The event's own part and what identifies it, or why it is none of our business. */
function readBody(name: string, fields: Fields): Body | string {
  switch (name) {
    case "SessionStart":
      return readStart(fields);
    case "UserPromptSubmit":
      return readPrompt(fields);
    case "Stop":
      return readStop(fields);
    case "SubagentStop":
      return readSubStop(fields);
    case "StopFailure":
      return readFailure(fields);
    case "PreCompact":
      return named((trigger) => ({ kind: "compacting", trigger }), text(fields, "trigger", NAME_LIMIT));
    case "SessionEnd":
      return named((reason) => ({ kind: "ended", reason, client: "" }), text(fields, "reason", NAME_LIMIT));
    case "UserPromptExpansion":
      return noticed("expansion", text(fields, "command_name", NAME_LIMIT));
    case "PermissionRequest":
      return noticed("permission", text(fields, "tool_name", NAME_LIMIT));
    case "Notification":
      return noticed("notification", text(fields, "notification_type", NAME_LIMIT));
    default:
      return name === "" ? "the payload names no event" : `${name} is of no interest`;
  }
}

function readStart(fields: Fields): Body {
  const source = text(fields, "source", NAME_LIMIT);
  const known: StartSource = isStartSource(source) ? source : "startup";
  return { kind: { kind: "start", source: known }, key: [known] };
}

function readPrompt(fields: Fields): Body {
  const prompt = text(fields, "prompt", TEXT_LIMIT);
  const source = text(fields, "source", NAME_LIMIT);
  // A program speaks through the SDK: perhaps a person's editor, perhaps not. That is no proof of either.
  const typed = source === "user";
  const injected = (source !== "" && !typed && source !== "sdk") || isInjected(prompt);
  return { kind: { kind: "prompt", text: prompt, injected, typed }, key: [prompt] };
}

function readStop(fields: Fields): Body {
  const message = ending(fields, "last_assistant_message");
  const continuing = isContinuing(fields);
  const isRunning = (task: Fields | null) => task?.status === "running" || task?.status === "pending";
  const running = Array.isArray(fields.background_tasks) ? fields.background_tasks.filter(isRunning) : [];
  const agents = running.filter(({ type }) => type === "subagent" || type === "workflow").map(readAgent);
  const scheduled = Array.isArray(fields.session_crons) && fields.session_crons.length > 0;
  const planning = fields.permission_mode === "plan" && { planning: true as const };
  const background = running.length;
  const kind: EventKind = { kind: "stop", message, continuing, background, agents, scheduled, ...planning };
  return { kind, key: [String(continuing), message] };
}

function readSubStop(fields: Fields): Body | string {
  const agent = text(fields, "agent_type", NAME_LIMIT);
  if (agent === "") return "SubagentStop of a compaction";
  const message = ending(fields, "last_assistant_message");
  const key = [agent, text(fields, "agent_id", NAME_LIMIT), String(isContinuing(fields)), message];
  return { kind: { kind: "sub_stop", agent, message }, key };
}

function readFailure(fields: Fields): Body {
  const error = text(fields, "error", NAME_LIMIT) || "unknown";
  return { kind: { kind: "stop_failed", error }, key: [error, ending(fields, "last_assistant_message")] };
}

const named = (kind: (detail: string) => EventKind, detail: string): Body => ({ kind: kind(detail), key: [detail] });

function noticed(what: string, detail: string): Body {
  return { kind: { kind: "noticed", what, detail }, key: [what, detail] };
}

function text(fields: Fields, key: string, limit: number): string {
  const value = fields[key];
  return typeof value === "string" ? value.slice(0, limit) : "";
}

/** Of a message that is too long its end is kept: that is where signals stand. */
function ending(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === "string" ? value.slice(-TEXT_LIMIT) : "";
}

function path(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === "string" && value !== "" && value.length <= PATH_LIMIT && !value.includes("\0")
    ? value
    : null;
}

function isInsideSubagent(fields: Fields): boolean {
  return fields.agent_id !== undefined && fields.agent_id !== null && fields.agent_id !== "";
}

const isContinuing = (fields: Fields): boolean => fields.stop_hook_active === true || fields.stopHookActive === true;

function isStartSource(source: string): source is StartSource {
  return ["startup", "resume", "fork", "clear", "compact"].includes(source);
}

function readAgent(task: Fields): RunningAgent {
  const name = text(task, "agent_type", NAME_LIMIT) || text(task, "description", NAME_LIMIT);
  return { id: text(task, "id", NAME_LIMIT), name: name || "a sub-agent" };
}

/** How texts begin that are where a prompt is, although no person typed them. */
const INJECTED = [
  MARK,
  "<task-notification>",
  "<system-reminder>",
  "<command-message>",
  "<command-name>",
  "<local-command-",
  "<bash-input>",
  "<bash-stdout>",
  "<bash-stderr>",
  "Caveat: The messages below",
  "<persisted-output>",
  "<teammate-message",
  "Stop hook feedback:",
  "Stop hook additional context:",
  "Stop hook blocking error from command",
  "[Request interrupted by user",
  "This session is being continued from a previous conversation",
];

export function isInjected(prompt: string): boolean {
  const start = prompt.trimStart();
  return INJECTED.some((prefix) => start.startsWith(prefix));
}

// ── Out ─────────────────────────────────────────────────────────────────────

type Output = { [key: string]: string | Output };

/** Exactly what goes to stdout for this event; "" is nothing. */
export function renderAnswer(
  name: string,
  answer: Answer,
  client: { version: string | null },
  alert: string | undefined = undefined,
): string {
  const person = { ...toPerson(answer), ...(alert && { terminalSequence: alert }) };
  switch (name) {
    case "Stop":
      return json({ ...keepGoing(answer, client.version), ...person });
    case "UserPromptSubmit":
    case "SessionStart":
      return json({ ...toAgent(name, answer.agent), ...person });
    case "PreCompact":
      return plain(answer.agent ?? "");
    case "SubagentStop":
    case "StopFailure":
    case "SessionEnd":
    case "UserPromptExpansion":
    case "PermissionRequest":
    case "Notification":
      return json(person);
    default:
      return "";
  }
}

/** Context leaves no "error" on the person's screen; a block is what every version obeys at any length. */
function keepGoing(answer: Answer, version: string | null): Output {
  if (answer.turn !== "continue") return {};
  const agent = answer.agent ?? "";
  const head = answer.reason ?? "";
  if (head === "" && agent !== "" && agent.length <= CONTEXT_LIMIT && isSince(version, CONTEXT_SINCE))
    return toAgent("Stop", agent);
  const reason = [head, agent].filter((part) => part !== "").join("\n\n");
  return { decision: "block", reason: reason === "" ? GO_ON : reason };
}

function toAgent(name: string, agent: string | undefined): Output {
  if (!agent) return {};
  return { hookSpecificOutput: { hookEventName: name, additionalContext: cut(agent) } };
}

const toPerson = (answer: Answer): Output => (answer.person ? { systemMessage: cut(answer.person) } : {});

/** JSON on a PreCompact's stdout could block the compaction; ours is always prose. */
function plain(agent: string): string {
  const prose = agent.trimStart().startsWith("{") ? `${MARK} ${agent}` : agent;
  return cut(prose).toWellFormed();
}

function cut(long: string): string {
  if (long.length <= CONTEXT_LIMIT) return long;
  const note = `\n${MARK} (cut here: ${long.length} characters, the host takes ${CONTEXT_LIMIT})`;
  const kept = long.slice(0, CONTEXT_LIMIT - note.length).replace(/[\uD800-\uDBFF]$/, "");
  return kept + note;
}

function json(output: Output): string {
  if (Object.keys(output).length === 0) return "";
  return JSON.stringify(output, (_key, value) => (typeof value === "string" ? value.toWellFormed() : value));
}

// ── Client ──────────────────────────────────────────────────────────────────

/** The client names itself to its hooks, as in AI_AGENT=claude-code_2-1-197_harness. */
export function clientVersion(env: Record<string, string | undefined>): string | null {
  const match = /^claude-code_(\d{1,6})-(\d{1,6})-(\d{1,6})(?:_|$)/.exec(env.AI_AGENT ?? "");
  return match ? `${match[1]}.${match[2]}.${match[3]}` : null;
}

/** An unknown version is none. */
export function isSince(version: string | null, first: readonly number[]): boolean {
  const match = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(version ?? "");
  if (!match) return false;
  const parts = match.slice(1).map(Number);
  const at = first.findIndex((least, i) => parts[i] !== least);
  return at < 0 || parts[at]! > first[at]!;
}
