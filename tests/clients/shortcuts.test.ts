/** Each shortcut typed into the real client, seen from the model's side: the prompt as typed, and what it means. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { fragmentText, helpText, renderExpansion, SHORTCUTS, withOverrides } from "../../src/controls/core/shortcut.ts";
import { complaints, type Heard } from "./client.ts";
import { type Controls, openControls, pawl, piecesOf, TASKS } from "./controls.ts";
import { say, startModel } from "./model.ts";
import { installPlugin } from "./plugin.ts";
import { told } from "./scenario.ts";

setDefaultTimeout(120_000);

const ON = withOverrides(SHORTCUTS, []);
const expansion = (key: string) => renderExpansion(ON.find((one) => one.key === key)!);
const X =
  "[SHORTCUT: #execute] Smart execute: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then stop.";
const D =
  "[DIRECTIVE: DISCUSS] Discussion mode. Analyze and discuss only — do not execute, implement, or invoke workflow skills. The user's topic follows in their message.";
const STATUS = `Next: Implement ambient awareness
  \`/plan-adhoc plans/ambient.md\`
  Model: sonnet | Restart: no

Pending:
- Design runbook identifiers (opus)`;
const TAKEN = `[pawl] Start this task, it is yours and marked as in progress: **Implement ambient awareness** (implement-ambient-awareness)

Invoke: /plan-adhoc plans/ambient.md`;
const UNDER_WAY = TASKS.replace("- [ ] **Design", "- [>] **Design");
const RESUMED = `[pawl] Resume this task, it is in progress: **Design runbook identifiers** (design-runbook-identifiers)

Invoke: /design plans/runbook.md
It asks for the model opus: if you are a different model, say so.`;
const LINE = "- [ ] **Fix login bug** — | sonnet";

type Model = ReturnType<typeof startModel>;

const AHEAD = "UserPromptSubmit hook additional context: ";

/** What hooks added to the newest prompt of the model's nth request. */
function contexts(model: Model, nth = 0): string[] {
  return piecesOf(model.main()[nth]!).flatMap((piece) => piece.split(AHEAD).slice(1));
}

/** Ours comes first in the message; newer clients add text of their own after a blank line. */
const first = (text: string) =>
  expect.stringMatching(new RegExp(`^${RegExp.escape(text)}(?:\\n\\n(?!.*\\[(?:pawl|SHORTCUT|DIRECTIVE)).*)?$`, "s"));

function expectQuiet({ events, hookOutputs }: Heard): void {
  expect(complaints(events)).toEqual([]);
  expect(hookOutputs.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);
}

const DONE = { turns: [], otherwise: () => say("So be it.") };

interface Row {
  typed: string;
  when?: string;
  files?: Record<string, string>;
  /** all that the model gets besides the prompt */
  hears: string;
  /** what stands in session.md afterwards */
  writes?: RegExp;
}

const ROWS: Row[] = [
  { typed: "s", hears: `${expansion("s")}\n\n${STATUS}\n\n[end]` },
  { typed: "s", when: "without tasks", files: {}, hears: `${expansion("s")}\n\nNo pending tasks.\n\n[end]` },
  { typed: "x", hears: `${X}\n\n${TAKEN}`, writes: /^- \[>\] \*\*Implement ambient .* @pawl-/m },
  { typed: "x", when: "with a task in progress", files: { "session.md": UNDER_WAY }, hears: `${X}\n\n${RESUMED}` },
  { typed: "x", when: "without tasks", files: {}, hears: `${X}\n\nNo pending tasks. Say so and stop.` },
  { typed: "xc", hears: `${expansion("xc")}\n\n${TAKEN}`, writes: /^- \[>\] \*\*Implement ambient .* @pawl-/m },
  { typed: "r", hears: `${expansion("r")}\n\nNothing in progress. Say so and stop.` },
  {
    typed: "r",
    when: "with a task in progress",
    files: { "session.md": UNDER_WAY },
    hears: `${expansion("r")}\n\n${RESUMED}`,
  },
  { typed: "h", hears: expansion("h") },
  { typed: "hc", hears: expansion("hc") },
  { typed: "ci", hears: expansion("ci") },
  { typed: "?", hears: `${expansion("?")}\n\n${helpText(ON)}\n\n[end]` },
  { typed: "d: what speaks for A, and\nwhat for B?", hears: D },
  {
    typed: "p: fix login bug",
    hears: `${expansion("p:")}\n\nWritten to session.md:\n${LINE}`,
    writes: /^- \[ \] \*\*Fix login bug\*\* — \| sonnet$/m,
  },
];

