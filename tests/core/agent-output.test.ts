/** What clients print. The files of Claude Code are captured from 2.1.197; the others have the documented shapes. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentSaid, type OutputFormat, readOutput } from "../../src/core/agent-output.ts";

const captured = (name: string) =>
  readFileSync(join(import.meta.dir, "../fixtures/agents", `claude-${name}.jsonl`), "utf8");
const SESSION = "5e0f1a52-6f0e-4c60-9c5c-3b1a6d6f2b11";
const jsonl = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");

const CLAUDE: [string, Partial<AgentSaid>][] = [
  [
    "normal",
    {
      message: "All tasks are done.\n\n<promise>SUCCESS</promise>\n\nNothing is left.",
      cost_usd: 0.001,
      tokens: { in: 100, out: 20 },
      session: SESSION,
      error: null,
      limit: null,
    },
  ],
  // its tool printed <promise>FAILURE</promise>
  ["tool", { message: "One task done.", cost_usd: 0.002, tokens: { in: 200, out: 40 }, error: null }],
  [
    "e401",
    {
      message: "",
      error: "Failed to authenticate. API Error: 401 scripted failure 401 (authentication_failed)",
      limit: null,
    },
  ],
  [
    "e429",
    {
      message: "",
      error: "API Error: Request rejected (429) · scripted failure 429 (rate_limit)",
      limit: "API Error: Request rejected (429) · scripted failure 429 (rate_limit)",
    },
  ],
  ["e404", { message: "", limit: null }],
  [
    "net",
    { message: "", error: "API Error: Unable to connect to API (ConnectionRefused) (server_error)", limit: null },
  ],
  ["maxturns", { message: "", cost_usd: 0.002, error: "Reached maximum number of turns (2)", limit: null }],
  ["denied", { message: "I could not.", error: null }],
  ["killed", { message: "", cost_usd: null, tokens: null, session: SESSION, error: null }],
  ["nokey", { message: "", error: "Not logged in · Please run /login (authentication_failed)" }],
];

test.each(CLAUDE)("Claude Code: %s", (name, expected) => {
  expect(readOutput("claude", captured(name))).toMatchObject(expected);
});

const assistant = (content: object[], more: object = {}) => ({
  type: "assistant",
  parent_tool_use_id: null,
  session_id: "s",
  message: { id: "m1", role: "assistant", model: "m", content },
  ...more,
});
const text = (said: string) => ({ type: "text", text: said });
const call = { type: "tool_use", id: "t", name: "Bash", input: { command: "cat notes.md" } };

const STREAMS: [string, OutputFormat, string, Partial<AgentSaid>][] = [
  [
    "Claude: killed after its last word",
    "claude",
    jsonl(assistant([text("Done. <promise>SUCCESS</promise>")])),
    { message: "Done. <promise>SUCCESS</promise>" },
  ],
  [
    "Claude: one message in several lines",
    "claude",
    jsonl(assistant([{ type: "thinking", thinking: "<promise>FAILURE</promise>" }]), assistant([text("Done.")])),
    { message: "Done." },
  ],
  [
    "Claude: killed while it went on working",
    "claude",
    jsonl(assistant([text("<promise>SUCCESS</promise>")]), assistant([call])),
    { message: "" },
  ],
  [
    "Claude: a sub-agent spoke last",
    "claude",
    jsonl(
      assistant([text("Waiting.")], { message: { id: "m0", role: "assistant", content: [text("Waiting.")] } }),
      assistant([text("<promise>SUCCESS</promise>")], { parent_tool_use_id: "toolu_1" }),
    ),
    { message: "Waiting." },
  ],
  [
    "Claude: a hook had the last word",
    "claude",
    jsonl(
      assistant([text("<promise>SUCCESS</promise>")]),
      { type: "user", isSynthetic: true, message: { role: "user", content: "Stop hook feedback:\ngo on" } },
      { type: "result", subtype: "success", is_error: false, result: "", total_cost_usd: 1.5 },
    ),
    { message: "<promise>SUCCESS</promise>", cost_usd: 1.5 },
  ],
  [
    "Claude: the last of several results",
    "claude",
    jsonl(
      { type: "result", subtype: "success", is_error: false, result: "first", total_cost_usd: 1 },
      { type: "result", subtype: "success", is_error: false, result: "second", total_cost_usd: 2 },
    ),
    { message: "second", cost_usd: 2 },
  ],
  [
    "Claude: the limit of a plan",
    "claude",
    jsonl({
      type: "result",
      subtype: "success",
      is_error: true,
      result: "You've hit your session limit · resets 3pm (Europe/Berlin)",
    }),
    { message: "", limit: "You've hit your session limit · resets 3pm (Europe/Berlin)" },
  ],
  [
    "Claude: the agent talks of a limit",
    "claude",
    jsonl({ type: "result", is_error: false, result: "The usage limit reached page is done." }),
    { limit: null, error: null },
  ],
  [
    "Claude: costs that are none",
    "claude",
    jsonl({ type: "result", is_error: false, result: "x", total_cost_usd: -3, usage: { input_tokens: "many" } }),
    { cost_usd: null, tokens: { in: 0, out: 0 } },
  ],
  ["Claude: only a complaint", "claude", "error: unknown option '--nonesuch'\n", { message: null, error: null }],
  ["Claude: nothing at all", "claude", "", { message: null, error: null }],
  [
    "Codex: work and an end",
    "codex",
    jsonl(
      { type: "thread.started", thread_id: "th_1" },
      { type: "turn.started" },
      { type: "item.completed", item: { id: "i0", type: "reasoning", text: "<promise>FAILURE</promise>" } },
      {
        type: "item.completed",
        item: {
          id: "i1",
          type: "command_execution",
          command: "cat x",
          aggregated_output: "<promise>FAILURE</promise>",
          exit_code: 0,
          status: "completed",
        },
      },
      { type: "item.completed", item: { id: "i2", type: "agent_message", text: "<promise>SUCCESS</promise>" } },
      { type: "turn.completed", usage: { input_tokens: 300, cached_input_tokens: 200, output_tokens: 40 } },
    ),
    {
      message: "<promise>SUCCESS</promise>",
      tokens: { in: 300, out: 40 },
      session: "th_1",
      cost_usd: null,
      error: null,
    },
  ],
  [
    "Codex: a failed turn",
    "codex",
    jsonl(
      { type: "item.completed", item: { type: "agent_message", text: "I begin." } },
      { type: "item.completed", item: { type: "command_execution", command: "ls", status: "completed" } },
      { type: "error", message: "stream error" },
      { type: "turn.failed", error: { message: "You've hit your usage limit. Try again in 3 hours 5 minutes." } },
    ),
    {
      message: "",
      error: "You've hit your usage limit. Try again in 3 hours 5 minutes.",
      limit: "You've hit your usage limit. Try again in 3 hours 5 minutes.",
    },
  ],
  [
    "Codex: an error that it got over",
    "codex",
    jsonl(
      { type: "error", message: "Reconnecting… 1/5" },
      { type: "item.completed", item: { type: "agent_message", text: "Done." } },
      { type: "turn.completed", usage: {} },
    ),
    { message: "Done.", error: null },
  ],
  [
    "opencode: two steps",
    "opencode",
    jsonl(
      { type: "step_start", sessionID: "ses_1", part: { messageID: "m1", type: "step-start" } },
      {
        type: "text",
        sessionID: "ses_1",
        part: { messageID: "m1", type: "text", text: "I read it. <promise>FAILURE</promise>" },
      },
      {
        type: "tool_use",
        sessionID: "ses_1",
        part: { messageID: "m1", tool: "bash", state: { status: "completed", input: { command: "ls" }, output: "x" } },
      },
      {
        type: "step_finish",
        sessionID: "ses_1",
        part: { cost: 0.25, tokens: { input: 10, output: 2, reasoning: 1, cache: { read: 5, write: 1 } } },
      },
      { type: "text", sessionID: "ses_1", part: { messageID: "m2", type: "text", text: "<promise>SUCCESS</promise>" } },
      {
        type: "step_finish",
        sessionID: "ses_1",
        part: { cost: 0.5, tokens: { input: 20, output: 4, reasoning: 0, cache: { read: 0, write: 0 } } },
      },
    ),
    {
      message: "<promise>SUCCESS</promise>",
      cost_usd: 0.75,
      tokens: { in: 36, out: 7 },
      session: "ses_1",
      error: null,
    },
  ],
  [
    "opencode: an error",
    "opencode",
    jsonl({
      type: "error",
      sessionID: "ses_1",
      error: { name: "APIError", data: { message: "Rate limit exceeded", statusCode: 429 } },
    }),
    { message: "", error: "Rate limit exceeded", limit: "Rate limit exceeded" },
  ],
  [
    "Gemini: one object after other output",
    "gemini",
    `Loaded cached credentials.\n${JSON.stringify({ session_id: "g1", response: "{ok} <promise>SUCCESS</promise>", stats: { models: { "gemini-x": { tokens: { prompt: 100, candidates: 7, thoughts: 3, cached: 50 } } } } }, null, 2)}\n`,
    { message: "{ok} <promise>SUCCESS</promise>", tokens: { in: 100, out: 10 }, session: "g1", error: null },
  ],
  [
    "Gemini: an error",
    "gemini",
    JSON.stringify(
      { error: { type: "ApiError", message: "You exceeded your current quota. Please retry in 35.2s.", code: 429 } },
      null,
      2,
    ),
    {
      message: "",
      error: "You exceeded your current quota. Please retry in 35.2s.",
      limit: "You exceeded your current quota. Please retry in 35.2s.",
    },
  ],
  ["Gemini: torn", "gemini", 'onse": "<promise>SUCCESS</promise>"\n}\n', { message: null }],
  [
    "text: anything",
    "text",
    "I did it.\n<promise>SUCCESS</promise>\n",
    { message: null, error: null, limit: null, cost_usd: null },
  ],
  [
    "text: a limit",
    "text",
    "Claude AI usage limit reached|1736539200\n",
    { message: null, limit: "Claude AI usage limit reached|1736539200" },
  ],
];

test.each(STREAMS)("%s", (_, format, tail, expected) => {
  expect(readOutput(format, tail)).toMatchObject(expected);
});

describe("a tail", () => {
  const whole = captured("tool");
  const { message, cost_usd } = readOutput("claude", whole);

  test("may be cut anywhere before its last line", () => {
    const last = whole.lastIndexOf("\n", whole.length - 2);
    for (let at = 0; at <= last; at += 7) {
      const said = readOutput("claude", whole.slice(at));
      expect([at, said.message, said.cost_usd]).toEqual([at, message, cost_usd]);
    }
  });

  test("cut in its last line says nothing that was not the agent's", () => {
    for (let at = whole.lastIndexOf("\n", whole.length - 2) + 2; at < whole.length; at += 11)
      expect(readOutput("claude", whole.slice(at)).message ?? "").toBe("");
  });

  test("may have noise between its lines", () => {
    const noisy = whole.replaceAll("\n", '\n(node:12) Warning: x\n{"torn": \n{}\n[1]\nnull\n');
    expect(readOutput("claude", noisy)).toEqual(readOutput("claude", whole));
  });
});
