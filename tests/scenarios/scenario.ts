/** The steps of a scenario file: what is done, and what is known about it afterwards. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transcribe } from "../../src/play/client.ts";
import { trustProject } from "../harness/grant-trust.ts";
import {
  openSession,
  type Place,
  payload,
  type Ran,
  runHook,
  runPawl,
  type Session,
  shell,
  stopFields,
  transcribeMessage,
  transcribePrompt,
  transcribeReport,
  transcribeTool,
} from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { runOf } from "../harness/run-files.ts";

export interface World {
  place: Place;
  sessions: Record<string, Session>;
  current: string;
  /** the last hook call, for `again` */
  last: { payload: unknown; env: Record<string, string> } | null;
}

/** What came of a step. `event` is the hook event whose answer it is, "" where no hook was called. */
export interface Result {
  event: string;
  ran: Ran | null;
  /** PreCompact's plain text */
  summary: string;
}

export type Step = Record<string, unknown>;

const AGENT = { type: "subagent", status: "running", description: "look" };
const NOTHING: Result = { event: "", ran: null, summary: "" };

/** A step may name the session it happens in, and then one of these. */
const ACTIONS: Record<string, (world: World, value: never, step: Step) => Result> = {
  prompt: (world, text: string, step) => {
    const session = sessionOf(world);
    session.turn += 1;
    session.continuing = false;
    transcribePrompt(session, text);
    return call(world, step, "UserPromptSubmit", { prompt: text, ...(step.source ? { source: step.source } : {}) });
  },
  stop: (world, said: string | string[], step) => {
    const session = sessionOf(world);
    const blocks = [said].flat().map((text) => ({ type: "text", text: text.trimEnd() }));
    transcribeMessage(session, blocks);
    const fields = stopFields(session, blocks.at(-1)!.text, Number(step.background ?? 0));
    const agents = Object.entries(step.agents ?? {}).map(([id, agent_type]) => ({ ...AGENT, id, agent_type }));
    const background_tasks = [...fields.background_tasks, ...agents];
    const more = { background_tasks, session_crons: step.crons ?? [], ...(step.fields as object) };
    const result = call(world, step, "Stop", { ...fields, ...more });
    session.continuing = /"decision":"block"|"additionalContext"/.test(result.ran!.out);
    return result;
  },
  sub_stop: (
    world,
    { agent, message, id = `a${message.length}` }: Record<"agent" | "message" | "id", string>,
    step,
  ) => {
    transcribeReport(sessionOf(world), id, message);
    return call(world, step, "SubagentStop", {
      ...stopFields(sessionOf(world), message),
      agent_id: id,
      agent_type: agent,
    });
  },
  /** a sub-agent starts in the background: the call ends at once */
  launch: (world, { id, agent }: { id: string; agent: string }) => {
    const data = { isAsync: true, status: "async_launched", agentId: id };
    transcribeTool(sessionOf(world), "Agent", "Async agent launched successfully.", data, { subagent_type: agent });
    return NOTHING;
  },
  stop_failed: (world, error: string, step) => call(world, step, "StopFailure", { error, last_assistant_message: "" }),
  compact: (world, trigger: string, step) => {
    const before = call(world, step, "PreCompact", { trigger, custom_instructions: null });
    const fork = {
      ...stopFields(sessionOf(world), "<summary>S</summary>\n\n<promise>REVIEW_COMPLETE</promise>"),
      agent_id: "afork",
      agent_type: "",
    };
    call(world, step, "SubagentStop", fork);
    return { ...call(world, step, "SessionStart", { source: "compact" }), summary: before.ran!.out };
  },
  start: (world, source: string, step) => call(world, step, "SessionStart", { source }),
  end: (world, reason: string, step) => call(world, step, "SessionEnd", { reason }),
  notice: (world, notification_type: string, step) => call(world, step, "Notification", { notification_type }),
  again: (world, via: string) => {
    const { payload: same, env } = world.last!;
    return { ...NOTHING, event: eventOf(same), ran: runHook(world.place, same, via, { env }) };
  },
  /** the person's answer in the client's own question dialogue */
  picked: (world, label: string) => {
    transcribeTool(sessionOf(world), "AskUserQuestion", `answered: ${label}`, { answers: { "What now?": label } });
    return NOTHING;
  },
  /** the agent runs something in its shell; its output is in the transcript */
  shell_tool: (world, words: string) => {
    const session = sessionOf(world);
    const env = { CLAUDE_CODE_SESSION_ID: session.id };
    const ran = words.startsWith("pawl ") ? runPawl(world.place, words.split(" ").slice(1), { env }) : null;
    transcribeTool(session, "Bash", ran?.out ?? words);
    return { ...NOTHING, ran };
  },
  /** another program's hook has sent the agent back: its trace in the transcript */
  sent_back: (world, _by: string) => {
    const attachment = { type: "hook_additional_context", hookEvent: "Stop" };
    transcribe(sessionOf(world), { type: "attachment", attachment });
    return NOTHING;
  },
  /** the agent used a tool; only its trace in the transcript */
  tool: (world, { name, input, result }: { name: string; input: unknown; result: string }) => {
    const data = name === "Bash" ? { stdout: result, stderr: "", interrupted: false } : result;
    transcribeTool(sessionOf(world), name, result, data, JSON.parse(filled(world, JSON.stringify(input))));
    return NOTHING;
  },
  write: (world, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      const target = join(world.place.root, filled(world, path));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    return NOTHING;
  },
  remove: (world, path: string) => {
    rmSync(join(world.place.root, filled(world, path)));
    return NOTHING;
  },
  sh: (world, script: string) => {
    const ran = shell(world.place, script);
    if (ran.code !== 0) throw new Error(`${script}: exit ${ran.code}: ${ran.err}`);
    return NOTHING;
  },
  /** the person approves the commands of this project as they are now */
  trust: (world, _all: true) => {
    trustProject(world.place);
    return NOTHING;
  },
  pawl: (world, words: string) => ({ ...NOTHING, ran: runByPerson(world.place, filled(world, words).split(" ")) }),
};

export const isAction = (key: string) => key in ACTIONS;

export function perform(world: World, step: Step): Result {
  if (typeof step.session === "string") world.current = step.session;
  const keys = Object.keys(step).filter(isAction);
  if (keys.length > 1) throw new Error(`one thing at a time, not ${keys.join(" and ")}`);
  const key = keys[0];
  return key === undefined ? NOTHING : ACTIONS[key]!(world, step[key] as never, step);
}

export function sessionOf(world: World): Session {
  world.sessions[world.current] ??= openSession(world.place, world.current);
  return world.sessions[world.current]!;
}

/** `{run}`: the run of the session at hand, `{session}`: its id, `{root}`: the project's folder. */
export function filled(world: World, text: string): string {
  const run = text.includes("{run}") ? (runOf(world.place.root, sessionOf(world).id)?.id ?? "{run}") : "";
  return text
    .replaceAll("{run}", run)
    .replaceAll("{session}", sessionOf(world).id)
    .replaceAll("{root}", world.place.root);
}

function call(world: World, step: Step, event: string, fields: Record<string, unknown>): Result {
  const cwd = join(world.place.root, String(step.cwd ?? ""));
  const sent = payload(world.place, sessionOf(world), event, { cwd, ...fields });
  const env = (step.env ?? {}) as Record<string, string>;
  world.last = { payload: sent, env };
  return { event, ran: runHook(world.place, sent, "local", { env }), summary: "" };
}

const eventOf = (sent: unknown) => (sent as { hook_event_name: string }).hook_event_name;
