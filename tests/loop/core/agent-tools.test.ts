import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toolsIn } from "../../../src/loop/core/agent-output.ts";

const captured = (name: string) =>
  readFileSync(join(import.meta.dir, "../../fixtures/agents", `claude-${name}.jsonl`), "utf8");
const jsonl = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");

test("Claude Code: what ran, what was refused, what had no result", () => {
  const tools = toolsIn("claude", captured("accept"))!;
  expect(tools.map(({ command, name, failed, denied }) => [command || name, failed, denied])).toEqual([
    ["npm test", true, true],
    ["git commit --dry-run -m x", true, true],
    ["git status", false, false],
    ["Write", false, false],
    ["Write", false, false],
    ["mkdir -p foo && echo hi > foo/x", false, false],
  ]);
  expect(toolsIn("claude", captured("killed"))).toMatchObject([{ command: "sleep 30", failed: null, denied: false }]);
});

test("Codex: commands with their end", () => {
  const item = (more: object) => ({ type: "item.completed", item: { type: "command_execution", ...more } });
  const tail = jsonl(
    item({ command: "npm test", aggregated_output: "2 pass", exit_code: 0, status: "completed" }),
    item({ command: "git commit --dry-run", exit_code: 128, status: "failed" }),
    item({ command: "rm x", status: "declined" }),
    { type: "item.completed", item: { type: "agent_message", text: "npm test" } },
  );
  expect(toolsIn("codex", tail)).toMatchObject([
    { command: "npm test", failed: false, denied: false, result: "2 pass" },
    { command: "git commit --dry-run", failed: true, denied: false },
    { command: "rm x", failed: true, denied: true },
  ]);
});

test("opencode: commands with their state", () => {
  const use = (state: object) => ({ type: "tool_use", part: { tool: "bash", state } });
  const tail = jsonl(
    use({ status: "completed", input: { command: "npm test" }, output: "2 pass" }),
    use({ status: "error", input: { command: "rm x" }, error: "The user rejected permission to use this tool" }),
    use({ status: "running", input: { command: "ls" } }),
  );
  expect(toolsIn("opencode", tail)).toMatchObject([
    { command: "npm test", failed: false, denied: false },
    { command: "rm x", failed: true, denied: true },
    { command: "ls", failed: null, denied: false },
  ]);
});

test("not every client tells", () => {
  expect(toolsIn("gemini", "{}")).toBeNull();
  expect(toolsIn("text", "x")).toBeNull();
});
