import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { splitCommand } from "../../src/kernel/text/command-line.ts";
import { AGENTS, type AgentOptions, agentFor } from "../../src/loop/agents.ts";

let bin = "";
beforeAll(() => {
  bin = realpathSync(mkdtempSync(join(tmpdir(), "pawl-agents-")));
  for (const name of [...AGENTS, "my-agent"]) program(join(bin, name));
  mkdirSync(join(bin, "own tools"));
  program(join(bin, "own tools", "claude"));
});
afterAll(() => rmSync(bin, { recursive: true, force: true }));

function program(path: string): void {
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
}

const SESSION = "5e0f1a52-6f0e-4c60-9c5c-3b1a6d6f2b11";
const options = (more: Partial<AgentOptions> = {}): AgentOptions => ({
  session: SESSION,
  root: false,
  env: { PATH: bin, HOME: "/home/person" },
  ...more,
});

function started(ai: string, more: Partial<AgentOptions> = {}) {
  const found = agentFor(ai, options(more));
  if ("error" in found) throw new Error(found.error);
  return found.agent;
}

const ARGV: [string, string, Partial<AgentOptions>, string, boolean][] = [
  [
    "claude",
    `claude -p --output-format stream-json --verbose --session-id ${SESSION} --permission-mode acceptEdits --settings {}`,
    { hooks: "{}" },
    "claude",
    true,
  ],
  ["codex", "codex exec --json --sandbox workspace-write", { hooks: "{}" }, "codex", false],
  [
    "claude",
    `claude -p --output-format stream-json --verbose --session-id ${SESSION} --permission-mode acceptEdits`,
    {},
    "claude",
    true,
  ],
  [
    "claude",
    `claude -p --output-format stream-json --verbose --session-id ${SESSION}`,
    { permissions: "settings" },
    "claude",
    true,
  ],
  [
    "claude",
    `claude -p --output-format stream-json --verbose --session-id ${SESSION} --dangerously-skip-permissions --model opus`,
    { permissions: "skip", model: "opus" },
    "claude",
    true,
  ],
  [
    "claude",
    `claude -p --output-format stream-json --verbose --session-id ${SESSION} --permission-mode acceptEdits --max-budget-usd 12.5`,
    { budget_usd: 12.5 },
    "claude",
    true,
  ],
  ["codex", "codex exec --json --sandbox workspace-write", { budget_usd: 12.5 }, "codex", false],
  [
    "codex",
    "codex exec --json --dangerously-bypass-approvals-and-sandbox",
    { permissions: "skip", root: true },
    "codex",
    false,
  ],
  ["gemini", "gemini -o json --approval-mode auto_edit", {}, "gemini", false],
  ["copilot", "copilot --no-color --allow-tool write", {}, "text", false],
  ["qwen", "qwen --approval-mode auto-edit", {}, "text", false],
  ["opencode", "opencode run --format json --model x/y", { model: "x/y" }, "opencode", false],
  ["  opencode ", "opencode run --format json", {}, "opencode", false],
  ["my-agent --flag", "my-agent --flag", {}, "text", false],
  ["claude -p", "claude -p", {}, "text", false],
  [
    "claude -p --output-format=stream-json --verbose",
    "claude -p --output-format=stream-json --verbose",
    {},
    "claude",
    false,
  ],
  ["claude -p --output-format json", "claude -p --output-format json", {}, "claude", false],
  ["codex exec --json -", "codex exec --json -", {}, "codex", false],
  ["codex --json", "codex --json", {}, "text", false],
  ["gemini --output-format json", "gemini --output-format json", {}, "gemini", false],
];

test.each(ARGV)("%s → %s", (ai, argv, more, format, bound) => {
  const agent = started(ai, more);
  expect(agent.argv).toEqual([join(bin, argv.split(" ")[0]!), ...argv.split(" ").slice(1)]);
  expect<string>(agent.format).toBe(format);
  expect(agent.session).toBe(bound ? SESSION : null);
});

