import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MARK as CORE_MARK } from "../../../src/engine/core/guide.ts";
import { clientVersion, MARK, type ParsedEvent, parseEvent } from "../../../src/hosts/claude/wire.ts";
import { eventId, hash } from "../../../src/hosts/identity.ts";
import type { EventKind } from "../../../src/kernel/types/run.ts";

const AT = "2026-03-01T10:00:00.000Z";
const COMMON = {
  session_id: "5f0c1b7e-0000-4000-8000-000000000001",
  transcript_path: "/home/ada/.claude/projects/-home-ada-app/5f0c1b7e.jsonl",
  cwd: "/home/ada/app",
  prompt_id: "turn-1",
};

function parse(fields: object): ParsedEvent {
  const parsed = parseEvent({ ...COMMON, ...fields }, AT, "project");
  if ("ignored" in parsed) throw new Error(`ignored: ${parsed.ignored}`);
  return parsed;
}

function ignored(raw: unknown): string {
  const parsed = parseEvent(raw, AT, "project");
  return "ignored" in parsed ? parsed.ignored : "";
}

const idOf = (fields: object) => parse(fields).event.id;
const stop = (fields: object) => ({ hook_event_name: "Stop", stop_hook_active: false, ...fields });

const MAPPING: [string, object, EventKind][] = [
  ["SessionStart", { source: "resume" }, { kind: "start", source: "resume" }],
  ["SessionStart", { source: "clear" }, { kind: "start", source: "clear" }],
  ["SessionStart", { source: "compact", model: "m" }, { kind: "start", source: "compact" }],
  ["SessionStart", { source: "teleport" }, { kind: "start", source: "startup" }],
  ["SessionStart", { source: 7 }, { kind: "start", source: "startup" }],
  ["UserPromptSubmit", { prompt: "fix it" }, { kind: "prompt", text: "fix it", injected: false, typed: false }],
  ["UserPromptSubmit", { prompt: ["fix"] }, { kind: "prompt", text: "", injected: false, typed: false }],
  ["UserPromptExpansion", { command_name: "go" }, { kind: "noticed", what: "expansion", detail: "go" }],
  ["PermissionRequest", { tool_name: "Bash" }, { kind: "noticed", what: "permission", detail: "Bash" }],
  ["Notification", { notification_type: "idle" }, { kind: "noticed", what: "notification", detail: "idle" }],
  [
    "Stop",
    { stop_hook_active: false, last_assistant_message: "ok", background_tasks: [] },
    { kind: "stop", message: "ok", continuing: false, background: 0, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { stop_hook_active: true },
    { kind: "stop", message: "", continuing: true, background: 0, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { stopHookActive: true },
    { kind: "stop", message: "", continuing: true, background: 0, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { stop_hook_active: "true" },
    { kind: "stop", message: "", continuing: false, background: 0, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { last_assistant_message: null },
    { kind: "stop", message: "", continuing: false, background: 0, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { background_tasks: [{ status: "running" }, { status: "pending" }, { status: "completed" }, null, 3, "running"] },
    { kind: "stop", message: "", continuing: false, background: 2, agents: [], scheduled: false },
  ],
  [
    "Stop",
    { background_tasks: "running" },
    { kind: "stop", message: "", continuing: false, background: 0, agents: [], scheduled: false },
  ],
  [
    "SubagentStop",
    { agent_id: "a1", agent_type: "reviewer", last_assistant_message: "fine" },
    { kind: "sub_stop", agent: "reviewer", message: "fine" },
  ],
  ["StopFailure", { error: "rate_limit" }, { kind: "stop_failed", error: "rate_limit" }],
  ["StopFailure", { error: {} }, { kind: "stop_failed", error: "unknown" }],
  ["PreCompact", { trigger: "auto", custom_instructions: null }, { kind: "compacting", trigger: "auto" }],
  ["SessionEnd", { reason: "other" }, { kind: "ended", reason: "other", client: "" }],
];

describe("payload → event", () => {
  test.each(MAPPING)("%s %j", (name, fields, kind) => {
    const { event, ...around } = parse({ hook_event_name: name, ...fields });
    const { id, at, host, session, turn, via, ...own } = event;
    expect(own as EventKind).toEqual(kind);
    expect({ at, host, session, turn, via }).toEqual({
      at: AT,
      host: "claude",
      session: COMMON.session_id,
      turn: "turn-1",
      via: "project",
    });
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(around).toEqual({ name, transcript: COMMON.transcript_path, cwd: COMMON.cwd });
  });

  test.each([
    ["an event we do not know", { hook_event_name: "PreToolUse" }],
    ["a name every object has", { hook_event_name: "constructor" }],
    ["no name", {}],
    ["a name that is no string", { hook_event_name: ["Stop"] }],
    ["a compaction's SubagentStop", { hook_event_name: "SubagentStop", agent_id: "a1", agent_type: "" }],
    ["SubagentStop without a type", { hook_event_name: "SubagentStop", agent_id: "a1" }],
    ["a prompt inside a sub-agent", { hook_event_name: "UserPromptSubmit", agent_id: "a1", prompt: "x" }],
    ["a Stop inside a sub-agent", stop({ agent_id: 4 })],
    ["a list", [stop({})]],
    ["null", null],
    ["text", "Stop"],
  ])("ignored: %s", (_what, raw) => {
    expect(ignored(raw)).not.toBe("");
  });

  test("the main thread of `--agent` has a type but no id, and counts", () => {
    expect(parse(stop({ agent_type: "planner" })).event.kind).toBe("stop");
  });

  test.each([undefined, "", null, 12, {}, "x".repeat(129), "../../etc/x", "a b", "a\0"])(
    "session id %j → no session",
    (session_id) => {
      expect(parse(stop({ session_id })).event.session).toBe("");
    },
  );

  test.each([undefined, "", 5, null, {}, "a\0b", `/${"x".repeat(5000)}`])("path %j → null", (value) => {
    const { transcript, cwd } = parse(stop({ transcript_path: value, cwd: value }));
    expect([transcript, cwd]).toEqual([null, null]);
  });

  test("a turn that is no text is none", () => {
    expect(parse(stop({ prompt_id: 3 })).event.turn).toBe("");
  });

  test("of a huge message the end is kept, of a huge prompt the start", () => {
    const { event } = parse(stop({ last_assistant_message: `a${"b".repeat(3 << 20)}z` }));
    expect(event.kind === "stop" && [event.message.length, event.message.at(-1)]).toEqual([1 << 20, "z"]);
    const prompt = parse({ hook_event_name: "UserPromptSubmit", prompt: `a${"b".repeat(3 << 20)}` }).event;
    expect(prompt.kind === "prompt" && [prompt.text.length, prompt.text[0]]).toEqual([1 << 20, "a"]);
  });

  test("nothing makes it throw", () => {
    const names = fc.constantFrom(...MAPPING.map(([name]) => name));
    const keys = ["source", "prompt", "background_tasks", "agent_type", "agent_id", "session_id", "error", "cwd"];
    const fields = fc.record(Object.fromEntries(keys.map((key) => [key, fc.anything()])), { requiredKeys: [] });
    fc.assert(fc.property(fc.anything(), (raw) => void parseEvent(raw, AT, "user")));
    fc.assert(
      fc.property(names, fields, (hook_event_name, rest) => void parseEvent({ hook_event_name, ...rest }, AT, "user")),
    );
  });
});

describe("as 2.1.325 sends them", () => {
  const sent = (name: string) => require(`../../fixtures/claude-2.1.325/${name}.json`);
  const BACKGROUND = { id: "a70e1b26c3814fa96", name: "general-purpose" };
  test.each<[string, object]>([
    ["Stop.first", { background: 0, agents: [], scheduled: false }],
    ["Stop.first.background-subagent", { background: 1, agents: [BACKGROUND] }],
    ["SubagentStop.agent.async", { kind: "sub_stop", agent: "general-purpose", message: "Sub answer: hello" }],
    ["UserPromptSubmit.task-notification-agent", { injected: true, typed: false }],
    ["UserPromptSubmit.asyncRewake", { injected: true, typed: false }],
    ["SessionStart.fork", { kind: "start", source: "fork" }],
    ["SessionStart.clear.interactive", { kind: "start", source: "clear", turn: "" }],
    ["SessionEnd.clear", { kind: "ended", reason: "clear" }],
  ])("%s", (name, event) => {
    expect(parse({ prompt_id: undefined, ...sent(name) }).event).toMatchObject(event);
  });

  test("only sub-agents and workflows do work that a claim may rest on", () => {
    const types = ["subagent", "workflow", "shell", "monitor", undefined];
    const background_tasks = types.map((type, at) => ({ id: `t${at}`, type, status: "running", description: "look" }));
    const agents = ["t0", "t1"].map((id) => ({ id, name: "look" }));
    expect(parse(stop({ background_tasks })).event).toMatchObject({ background: 5, agents });
  });

  test("the client's own prompts", () => {
    expect(parse(stop({ session_crons: [{ id: "c" }] })).event).toMatchObject({ scheduled: true });
    const from = (source?: string) => {
      const { event } = parse({ hook_event_name: "UserPromptSubmit", prompt: "/approve", source });
      return event.kind === "prompt" && [event.injected, event.typed];
    };
    expect(from("user")).toEqual([false, true]);
    expect(from("sdk")).toEqual([false, false]);
    for (const source of ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "new"])
      expect(from(source)).toEqual([true, false]);
    expect(from()).toEqual([false, false]);
  });
});

describe("prompts nobody typed", () => {
  test("the mark we look for is the mark core writes", () => {
    expect(MARK).toBe(CORE_MARK);
  });

  test.each([
    `${MARK} go on`,
    "<task-notification>\n<summary>x</summary>",
    "<system-reminder>x",
    "\n  <system-reminder>x",
    "<command-message>x",
    "<command-name>/x",
    "<local-command-stdout>x",
    "Stop hook feedback:\nx",
    "[Request interrupted by user]",
  ])("injected: %j", (prompt) => {
    expect(parse({ hook_event_name: "UserPromptSubmit", prompt }).event).toMatchObject({ injected: true });
  });

  test.each(["", "go", "/complete-work", "what is <system-reminder>?", "pawl", "<b>x</b>"])("typed: %j", (prompt) => {
    expect(parse({ hook_event_name: "UserPromptSubmit", prompt }).event).toMatchObject({ injected: false });
  });
});

describe("identity", () => {
  const same = stop({ last_assistant_message: "done" });

  test("the same event by two ways has one id, at any time", () => {
    const other = parseEvent({ ...COMMON, ...same, effort: { level: "low" } }, "2027-01-01T00:00:00Z", "plugin");
    expect("event" in other && other.event.id).toBe(idOf(same));
  });

  test.each([
    ["message", stop({ last_assistant_message: "done." })],
    ["continuing", stop({ last_assistant_message: "done", stop_hook_active: true })],
    ["session", stop({ last_assistant_message: "done", session_id: "s2" })],
    ["turn", stop({ last_assistant_message: "done", prompt_id: "turn-2" })],
    ["kind", { hook_event_name: "UserPromptSubmit", prompt: "done" }],
  ])("another %s is another event", (_what, fields) => {
    expect(idOf(fields)).not.toBe(idOf(same));
  });

  test("two sub-agents of one type that say the same are two", () => {
    const sub = { hook_event_name: "SubagentStop", agent_type: "reviewer", last_assistant_message: "fine" };
    expect(idOf({ ...sub, agent_id: "a1" })).not.toBe(idOf({ ...sub, agent_id: "a2" }));
  });

  test("parts do not run into each other", () => {
    expect(hash("ab", "c")).not.toBe(hash("a", "bc"));
    expect(hash("a")).not.toBe(hash("a", ""));
    expect(hash("1:a")).not.toBe(hash("", "a"));
    expect(eventId("claude", "s", "t", "stop", "x")).toBe(hash("claude", "s", "t", "stop", "x"));
  });
});

test("the hot path loads nothing but the hash", async () => {
  const imports = async (file: string) => {
    const source = await Bun.file(new URL(`../../../src/hosts/${file}`, import.meta.url)).text();
    return new Bun.Transpiler({ loader: "ts" }).scanImports(source).map(({ path }) => path);
  };
  expect(await imports("claude/wire.ts")).toEqual(["../identity.ts"]);
  expect(await imports("identity.ts")).toEqual([]);
});

test.each([
  ["claude-code_2-1-197_harness", "2.1.197"],
  ["claude-code_2-1-197", "2.1.197"],
  ["claude-code_2-1_harness", null],
  ["other_2-1-197_harness", null],
  ["claude-code_2-1-197-beta_harness", null],
  ["", null],
  [undefined, null],
])("AI_AGENT=%s is version %s", (AI_AGENT, version) => {
  expect(clientVersion({ AI_AGENT })).toBe(version);
});
