/** Command, model and restart of a line: one is changed, all others stay to the byte. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { addTask, editTask, listTasks, parseSessionFile } from "../../../src/trackers/core/session-file.ts";
import { type Fields, newLine, parseTaskLine, readFacts } from "../../../src/trackers/core/session-line.ts";

const edited = (line: string, change: Fields) => {
  const text = `## Tasks\n${line}\n`;
  return editTask(text, listTasks(parseSessionFile(text))[0]!.id, change).slice("## Tasks\n".length, -1);
};

describe("a change, in its place", () => {
  const rows: [string, Fields, string][] = [
    ["- [ ] **A** — | sonnet", { command: "/x" }, "- [ ] **A** — `/x` | sonnet"],
    ["- [ ] **A** — `/y` | sonnet", { command: "/x" }, "- [ ] **A** — `/x` | sonnet"],
    ["- [ ] **A** — `/y` | sonnet", { command: "" }, "- [ ] **A** — | sonnet"],
    ["- [ ] **A** — `a | b` then `c` | sonnet", { command: "/x" }, "- [ ] **A** — `/x` then `c` | sonnet"],
    ["- [ ] **A**", { command: "/x" }, "- [ ] **A** — `/x`"],
    ["- [ ] **A** | opus", { command: "/x" }, "- [ ] **A** — `/x` | opus"],
    ["- [ ] A #web", { command: "/x" }, "- [ ] A — `/x` #web"],
    ["- [ ] **A** — | sonnet", { model: "opus" }, "- [ ] **A** — | opus"],
    ["- [ ] **A** — `sonnet` | sonnet #sonnet", { model: "opus" }, "- [ ] **A** — `sonnet` | opus #sonnet"],
    ["- [ ] **A** — `/x`", { model: "opus" }, "- [ ] **A** — `/x` | opus"],
    ["- [ ] **A**", { model: "opus" }, "- [ ] **A** — | opus"],
    ["- [ ] **A** — `/x` | restart", { model: "opus" }, "- [ ] **A** — `/x` | opus | restart"],
    ["- [ ] **A** — | sonnet", { restart: true }, "- [ ] **A** — | sonnet | restart"],
    ["- [ ] **A** — | sonnet | p1", { restart: true }, "- [ ] **A** — | sonnet | restart | p1"],
    ["- [ ] **A** — | sonnet | no restart", { restart: true }, "- [ ] **A** — | sonnet | restart"],
    ["- [ ] **A** — | sonnet | restart | p1", { restart: false }, "- [ ] **A** — | sonnet | p1"],
    ["- [ ] **A** — | sonnet | restart", { restart: false }, "- [ ] **A** — | sonnet"],
    ["- [ ] **A** — | sonnet | no restart", { restart: false }, "- [ ] **A** — | sonnet | no restart"],
    ["- [ ] **A** — | sonnet", {}, "- [ ] **A** — | sonnet"],
  ];
  test.each(rows)("%s %j", (line, change, wanted) => expect(edited(line, change)).toBe(wanted));
});

test("what was changed is read again, and nothing else has changed", () => {
  const model = fc.constantFrom("sonnet", "opus", "haiku", "gpt-5");
  const command = fc.constantFrom("/x", "a | b", "restart", "opus");
  const fields = fc.record({ command, model, restart: fc.boolean() }, { requiredKeys: [] });
  const task = fc.record({ priority: fc.integer({ min: 0, max: 4 }), labels: fc.subarray(["web", "ui"]) });
  fc.assert(
    fc.property(fields, task, fields, (before, rest, change) => {
      const line = newLine({ title: "A b", ...rest, ...before });
      const now = readFacts(parseTaskLine(edited(line, change))!);
      const then = readFacts(parseTaskLine(line)!);
      const wanted = { ...then, ...change };
      expect({ ...now, restart: now.restart ?? false }).toEqual({ ...wanted, restart: wanted.restart ?? false });
    }),
  );
});

describe("where a new task goes", () => {
  const rows: [string, string][] = [
    ["## Completed Tasks\n- [x] **a**\n\n## Pending Tasks\n- [ ] **b**\n\n## Notes\n", "Pending Tasks"],
    ["## Tasks\n\n## Later Pending Tasks\n", "Later Pending Tasks"],
    ["## Blocked Tasks\n- [!] **a**\n\n## In-tree Tasks\n- [ ] **b**\n", "In-tree Tasks"],
    ["## Worktree Tasks\n- [ ] **a**\n", "Pending Tasks"],
    ["# Session\n\ntext\n", "Pending Tasks"],
  ];
  test.each(rows)("%j", (text, section) => {
    const [before, after] = addTask(text, { title: "New" }).split("- [ ] **New** — | sonnet\n") as [string, string];
    expect(before.match(/^#+ .*$/gm)!.at(-1)).toBe(`## ${section}`);
    expect(after.trimStart()).toMatch(/^(#|$)/);
  });
});
