import { describe, expect, test } from "bun:test";
import { openWork, type Work } from "../../../src/loop/core/agent-work.ts";
import { ownTime } from "../../harness/own-time.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const json = (...objects: object[]) => objects.map((one) => `${JSON.stringify(one)}\n`).join("");

const init = { type: "system", subtype: "init", cwd: "/home/me/shop" };
const assistant = (...content: object[]) => ({ type: "assistant", message: { content }, parent_tool_use_id: null });
const tool = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (id: string) => ({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id }] } });
const item = (type: string, fields: object) => ({ type, item: fields });

/** name, what came, what it is doing, the last line */
const TABLE: [string, string, string, string][] = [
  ["nothing yet", "", "", ""],
  ["plain text", "first\nsecond\n", "", "second"],
  ["a line still coming", "first\nseco", "", "seco"],
  ["brackets and dashes are no line", "Tests pass\n}\n-----\n\n", "", "Tests pass"],
  ["a bar that is drawn again", "10%\r20%\r30%\r", "", "30%"],
  ["colours and titles of others", "\u001b[31mred\u001b[0m \u001b]0;gotcha\u0007text\n", "", "red text"],
  ["hidden characters", "a\u202eb\u200bc\n", "", "abc"],
  ["an object that is no event", '{"name": "x"}\n', "", '{"name": "x"}'],
  ["claude: it begins", json(init), "thinking", ""],
  ["claude: it thinks", json(assistant({ type: "thinking", thinking: "hm" })), "thinking", ""],
  ["claude: it speaks", json(assistant({ type: "text", text: "One.\n\nTwo.\n" })), "writing", "Two."],
  [
    "claude: a file, named from where it works",
    json(init, assistant(tool("1", "Edit", { file_path: "/home/me/shop/src/a.ts", old_string: "x" }))),
    "Edit src/a.ts",
    "",
  ],
  ["claude: a command", json(assistant(tool("1", "Bash", { command: "npm test\n  -- x" }))), "Bash npm test -- x", ""],
  ["claude: a server's tool", json(assistant(tool("1", "mcp__docs__find", { query: "api" }))), "docs find api", ""],
  ["claude: the tool is done", json(assistant(tool("1", "Bash", { command: "ls" })), result("1")), "thinking", ""],
  [
    "claude: one of two is done",
    json(assistant(tool("1", "Bash", { command: "a" }), tool("2", "Bash", { command: "b" })), result("2")),
    "Bash a",
    "",
  ],
  [
    "claude: what a sub-agent says is not its word",
    json(assistant({ type: "text", text: "mine" }), {
      ...assistant({ type: "text", text: "its" }, tool("9", "Read", { file_path: "b.ts" })),
      parent_tool_use_id: "1",
    }),
    "sub-agent: Read b.ts",
    "mine",
  ],
  ["claude: the end", json({ type: "result", result: "done" }), "finishing", ""],
  ["codex: it begins", json({ type: "thread.started" }, { type: "turn.started" }), "thinking", ""],
  [
    "codex: a command",
    json(item("item.started", { id: "1", type: "command_execution", command: "/bin/bash -lc 'npm test'" })),
    "Shell npm test",
    "",
  ],
  [
    "codex: the command is done",
    json(
      item("item.started", { id: "1", type: "command_execution", command: "ls" }),
      item("item.completed", { id: "1", type: "command_execution", command: "ls" }),
    ),
    "thinking",
    "",
  ],
  [
    "codex: files",
    json(item("item.completed", { id: "1", type: "file_change", changes: [{ path: "a.ts" }, { path: "b.ts" }] })),
    "Edit a.ts b.ts",
    "",
  ],
  ["codex: it speaks", json(item("item.completed", { type: "agent_message", text: "Done." })), "writing", "Done."],
  ["codex: it fails", json({ type: "turn.failed", error: { message: "no quota" } }), "", "no quota"],
  [
    "opencode: a tool",
    json({ type: "tool_use", part: { tool: "bash", state: { input: { command: "ls" } } } }),
    "bash ls",
    "",
  ],
  ["opencode: it speaks", json({ type: "text", part: { text: "Hello." } }), "writing", "Hello."],
  [
    "wrong types everywhere",
    json({ type: "assistant", message: 7 }, { type: "item.started", item: [] }),
    "something",
    "",
  ],
];