describe("typed as a whole message, or at its start", () => {
  test.each(ROWS.map((row) => [`${row.typed.split("\n")[0]} ${row.when ?? ""}`.trim(), row] as const))(
    "%s",
    async (_, { typed, files, hears, writes }) => {
      const given: Controls = files ? { files } : {};
      await using scene = await openControls(DONE, given);

      const done = await scene.print(typed);

      expect(piecesOf(scene.model.main()[0]!)).toContain(typed);
      expect(contexts(scene.model)).toEqual([first(hears)]);
      expectQuiet(done);
      if (writes) expect(await scene.project.read("session.md")).toMatch(writes);
      else expect(await scene.project.git("status", "--short")).toBe("");
    },
  );

  test("the rows name every shortcut that is on", () => {
    const typed = new Set(ROWS.map((row) => row.typed.split(" ")[0]));
    expect(ON.map(({ key }) => key).filter((key) => !typed.has(key))).toEqual([]);
  });
});

const ORDINARY = [
  "do you think x is enough?",
  "D: x",
  "d:x",
  "p:x",
  "X",
  "c",
  "s x",
  "Is d: x a shortcut?",
  "Why does this fail?\n\n```\nx\n```\n",
  "vi kept these keys:\nx\nxc\nd: word\np: put\nand more",
  "    p: 8080\n    d: /tmp",
];

test("what is no shortcut passes unchanged, and nobody says anything to it", async () => {
  await using scene = await openControls(DONE);
  const session = await scene.converse();
  for (const [nth, prompt] of ORDINARY.entries()) {
    const { hookOutputs } = await session.ask(prompt);
    expect(piecesOf(scene.model.main()[nth]!)).toContain(prompt);
    expect([prompt, contexts(scene.model, nth)]).toEqual([prompt, []]);
    const answers = hookOutputs.filter(({ event, stdout }) => event !== "SessionStart" && stdout !== "");
    expect([prompt, answers]).toEqual([prompt, []]);
  }
  expect(scene.model.main()).toHaveLength(ORDINARY.length);
  expect(await scene.project.git("status", "--short")).toBe("");
  expect(await scene.project.list(".pawl/runs")).toEqual([]);
});

describe("the fragment", () => {
  const IN_PROSE = "Mend the typo in README.md, then hc";
  const visible = fragmentText(ON).replace(/<!--.*?-->\n+/gs, "");

  test.each([
    ["imported by CLAUDE.md", { "CLAUDE.md": "# Rules\n" }, /\nContents of \S+\/\.claude\/execute-rule\.md /],
    ["imported by .claude/CLAUDE.md", { ".claude/CLAUDE.md": "# Rules\n" }, /\nContents of \S+\/execute-rule\.md /],
  ])("%s: its table is before the model, and nothing is added to a sentence", async (_, files, place) => {
    await using scene = await openControls(DONE, { files: { "session.md": TASKS, ...files }, init: ["--fragment"] });

    await scene.print(IN_PROSE);

    const { text } = scene.model.main()[0]!;
    expect(text).toMatch(place);
    expect(text).toContain("| `hc` | /handoff --commit | hand off, then commit |");
    expect(text).toContain(visible.trimEnd());
    expect(contexts(scene.model)).toEqual([]);
  });

  test("not asked for, or taken out again: the model sees none of it", async () => {
    await using scene = await openControls(DONE, { files: { "CLAUDE.md": "# Rules\n" } });
    await scene.print(IN_PROSE);
    await pawl(scene.project, "init", "--with", "all", "--yes", "--fragment");
    await scene.print(IN_PROSE);
    await pawl(scene.project, "uninstall", "--yes");
    await scene.print(IN_PROSE);

    const told = scene.model.main().map(({ text }) => text.includes("/handoff --commit |"));
    expect(told).toEqual([false, true, false]);
  });
});

