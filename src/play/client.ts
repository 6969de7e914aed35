/**
 * Plays Claude Code: the payloads it sends to its hooks, and the transcript it writes. The demo, `pawl doctor`,
 * `pawl init` and the tests talk to Pawl through this, as any client does.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** One conversation: what the client would say about it. */
export interface Session {
  id: string;
  turn: number;
  /** a stop of this turn was continued */
  continuing: boolean;
  transcript: string;
  messages: number;
}

/** What the client says of itself to its hooks and to the shells it starts. */
export const CLIENT = { AI_AGENT: "claude-code_2-1-197_harness" };

export function openSession({ home }: { home: string }, id: string): Session {
  const transcript = join(home, ".claude/projects/project", `${id}.jsonl`);
  mkdirSync(dirname(transcript), { recursive: true });
  return { id, turn: 0, continuing: false, transcript, messages: 0 };
}

// ── Payloads ────────────────────────────────────────────────────────────────

const turnId = ({ id, turn }: Session) => `${id.slice(0, 8)}-turn-${turn}`;

export function payload({ root }: { root: string }, session: Session, name: string, fields: object = {}) {
  return {
    session_id: session.id,
    transcript_path: session.transcript,
    cwd: root,
    ...(session.turn > 0 ? { prompt_id: turnId(session) } : {}),
    permission_mode: "default",
    hook_event_name: name,
    ...fields,
  };
}

export function stopFields(session: Session, message: string, background = 0) {
  const task = { id: "b1", type: "shell", status: "running", description: "server", command: "npm start" };
  return {
    stop_hook_active: session.continuing,
    last_assistant_message: message,
    background_tasks: Array.from({ length: background }, () => task),
    session_crons: [],
  };
}

/** A session that starts in a folder that is not there: no project is concerned. */
export const strayStart = (folder: string) => ({
  session_id: crypto.randomUUID(),
  transcript_path: join(folder, "none.jsonl"),
  cwd: join(folder, "none"),
  hook_event_name: "SessionStart",
  source: "startup",
});

// ── Transcript ──────────────────────────────────────────────────────────────

export function transcribe(session: Session, fields: object): void {
  const timestamp = new Date().toISOString();
  const line = { isSidechain: false, timestamp, sessionId: session.id, ...fields };
  appendFileSync(session.transcript, `${JSON.stringify(line)}\n`);
}

export function transcribePrompt(session: Session, text: string): void {
  transcribe(session, { type: "user", promptId: turnId(session), message: { role: "user", content: text } });
}

/** One message of the agent; the client writes each of its blocks as a line of its own. */
export function transcribeMessage(session: Session, blocks: object[]): void {
  session.messages += 1;
  const id = `msg_${session.messages}`;
  for (const block of blocks) {
    transcribe(session, { type: "assistant", message: { id, role: "assistant", model: "m", content: [block] } });
  }
}

// ── Answers ─────────────────────────────────────────────────────────────────

export interface Reply {
  /** exactly what the hook printed */
  stdout: string;
  agent: string;
  person: string;
  /** the agent does not stop but continues with the text it gets */
  continues: boolean;
}

/** Reads a hook's output as the client does: JSON, except before a compaction, where plain text goes to the summary. */
export function readReply(name: string, stdout: string): Reply {
  if (name === "PreCompact" || stdout === "") return { stdout, agent: stdout, person: "", continues: false };
  const answer = JSON.parse(stdout);
  const context: string = answer.hookSpecificOutput?.additionalContext ?? "";
  const block: string = answer.decision === "block" ? (answer.reason ?? "") : "";
  return {
    stdout,
    agent: block || context,
    person: answer.systemMessage ?? "",
    continues: name === "Stop" && block + context !== "",
  };
}
