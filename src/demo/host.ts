/** The part of Claude Code: real hook processes, fed with the payloads it sends, and the transcript it writes. */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanEnv, DemoFailed, type Place, runToEnd, type StartOptions } from "./place.ts";

export interface Session {
  id: string;
  transcript: string;
  /** prompt_id: one for a whole turn of the person */
  turn: string;
  /** stops in this turn; from the second on the client says stop_hook_active */
  stops: number;
}

export interface Reply {
  /** exactly what the hook printed */
  stdout: string;
  agent: string;
  person: string;
  /** the agent does not come to a stop but goes on with the text for it */
  goesOn: boolean;
}

export type Payload = Record<string, unknown>;

const MODEL = "claude-opus-4-8";

export function openSession(place: Place): Session {
  const id = randomUUID();
  const folder = place.root.replace(/[^A-Za-z0-9]/g, "-");
  return { id, transcript: join(place.home, ".claude/projects", folder, `${id}.jsonl`), turn: "", stops: 0 };
}

// ── Payloads, field for field as the client sends them ──────────────────────

const base = (place: Place, session: Session): Payload => ({
  session_id: session.id,
  transcript_path: session.transcript,
  cwd: place.root,
  ...(session.turn && { prompt_id: session.turn }),
});
const turnBase = (place: Place, session: Session): Payload => ({
  ...base(place, session),
  permission_mode: "default",
});
const effort = { effort: { level: "high" } };
const idle = { background_tasks: [], session_crons: [] };

export function started(place: Place, session: Session, source: "startup" | "compact"): Payload {
  const model = source === "startup" ? `${MODEL}[1m]` : MODEL;
  return { ...base(place, session), hook_event_name: "SessionStart", source, model };
}

export function prompted(place: Place, session: Session, prompt: string): Payload {
  session.turn = randomUUID();
  session.stops = 0;
  write(session, place, { type: "user", promptId: session.turn, message: { role: "user", content: prompt } });
  return { ...turnBase(place, session), hook_event_name: "UserPromptSubmit", prompt };
}

export function stopped(place: Place, session: Session, message: string): Payload {
  const stop_hook_active = session.stops++ > 0;
  write(session, place, spoken(message));
  const said = { stop_hook_active, last_assistant_message: message };
  return { ...turnBase(place, session), ...effort, hook_event_name: "Stop", ...said, ...idle };
}

/** The client lets a forked agent without a type write the summary; its transcript never exists. */
export function summarised(place: Place, session: Session, message: string): Payload {
  const agent_id = `a${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const folder = session.transcript.replace(/\.jsonl$/, "");
  return {
    ...turnBase(place, session),
    agent_id,
    agent_type: "",
    ...effort,
    hook_event_name: "SubagentStop",
    stop_hook_active: false,
    agent_transcript_path: join(folder, "subagents", `agent-${agent_id}.jsonl`),
    last_assistant_message: message,
    ...idle,
  };
}

export const compacting = (place: Place, session: Session): Payload => ({
  ...base(place, session),
  hook_event_name: "PreCompact",
  trigger: "auto",
  custom_instructions: null,
});

// ── Transcript ──────────────────────────────────────────────────────────────

function spoken(text: string): Payload {
  const id = `msg_${randomUUID().replaceAll("-", "")}`;
  return {
    type: "assistant",
    message: { id, type: "message", role: "assistant", model: MODEL, content: [{ type: "text", text }] },
  };
}

function write(session: Session, place: Place, line: Payload): void {
  const common = {
    parentUuid: null,
    isSidechain: false,
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
    sessionId: session.id,
    cwd: place.root,
    version: "2.1.197",
    gitBranch: "main",
    userType: "external",
    entrypoint: "cli",
  };
  mkdirSync(dirname(session.transcript), { recursive: true });
  appendFileSync(session.transcript, `${JSON.stringify({ ...common, ...line })}\n`);
}

// ── Processes ───────────────────────────────────────────────────────────────

/** Compiled, this program is its own interpreter; from source it is bun with a file. */
const self = () => (Bun.main.includes("$bunfs") || Bun.main.includes("~BUN") ? [] : [Bun.main]);
export const hookCommand = () => [process.execPath, ...self(), "hook", "claude", "--via", "local"];

export function hookInput(place: Place, payload: Payload): Required<StartOptions> {
  const env = {
    ...cleanEnv(place),
    CLAUDECODE: "1",
    CLAUDE_CODE_SESSION_ID: String(payload.session_id),
    CLAUDE_PROJECT_DIR: place.root,
    CLAUDE_CODE_ENTRYPOINT: "cli",
    CLAUDE_CODE_CHILD_SESSION: "1",
    AI_AGENT: "claude-code_2-1-197_harness",
  };
  return { env, input: `${JSON.stringify(payload)}\n` };
}

export async function callHook(place: Place, payload: Payload): Promise<Reply> {
  const { code, out, err } = await runToEnd(place, hookCommand(), hookInput(place, payload));
  const name = String(payload.hook_event_name);
  if (code !== 0) throw new DemoFailed(`the hook for ${name} ended with ${code}: ${err.trim() || "no word on stderr"}`);
  return readReply(name, out);
}

/** As the client reads it: JSON, except before a compaction, where plain text goes to the summariser. */
function readReply(name: string, stdout: string): Reply {
  if (name === "PreCompact" || stdout === "") return { stdout, agent: stdout, person: "", goesOn: false };
  const answer = parse(name, stdout);
  const context = answer.hookSpecificOutput?.additionalContext ?? "";
  const block = answer.decision === "block" ? (answer.reason ?? "") : "";
  return {
    stdout,
    agent: block || context,
    person: answer.systemMessage ?? "",
    goesOn: name === "Stop" && block + context !== "",
  };
}

interface Wire {
  decision?: string;
  reason?: string;
  systemMessage?: string;
  hookSpecificOutput?: { additionalContext?: string };
}

function parse(name: string, stdout: string): Wire {
  try {
    return JSON.parse(stdout) as Wire;
  } catch {
    throw new DemoFailed(`the hook for ${name} printed no JSON: ${stdout.slice(0, 200)}`);
  }
}