describe("what an agent is doing", () => {
  for (const [name, output, doing, line] of TABLE)
    test(name, () => {
      const whole = fed([bytesOf(output)]);
      expect({ doing: whole.doing, line: whole.line }).toEqual({ doing, line });
    });

  test("however it is torn, also in the middle of a character", () => {
    const output = json(
      init,
      assistant({ type: "text", text: "grün 漢字" }),
      assistant(tool("1", "Bash", { command: "ü" })),
    );
    const bytes = bytesOf(output);
    for (let size = 1; size < 40; size++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const work = fed(pieces, true);
      expect({ doing: work.doing, line: work.line }).toEqual({ doing: "Bash ü", line: "grün 漢字" });
    }
  });

  test("what can be read, in order, and only once", () => {
    const work = fed([
      bytesOf(json(assistant({ type: "text", text: "A\n\n  B\n" }, tool("1", "Bash", { command: "ls" })))),
    ]);
    expect(work.take()).toEqual({ lines: ["A", "", "  B", "▸ Bash ls"], missed: false });
    expect(work.take()).toEqual({ lines: [], missed: false });
  });
});

describe("more than anybody can read", () => {
  const flood = bytesOf("yes, this is a line of a flood\n".repeat(40_000)); // 1.2 MB

  test("only the newest part is looked at, and it says so", () => {
    const work = fed([flood, bytesOf("the last\n")]);
    expect(work.line).toBe("the last");
    const { lines, missed } = work.take();
    expect(lines.length).toBeLessThanOrEqual(400);
    expect(lines.at(-1)).toBe("the last");
    expect(missed).toBe(true);
  });

  test("no half of a line is taken for a line", () => {
    const lines = Array.from({ length: 9 }, (_, at) => bytesOf(`begins ${at} ${"x".repeat(50_000)}\n`));
    const taken = fed(lines).take().lines;
    expect(taken.map((line) => line.slice(0, 8))).toEqual(taken.map((_, at) => `begins ${at + 9 - taken.length}`));
    expect(taken.length).toBeGreaterThanOrEqual(2);
  });

  test("an object longer than all room is skipped, what follows is read", () => {
    const huge = json(assistant(tool("1", "Write", { file_path: "big", content: "x".repeat(700_000) })));
    const bytes = bytesOf(huge + json(assistant(tool("2", "Bash", { command: "ls" }))));
    const pieces = Array.from({ length: 100 }, (_, at) => bytes.subarray(at * 8192, (at + 1) * 8192));
    expect(fed(pieces, true).doing).toBe("Bash ls");
  });

  test("a flood of 1 GB with ten looks is not read line by line", () => {
    const work = openWork();
    const chunk = flood.subarray(0, 64 << 10);
    const all = () => {
      for (let at = 0; at < 16_384; at++) {
        work.feed(chunk);
        if (at % 1_638 === 0) expect(work.line).toStartWith("ye");
      }
    };
    expect(ownTime(all)).toBeLessThan(3_000);
  });
});

test("nothing that comes makes it throw", () => {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31);
  const seeds = TABLE.map(([, output]) => bytesOf(output));
  const work = openWork();
  for (let round = 0; round < 3_000; round++) {
    const bytes = seeds[next() % seeds.length]!.slice();
    for (let hit = 0; hit < 3 && bytes.length > 0; hit++) bytes[next() % bytes.length] = next() % 256;
    work.feed(bytes.subarray(next() % 9));
    expect(typeof work.doing).toBe("string");
    expect(work.line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(work.doing).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  }
});

function fed(pieces: Uint8Array[], looking = false): Work {
  const work = openWork();
  for (const piece of pieces) {
    work.feed(piece);
    if (looking) work.take();
  }
  return work;
}