describe("a command line", () => {
  test("may name its program by a path with spaces", () => {
    const agent = started(`'${bin}/own tools/claude' --output-format stream-json`);
    expect(agent.argv[0]).toBe(`${bin}/own tools/claude`);
    expect(agent).toMatchObject({ name: "claude", format: "claude", session: null });
  });

  const WORDS: [string, string[]][] = [
    ["my-agent --flag 'a b'", ["my-agent", "--flag", "a b"]],
    ['my-agent "a \\"b\\" \\$5 \\n" x', ["my-agent", 'a "b" $5 \\n', "x"]],
    ["my-agent a\\ b ''", ["my-agent", "a b", ""]],
    ["my-agent --say='it is'\"n't\"", ["my-agent", "--say=it isn't"]],
    ["  my-agent\t-x\n -y ", ["my-agent", "-x", "-y"]],
    ["my-agent '$HOME' '|' '#x'", ["my-agent", "$HOME", "|", "#x"]],
    ["my-agent *.md {a,b}", ["my-agent", "*.md", "{a,b}"]],
  ];
  test.each(WORDS)("%s", (line, words) => expect(splitCommand(line)).toEqual({ words }));

  test.each([
    ["my-agent 'a b", "' in the command line is not closed"],
    ['my-agent "a b', '" in the command line is not closed'],
    ["my-agent \\", "ends with a backslash"],
    ["my-agent | tee x", "`|` in the command line"],
    ["my-agent && other", "`&` in the command line"],
    ["my-agent > x", "`>` in the command line"],
    ["my-agent $HOME", "`$` in the command line"],
    ['my-agent "`id`"', "`` ` `` in double quotes".replaceAll("`` ` ``", "```")],
    ["", "names no program"],
    ["   ", "names no program"],
    ["''", "names no program"],
    ["KEY=1 my-agent", "only shells set variables"],
    ["~/bin/my-agent", "only shells know what ~ is"],
  ])("%s is refused", (line, why) => {
    const split = splitCommand(line) as { error: string; hint: string };
    expect(split.error).toContain(why);
    expect(split.hint.length).toBeGreaterThan(0);
  });
});

describe("refused with the remedy", () => {
  test("an agent that is not there", () => {
    const found = agentFor("codex", options({ env: { PATH: "/nonexistent" } }));
    expect(found).toEqual({
      error: "codex was not found on the PATH",
      hint: expect.stringContaining("npm install -g @openai/codex"),
    });
  });

  test("a program that is not there, or none", () => {
    writeFileSync(join(bin, "plain.txt"), "");
    for (const path of [`${bin}/nonesuch`, `${bin}/plain.txt`])
      expect(agentFor(path, options())).toEqual({
        error: `${path} was not found`,
        hint: expect.stringContaining("PATH"),
      });
  });

  test("Claude Code without permissions as root", () => {
    const found = agentFor("claude", options({ root: true, permissions: "skip" }));
    expect(found).toEqual({
      error: "Claude Code does not skip permissions for root",
      hint: expect.stringContaining("permissions.allow"),
    });
  });
});

test("nothing of a surrounding session is handed on, everything else is", () => {
  const nested = {
    CLAUDECODE: "1",
    CLAUDE_CODE_SESSION_ID: "x",
    CLAUDE_CODE_ENTRYPOINT: "cli",
    AI_AGENT: "x",
    GEMINI_CLI: "1",
    CLAUDE_CODE_CHILD_SESSION: "1",
    CLAUDE_CODE_MESSAGING_TOKEN: "secret",
    CLAUDE_CODE_MESSAGING_SOCKET: "/tmp/cc-socks/1.sock",
    CLAUDE_CODE_SESSION_ATTENDED: "0",
    CLAUDE_PID: "1",
  };
  const own = {
    PATH: bin,
    HOME: "/home/person",
    ANTHROPIC_API_KEY: "k",
    CLAUDE_CONFIG_DIR: "/c",
    CLAUDE_CODE_USE_BEDROCK: "1",
  };
  const given = { ...nested, ...own };
  expect(started("claude", { env: given }).env).toEqual(own);
  expect(given.CLAUDECODE).toBe("1");
});