/** So long that to read it takes a while: whoever then writes what they read would undo what the other one wrote. */
const LONG = `${TASKS}\n## Notes\n\n${"A line that somebody wrote down in another session.\n".repeat(100_000)}`;

test("p: from two sessions at once: every line is there, once", async () => {
  await using scene = await openControls(DONE, { files: { "session.md": LONG } });
  const other = startModel(DONE);
  const sessions = [await scene.converse(), await scene.converse(other)];
  const rounds = ["one", "two", "three", "four", "five", "six"];
  for (const round of rounds)
    await Promise.all(sessions.map((session, who) => session.ask(`p: Task ${round} of ${who}`)));
  await Promise.all(sessions.map((session) => session.close()));
  other.stop();

  const lines = (await scene.project.read("session.md")).split("\n").filter((line) => line.startsWith("- ["));
  const before = TASKS.split("\n").filter((line) => line.startsWith("- ["));
  const added = rounds.flatMap((round) => [0, 1].map((who) => `- [ ] **Task ${round} of ${who}** — | sonnet`));
  expect(lines.toSorted()).toEqual([...before, ...added].toSorted());
  for (const [who, model] of [scene.model, other].entries())
    for (const [nth, round] of rounds.entries())
      expect(contexts(model, nth).join()).toMatch(`\n- [ ] **Task ${round} of ${who}** — | sonnet`);
});

test("x from two sessions at once: each has a task of its own", async () => {
  await using scene = await openControls(DONE);
  const other = startModel(DONE);
  const sessions = [await scene.converse(), await scene.converse(other)];
  await Promise.all(sessions.map((session) => session.ask("x")));

  const given = [scene.model, other].map((model) => /\*\*(.*?)\*\*/.exec(contexts(model).join())?.[1]);
  expect(given.toSorted()).toEqual(["Design runbook identifiers", "Implement ambient awareness"]);
  await Promise.all(sessions.map((session) => session.close()));
  other.stop();
});

describe("installed twice, by the plugin and by init", () => {
  test("p: writes one line, x claims once, and each is said once", async () => {
    await using scene = await openControls(DONE, { init: ["--team"] });
    await installPlugin(scene.project);
    const session = await scene.converse();

    const [recorded, taken] = [await session.ask("p: fix login bug"), await session.ask("x")];

    for (const { hookOutputs } of [recorded, taken])
      expect(hookOutputs.filter(({ event }) => event === "UserPromptSubmit")).toHaveLength(2);
    const text = await scene.project.read("session.md");
    expect(text.split("\n").filter((line) => line.includes("Fix login bug"))).toEqual([LINE]);
    expect(told(recorded.hookOutputs)).toEqual([
      `Pawl: recorded in session.md: ${LINE}\n  undo: pawl task drop fix-login-bug`,
    ]);
    expect(text.match(/^- \[>\]/gm)).toHaveLength(1);
    expect(contexts(scene.model, 1)).toEqual([first(`${X}\n\n${TAKEN}`)]);
    expect(contexts(scene.model, 0)).toEqual([first(`${expansion("p:")}\n\nWritten to session.md:\n${LINE}`)]);
  });
});

test("on the screen; a single ? is the client's own there, one behind a space is ours", async () => {
  await using scene = await openControls(DONE);
  const screen = await scene.look();
  await screen.waitFor(/Next: Implement/);
  await screen.submit("d: x or y?");
  await screen.waitFor(/So be it\./);
  expect(contexts(scene.model)).toEqual([first(D)]);

  screen.press("?");
  await screen.waitFor(/for shell mode/);
  screen.press("\x7f ?");
  await screen.waitFor(/❯\s+\?/);
  screen.press("\r");
  await screen.waitFor(/So be it\..*So be it\./s);
  expect(piecesOf(scene.model.main()[1]!)).toContain(" ?");
  expect(contexts(scene.model, 1)).toEqual([first(`${expansion("?")}\n\n${helpText(ON)}\n\n[end]`)]);
});
