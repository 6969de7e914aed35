/** What the other clients print, in the shapes that their makers document. */
import { expect, test } from "bun:test";
import { type AgentReport, type OutputFormat, readOutput } from "../../../src/loop/core/agent-output.ts";

const jsonl = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");

const STREAMS: [string, OutputFormat, string, Partial<AgentReport>][] = [
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
  [
    "opencode: killed while it went on working",
    "opencode",
    jsonl(
      { type: "text", sessionID: "ses_1", part: { messageID: "m1", text: "<promise>SUCCESS</promise>" } },
      { type: "tool_use", sessionID: "ses_1", part: { messageID: "m1", tool: "bash", state: { status: "running" } } },
    ),
    { message: "" },
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
