/** STATUS in the layout of its document, and which task is resumed or started. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  arrange,
  chooseTask,
  type StatusView,
  statusData,
  statusText,
  waitsForPerson,
} from "../../../src/controls/core/status.ts";
import type { RunView } from "../../../src/engine/core/run-view.ts";
import type { Task } from "../../../src/kernel/types/task.ts";
import { listTasks, parseSessionFile } from "../../../src/trackers/core/session-file.ts";

const NOTHING: StatusView = { tracker: "", tasks: null, runs: [], unread: [], dirty: null };
const view = (more: Partial<StatusView>): StatusView => ({ ...NOTHING, tracker: "session-md", ...more });
const fromFile = (text: string) => arrange(listTasks(parseSessionFile(text)), null);
const status = (text: string) => statusText(view({ tasks: fromFile(text) }));

const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  title: id,
  text: "",
  state: "open",
  labels: [],
  priority: 2,
  owner: null,
  created_at: "",
  epic: null,
  blocked_by: [],
  ...more,
});

const run = (more: Partial<RunView> = {}): RunView => ({
  id: "ab12",
  workflow: "auto-workflow",
  session: "s",
  stage: "TESTING",
  step: 3,
  steps: 6,
  minutes: 12,
  task: "",
  paused: false,
  waits: null,
  title: null,
  state: "active",
  doing: "",
  pending: null,
  claimed: null,
  ...more,
});

describe("the layout of session.md's tasks", () => {
  const rows: [string, string, string][] = [
    ["no file", "", "No pending tasks.\n"],
    ["no section for tasks", "# Session\n\nSome words.\n\n## Notes\n- [ ] **No task**\n", "No pending tasks.\n"],
    ["an empty section", "## Pending Tasks\n\n## Notes\n", "No pending tasks.\n"],
    ["only finished ones", "## Pending Tasks\n- [x] **Done**\n- [-] **Dropped**\n", "No pending tasks.\n"],
    [
      "the document's own example",
      "## Pending Tasks\n- [ ] **Implement ambient awareness** — `/plan-adhoc plans/ambient-awareness/design.md` | sonnet | no restart\n- [ ] **Design runbook identifiers** — `/design plans/runbook-identifiers/problem.md` | opus\n",
      "Next: Implement ambient awareness\n  `/plan-adhoc plans/ambient-awareness/design.md`\n  Model: sonnet | Restart: no\n\nPending:\n- Design runbook identifiers (opus)\n",
    ],
    ["old format: the defaults", "## Pending Tasks\n- [ ] Fix it\n", "Next: Fix it\n  Model: sonnet | Restart: no\n"],
    [
      "no model: sonnet",
      "## Pending Tasks\n- [ ] **A** — `/a` | restart\n",
      "Next: A\n  `/a`\n  Model: sonnet | Restart: yes\n",
    ],
    [
      "no restart: no",
      "## Pending Tasks\n- [ ] **A** — `/a` | haiku\n",
      "Next: A\n  `/a`\n  Model: haiku | Restart: no\n",
    ],
    [
      "no command: no line for it",
      "## Pending Tasks\n- [ ] **A** — | sonnet\n",
      "Next: A\n  Model: sonnet | Restart: no\n",
    ],
    [
      "a model that is not the default, three tasks",
      "## Pending Tasks\n- [ ] **A**\n- [ ] **B** — `/b` | sonnet | restart\n- [ ] **C** — | opus\n",
      "Next: A\n  Model: sonnet | Restart: no\n\nPending:\n- B\n- C (opus)\n",
    ],
    [
      "priorities go before the order of the file",
      "## Pending Tasks\n- [ ] **A**\n- [ ] **B** | p0\n",
      "Next: B\n  Model: sonnet | Restart: no\n\nPending:\n- A\n",
    ],
    [
      "in progress and blocked",
      "## Pending Tasks\n- [>] **A** — `/a` | @pawl-1a2b3c4d\n- [!] **B**\n- [ ] **C** | after: b\n- [>] **D**\n",
      "No pending tasks.\n\nIn progress:\n- A (pawl-1a2b3c4d)\n- D\n\nBlocked:\n- B\n- C (after b)\n",
    ],
  ];
  test.each(rows)("%s", (_name, file, text) => expect(status(file)).toBe(text));
});

describe("what the tracker says", () => {
  const first = (one: StatusView) => statusText(one).split("\n")[0];

  test("no tracker, nothing to do, and a failed look-up are three answers", () => {
    expect(first(NOTHING)).toBe("No pending tasks.");
    expect(first(view({ tasks: [] }))).toBe("No pending tasks.");
    expect(first(view({ tasks: null, why: "bd list did not answer in time" }))).toBe(
      "Tasks not known: bd list did not answer in time",
    );
    expect(statusData(NOTHING)).toMatchObject({ tracker: null, failed: null });
    expect(statusData(view({ tasks: [] }))).toMatchObject({ tracker: "session-md", failed: null, next: null });
    expect(statusData(view({ why: "no" }))).toMatchObject({ failed: "no", next: null });
  });

  test("names of others are one line, without hidden signs, and cut", () => {
    const title = `\u001b[31mRed\u001b[0m\nNext: \u202eevil ${"x".repeat(300)}`;
    const [line, model] = statusText(view({ tasks: [task("a", { title })] })).split("\n");
    expect(line).toStartWith("Next: Red Next: evil xxx");
    expect(line).toHaveLength("Next: ".length + 100);
    expect(line).toEndWith("…");
    expect(model).toBe("  Model: sonnet | Restart: no");
    expect(first(view({ tasks: [task("the-id", { title: "\u200b" })] }))).toBe("Next: the-id");
  });

  test("a command is never cut", () => {
    const command = `/x ${"y".repeat(3_000)}`;
    expect(statusText(view({ tasks: [task("a", { command })] }))).toContain(`  \`${command}\`\n`);
  });

  test("a long list ends with how many more there are", () => {
    const lines = statusText(view({ tasks: Array.from({ length: 40 }, (_, n) => task(`t${n}`)) })).split("\n");
    expect(lines.at(-2)).toBe("- … and 14 more");
    expect(lines.filter((line) => line.startsWith("- t"))).toHaveLength(25);
  });
});

describe("below the tasks", () => {
  test("each block only if there is something in it", () => {
    const full = view({
      tasks: [task("a")],
      runs: [
        run(),
        run({
          id: "cd34",
          workflow: "complete-work",
          stage: "REVIEW",
          step: 2,
          steps: 4,
          minutes: 150,
          paused: true,
          waits: {
            kind: "approval",
            what: "your approval is needed (release notes)",
            how: "`pawl approve cd34`",
            since: "",
          },
        }),
      ],
      unread: ["run ef56 is damaged"],
      dirty: { files: 2 },
    });
    expect(statusText(full)).toBe(`Next: a
  Model: sonnet | Restart: no

Runs:
- auto-workflow  ● ● ◉ ○ ○ ○  TESTING  3 of 6, 12 min
- complete-work  ● ◉ ○ ○  REVIEW  2 of 4, 3 h, paused

Waiting for you:
- complete-work (cd34): your approval is needed (release notes): \`pawl approve cd34\`
- run ef56 is damaged

2 files changed and not committed.
`);
    expect(waitsForPerson(full)).toBe(true);
  });

  test.each([
    ["clean", { files: 0 }, ""],
    ["no repository", null, ""],
    ["one file", { files: 1 }, "\n1 file changed and not committed.\n"],
    ["not known", { why: "git did not answer" }, "\nGit status unknown: git did not answer\n"],
  ])("the tree: %s", (_name, dirty, text) => expect(statusText(view({ dirty }))).toBe(`No pending tasks.\n${text}`));

  test("too many stages for a picture", () => {
    expect(statusText(view({ runs: [run({ step: 4, steps: 40, stage: "Phase" })] }))).toContain(
      "- auto-workflow  Phase  4 of 40, 12 min\n",
    );
  });

  test("nothing waits: a run at work, tasks, a changed tree", () => {
    expect(waitsForPerson(view({ tasks: [task("a")], runs: [run()], dirty: { files: 3 } }))).toBe(false);
    expect(waitsForPerson(view({ why: "failed" }))).toBe(true);
  });
});

describe("which task", () => {
  const mine = ({ owner }: Task) => owner === null || owner === "me";
  const rows: [string, Task[], string | null, string | null][] = [
    ["none at all", [], null, null],
    ["one pending", [task("a")], null, "a"],
    ["one in progress", [task("a", { state: "claimed" })], "a", null],
    ["one of each", [task("a"), task("b", { state: "claimed", owner: "me" })], "b", "a"],
    ["another's in progress", [task("a", { state: "claimed", owner: "you" }), task("b")], null, "b"],
    [
      "the first of several",
      [
        task("a", { state: "claimed", owner: "you" }),
        task("b", { state: "claimed" }),
        task("c", { state: "claimed", owner: "me" }),
        task("d", { blocked_by: ["a"] }),
        task("e", { state: "blocked" }),
        task("f"),
        task("g"),
      ],
      "b",
      "f",
    ],
  ];
  test.each(rows)("%s", (_name, tasks, resume, start) => {
    const chosen = chooseTask(tasks, mine);
    expect([chosen.resume?.id ?? null, chosen.start?.id ?? null]).toEqual([resume, start]);
  });

  test("the tracker knows best what is ready, and in which order", () => {
    const [a, b, c, d] = [task("a"), task("b", { blocked_by: ["x"] }), task("c"), task("d", { state: "claimed" })];
    const arranged = arrange([a!, b!, c!, d!, task("e", { state: "closed" })], [c!, b!]);
    expect(arranged.map(({ id, state }) => `${id} ${state}`)).toEqual(["c open", "b open", "a blocked", "d claimed"]);
    expect(chooseTask(arranged, mine).start?.id).toBe("c");
    expect(statusText(view({ tasks: arranged }))).toContain("Pending:\n- b\n");
  });
});

describe("any file at all", () => {
  const piece = fc.constantFrom(
    "## Pending Tasks\n",
    "- [ ] **A** — `/a` | opus | restart\n",
    "- [ ] ",
    "- [>] **B\u2028C** | @x\n",
    "**",
    "`",
    " — ",
    " | ",
    "\r\n",
    "\u001b[2J",
    "\ufeff",
    "| p0 #l after: a\n",
    "- [!] \u202e\n",
    "<!--",
    "```\n",
  );
  const file = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }).map((all) => all.join("")),
  );

  test("never throws, and begins as it must", () => {
    fc.assert(
      fc.property(file, fc.option(fc.string()), (text, why) => {
        const tasks = fromFile(text);
        const said = statusText(view({ tasks, ...(why !== null && { why }) }));
        expect(said.split("\n")[0]).toMatch(why === null ? /^(Next: \S.*|No pending tasks\.)$/ : /^Tasks not known: /);
        expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
        expect(said.startsWith("Next:")).toBe(why === null && chooseTask(tasks, () => true).start !== null);
      }),
      { numRuns: 2_000 },
    );
  });
});
