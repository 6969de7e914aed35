/** What Claude Code prints; the files are captured from 2.1.197. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentReport, readOutput } from "../../../src/loop/core/agent-output.ts";

const captured = (name: string) =>
  readFileSync(join(import.meta.dir, "../../fixtures/agents", `claude-${name}.jsonl`), "utf8");
const SESSION = "5e0f1a52-6f0e-4c60-9c5c-3b1a6d6f2b11";
const jsonl = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");

const CLAUDE: [string, Partial<AgentReport>][] = [
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
  // 2.1.325: a sub-agent in the background, so two results: the last one counts
  ["background", { message: "after notification", cost_usd: 0.0032, tokens: { in: 400, out: 80 }, error: null }],
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
  ["budget", { message: "", cost_usd: 0.003, error: "Reached maximum budget ($0.0025)", limit: null }],
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

const STREAMS: [string, string, Partial<AgentReport>][] = [
  [
    "Claude: killed after its last word",
    jsonl(assistant([text("Done. <promise>SUCCESS</promise>")])),
    { message: "Done. <promise>SUCCESS</promise>" },
  ],
  [
    "Claude: one message in several lines",
    jsonl(assistant([{ type: "thinking", thinking: "<promise>FAILURE</promise>" }]), assistant([text("Done.")])),
    { message: "Done." },
  ],
  [
    "Claude: killed while it went on working",
    jsonl(assistant([text("<promise>SUCCESS</promise>")]), assistant([call])),
    { message: "" },
  ],
  [
    "Claude: a sub-agent spoke last",
    jsonl(
      assistant([text("Waiting.")], { message: { id: "m0", role: "assistant", content: [text("Waiting.")] } }),
      assistant([text("<promise>SUCCESS</promise>")], { parent_tool_use_id: "toolu_1" }),
    ),
    { message: "Waiting." },
  ],
  [
    "Claude: a hook had the last word",
    jsonl(
      assistant([text("<promise>SUCCESS</promise>")]),
      { type: "user", isSynthetic: true, message: { role: "user", content: "Stop hook feedback:\ngo on" } },
      { type: "result", subtype: "success", is_error: false, result: "", total_cost_usd: 1.5 },
    ),
    { message: "<promise>SUCCESS</promise>", cost_usd: 1.5 },
  ],
  [
    "Claude: the last of several results",
    jsonl(
      { type: "result", subtype: "success", is_error: false, result: "first", total_cost_usd: 1 },
      { type: "result", subtype: "success", is_error: false, result: "second", total_cost_usd: 2 },
    ),
    { message: "second", cost_usd: 2 },
  ],
  [
    "Claude: the limit of a plan",
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
    jsonl({ type: "result", is_error: false, result: "The usage limit reached page is done." }),
    { limit: null, error: null },
  ],
  [
    "Claude: costs that are none",
    jsonl({ type: "result", is_error: false, result: "x", total_cost_usd: -3, usage: { input_tokens: "many" } }),
    { cost_usd: null, tokens: { in: 0, out: 0 } },
  ],
  ["Claude: only a complaint", "error: unknown option '--nonesuch'\n", { message: null, error: null }],
  ["Claude: nothing at all", "", { message: null, error: null }],
  [
    "Claude: nothing but the end of what a tool printed",
    'one\\n<promise>SUCCESS</promise>","is_error":false}]},"tool_use_result":{"type":"text"}}\n',
    { message: "" },
  ],
];

test.each(STREAMS)("%s", (_, tail, expected) => {
  expect(readOutput("claude", tail)).toMatchObject(expected);
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
