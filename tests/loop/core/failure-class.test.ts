/** Texts that clients end with, and what may follow from them. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentReport, readOutput } from "../../../src/loop/core/agent-output.ts";
import { classify, type Ending, type FailureClass } from "../../../src/loop/core/failure-class.ts";

const SAID: AgentReport = { message: null, cost_usd: null, tokens: null, session: null, error: null, limit: null };
const ending = (more: Partial<Ending>): Ending => ({ how: "exited", exit: 1, said: SAID, text: "", ...more });

const TEXTS: [FailureClass, string][] = [
  // Claude Code
  ["config", "Invalid API key · Fix external API key"],
  ["config", "Not logged in · Please run /login"],
  ["config", "Failed to authenticate. API Error: 401 invalid x-api-key"],
  ["config", "OAuth token has expired. Please obtain a new token or refresh your existing token."],
  ["config", "error: unknown option '--nonesuch'"],
  ["config", "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"],
  ["config", "There's an issue with the selected model (claude-x). It may not exist or you may not have access to it."],
  ["config", "Credit balance is too low"],
  ["config", "You've hit your monthly spend limit."],
  ["config", "Error: Session ID 5e0f1a52-6f0e-4c60-9c5c-3b1a6d6f2b11 is already in use."],
  ["limit", "Claude AI usage limit reached|1736539200"],
  ["limit", "You've hit your session limit · resets 3pm (Europe/Berlin)"],
  ["limit", "You've hit your weekly limit · resets Mar 9, 9am (Europe/Berlin)"],
  ["limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit."],
  ["infra", "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment."],
  ["infra", "API Error: 500 Internal server error. This is a server-side issue, usually temporary."],
  ["infra", "API Error: Unable to connect to API (ConnectionRefused)"],
  ["infra", "API Error: Unable to connect to API (ECONNRESET)"],
  ["infra", "API Error: Request timed out."],
  ["agent", "API Error: 400 messages.3: tool_use ids were found without tool_result blocks"],
  ["agent", "Prompt is too long"],
  ["agent", "Reached maximum number of turns (2)"],
  // Codex
  ["config", "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header"],
  ["config", "error: unexpected argument '--nonesuch' found"],
  ["config", "Not inside a trusted directory and --skip-git-repo-check was not specified."],
  ["config", "The model `gpt-nonesuch` does not exist or you do not have access to it."],
  ["config", "Quota exceeded. Check your plan and billing details. (insufficient_quota)"],
  ["limit", "You've hit your usage limit. Upgrade to Pro or try again in 3 days 4 hours 2 minutes."],
  ["limit", "exceeded retry limit, last status: 429 Too Many Requests"],
  ["infra", "stream disconnected before completion: error sending request for url (https://example.com/v1/responses)"],
  ["infra", "unexpected status 503 Service Unavailable"],
  // Gemini
  ["config", "Please set an Auth method in your /home/person/.gemini/settings.json or specify GEMINI_API_KEY"],
  ["config", "API key not valid. Please pass a valid API key."],
  ["config", "Unknown arguments: nonesuch"],
  ["config", "models/gemini-nonesuch is not found for API version v1beta: model not found"],
  ["limit", "You exceeded your current quota, please check your plan. Please retry in 35.2s."],
  [
    "limit",
    "TerminalQuotaError: You have exhausted your capacity on this model. Your quota will reset after 10h23m14s.",
  ],
  ["limit", '{"code":429,"status":"RESOURCE_EXHAUSTED"}'.replaceAll('"', "'")],
  ["infra", "[API Error: The model is overloaded. Please try again later. (Status: UNAVAILABLE)]"],
  ["infra", "Error: getaddrinfo EAI_AGAIN generativelanguage.googleapis.com"],
  ["agent", "Reached max session turns for this session."],
  // Copilot
  ["config", "Error: No authentication information found."],
  ["config", "error: Invalid command format. unknown option '--nonesuch'"],
  ["config", 'Error: Model "nonesuch" from --model flag is not available.'],
  ["limit", "You have exceeded your premium request allowance: quota exceeded"],
  ["limit", "Sorry, you've hit a rate limit. Please try again in 2 hours."],
  ["infra", "Error: fetch failed"],
  // Qwen
  ["config", "No auth type is configured. Please configure an auth type before starting."],
  ["config", "[API Error: 401 Incorrect API key provided.]"],
  ["limit", "[API Error: 429 Free allocated quota exceeded.]"],
  ["infra", "[API Error: Connection error. (cause: fetch failed)]"],
  // opencode
  ["config", "ProviderModelNotFoundError: nonesuch/nonesuch"],
  ["config", "Error: Unauthorized: missing API key"],
  ["limit", "AI_APICallError: Rate limit exceeded. Retry-After: 120"],
  ["infra", "Error: Unable to connect. Is the computer able to access the url?"],
  // any
  ["infra", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"],
  ["infra", "write: No space left on device"],
  ["infra", "502 Bad Gateway"],
  ["agent", "3 tests failed"],
  ["agent", "error: something else"],
  ["agent", "Segmentation of the text failed"],
  ["agent", ""],
];

describe("a client that ends with 1", () => {
  test.each(TEXTS)("%s: printing %s", (expected, text) => {
    expect(classify(ending({ text: `Working on it.\n${text}\n` })).class).toBe(expected);
  });

  test.each(TEXTS.filter(([, text]) => text !== ""))("%s: reporting %s", (expected, error) => {
    const found = classify(ending({ said: { ...SAID, error } }));
    expect(found.class).toBe(expected);
    expect(found.why.length).toBeGreaterThan(0);
    expect(found.remedy !== null).toBe(expected === "config");
  });
});

const CAPTURED: [string, FailureClass][] = [
  ["e401", "config"],
  ["nokey", "config"],
  ["e404", "config"],
  ["e429", "limit"],
  ["e529", "infra"],
  ["net", "infra"],
  ["maxturns", "agent"],
  ["budget", "agent"],
];

test.each(CAPTURED)("Claude Code, captured: %s is %s", (name, expected) => {
  const text = readFileSync(join(import.meta.dir, "../../fixtures/agents", `claude-${name}.jsonl`), "utf8");
  expect(classify(ending({ said: readOutput("claude", text), text })).class).toBe(expected);
});

const ENDINGS: [string, Partial<Ending>, FailureClass][] = [
  ["ended well, whatever it printed", { exit: 0, text: "Fixed: 401 Unauthorized, rate limit, ECONNREFUSED" }, "agent"],
  ["not there", { how: "not-started", exit: null, text: "no such program" }, "config"],
  ["not there, without a reason", { how: "not-started", exit: null }, "config"],
  ["no memory for it", { how: "not-started", exit: null, text: "spawn ENOMEM" }, "infra"],
  ["too slow", { how: "timeout", exit: null, text: "ECONNREFUSED" }, "agent"],
  ["interrupted", { how: "interrupted", exit: null }, "agent"],
  ["ended by a signal", { how: "killed", exit: null }, "infra"],
  [
    "ended by a signal, after an error of its own",
    { how: "killed", exit: null, said: { ...SAID, error: "Not logged in" } },
    "config",
  ],
  ["a child ended by a signal", { exit: 137 }, "infra"],
  [
    "what a tool printed is nobody's reason",
    { text: '{"type":"user","message":"401 Unauthorized: ECONNREFUSED"}\n' },
    "agent",
  ],
  ["what was said long before neither", { text: `ECONNREFUSED\n${"a line\n".repeat(9)}` }, "agent"],
];

test.each(ENDINGS)("%s", (_, more, expected) => {
  const found = classify(ending(more));
  expect(found.class).toBe(expected);
  expect(found.why.length).toBeGreaterThan(0);
});

test("a reason is one short line without control characters", () => {
  const { why } = classify(ending({ said: { ...SAID, error: `\u001b[31mbad\u0007\n${"x".repeat(5_000)}` } }));
  expect(why.length).toBeLessThanOrEqual(300);
  expect(why).not.toMatch(/[\u0000-\u001f]/);
});
