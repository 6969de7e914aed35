import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../src/cli/index.ts";
import { PLACEHOLDERS } from "../../src/definitions/schema/workflow.ts";
import { templateValues } from "../../src/engine/core/guide.ts";
import type { Run, Workflow } from "../../src/kernel/types/run.ts";
import { waitFor } from "../harness/in-process.ts";

const FILE = ".pawl/workflows/team.yaml";
const GOOD =
  "name: team\nsignals: promise\nstages:\n  - id: work\n    say: Work.\n    on: { DONE: { end: completed } }\n";
const BAD = GOOD.replace("end: completed", "to: wrok");
/** back to itself, ten times: by itself, past a gate, and by the person */
const round = (back: string, laps = 10) => `${GOOD.replace("{ DONE", `{ ${back}, DONE`)}limits: { laps: ${laps} }\n`;
const FREE = round("RED: { to: work }");
const GATED = round("RED: { to: work, gates: [{ git: clean }] }");
const ASKED = `${round("RED: { ask: more }")}asks: { more: { text: More?, choices: { yes: { to: work } } } }\n`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-commands-"));
  for (const [project, text] of Object.entries({
    good: GOOD,
    bad: BAD,
    free: FREE,
    few: round("RED: { to: work }", 5),
    gated: GATED,
    asked: ASKED,
  })) {
    mkdirSync(join(folder, project, ".pawl/workflows"), { recursive: true });
    mkdirSync(join(folder, project, "deep/er"), { recursive: true });
    writeFileSync(join(folder, project, FILE), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function call(line: string, project: string): { code: number; out: string; err: string } {
  const [name = "", ...args] = line.split(" ");
  const said = { out: "", err: "" };
  const io = {
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
    cwd: join(folder, project),
    isTTY: false,
    home: join(folder, "home"),
  };
  const code = waitFor(main(name, args, io));
  return { code, ...said };
}

/** As wide as the longest list of words that start a workflow. */
const NO_WORDS = " ".repeat("/handoff /handoff-haiku …".length);

describe("exit codes and first words", () => {
  const table: [string, string, number, "out" | "err", string][] = [
    ["check", "good", 0, "out", `${FILE}: ok, 1 stage, 1 signal\n`],
    ["check", "good/deep/er", 0, "out", `${FILE}: ok`],
    ["check complete-work", "good", 0, "out", "builtin:complete-work: ok, 4 stages, 10 signals\n"],
    ["check planning", "good", 0, "out", "builtin:planning: ok, 6 stages, 0 signals\n"],
    [`check ${FILE}`, "good", 0, "out", `${FILE}: ok`],
    ["check", "bad", 1, "out", `${FILE}:6:23: there is no stage "wrok"\n`],
    ["check team", "bad", 1, "out", `${FILE}:6:23: there is no stage "wrok"\n`],
    ["check complete-work", "bad", 0, "out", "builtin:complete-work: ok"],
    ["check taem", "good", 2, "err", 'pawl: there is no workflow "taem"\n  hint: did you mean "team"?'],
    ["check biuld", "good", 2, "err", 'pawl: there is no workflow "biuld"\n  hint: did you mean "build"?'],
    ["check nope.yaml", "good", 2, "err", 'pawl: cannot read "nope.yaml": there is no such file\n  hint: give'],
    ["check .pawl/workflows/", "good", 2, "err", 'pawl: cannot read ".pawl/workflows/": it is not a file'],
    [
      "check --jsn",
      "good",
      2,
      "err",
      'pawl: unknown option --jsn\n  hint: did you mean "--json"?\n\nusage: pawl check',
    ],
    ["check --help", "good", 0, "out", "usage: pawl check"],
    ["list", "good", 0, "out", `team            project  ${NO_WORDS}  Team\n`],
    ["list", "bad", 0, "out", `team            project  ${NO_WORDS}  1 problem: see pawl check team\n`],
    ["list team", "good", 2, "err", "pawl: list takes no names\n  hint: `pawl show <name>`"],
    ["show team", "good", 0, "out", "team: Team (signals: promise)\n"],
    ["show team --prompts", "good", 0, "out", "── stage work ──\n\nWork.\n"],
    ["show team --source", "good", 0, "out", GOOD],
    ["show complete-work --source", "good", 0, "out", "# yaml-language-server"],
    ["show team --source --json", "good", 2, "err", "pawl: --json and --source cannot be used together"],
    ["show team", "bad", 1, "err", `${FILE}:6:23: there is no stage "wrok"\n`],
    ["show", "good", 2, "err", "pawl: which workflow?\n  hint: `pawl list`"],
    ["show team complete-work", "good", 2, "err", "pawl: one workflow at a time"],
    ["show team --json --prompts", "good", 2, "err", "pawl: --json and --prompts cannot be used together"],
    ["graph team", "good", 0, "out", "team: Team (signals: promise)\n"],
    ["graph qa-loop", "good", 0, "out", "qa-loop: Check and fix until all is well (signals: none)\n"],
    [`graph ${FILE} --mermaid`, "good", 0, "out", 'flowchart TD\n  stage_0["Work"]\n'],
    ["graph team", "bad", 1, "err", `${FILE}:6:23: there is no stage`],
    [
      "graph nobody",
      "good",
      2,
      "err",
      'pawl: there is no workflow "nobody"\n  hint: known workflows: team, complete-work',
    ],
    [
      "graph build",
      "good",
      2,
      "err",
      'pawl: "build" is a procedure, not a workflow\n  hint: `pawl show build` shows it, `pawl loop build` runs it\n',
    ],
  ];
  test.each(table)("%s in %s: %d", (line, project, code, stream, beginning) => {
    const said = call(line, project);
    expect({ code: said.code, [stream]: said[stream].slice(0, beginning.length) }).toEqual({
      code,
      [stream]: beginning,
    });
    expect(said[stream === "out" ? "err" : "out"]).toBe("");
  });
});

test("a problem is shown with its line, a caret and what to do", () => {
  expect(call("check team", "bad").out).toBe(
    [
      `${FILE}:6:23: there is no stage "wrok"`,
      "  6 |     on: { DONE: { to: wrok } }",
      "    |                       ^",
      '  hint: did you mean "work"?',
      "",
      "1 problem",
      "",
    ].join("\n"),
  );
});

test("a formal workflow: its phases in order, its document, what happens to unread files", () => {
  const { out } = call("show implementation", "good");
  expect([...out.matchAll(/^● .+ {2}(.+)$/gm)].map((match) => match[1])).toEqual(["Design", "Build", "Test", "Deploy"]);
  expect(out).toContain("document  untracked/workflow-state/{slug}/state-{slug}-{time}.json\n");
  expect(out).toContain("reading   enforce\n");
  expect(call("show complete-work", "good").out).not.toContain("reading ");
});

describe("a mistake in pawl.yaml", () => {
  const broken = (text: string) => {
    mkdirSync(join(folder, "mistake/.git"), { recursive: true });
    writeFileSync(join(folder, "mistake/pawl.yaml"), text);
  };
  const PLACE = 'pawl.yaml:2:22: "enforced" is not known here\n';

  test("is shown once, at its line, and no workflow is blamed for it", () => {
    broken("gates: { unit: { tests: [npm, test] } }\nguard:               enforced\n");
    const { out, code } = call("list", "mistake");
    expect(code).toBe(0);
    expect(out.split(PLACE)).toHaveLength(2);
    expect(out).not.toMatch(/\d problems?:/);
    expect(out).toMatch(/^complete-work .* once pawl\.yaml is fixed$/m);
    expect(out).toMatch(/^build .* once pawl\.yaml is fixed$/m);
    expect(call("loop", "mistake").out.split(PLACE)).toHaveLength(2);
    expect(call("check", "mistake").out.split(PLACE)).toHaveLength(2);
    expect(call("runs start complete-work", "mistake").err).toStartWith("pawl: pawl.yaml has errors\n");
  });

  test.each(["trust", "trust --show"])("%s does not say that there is nothing to approve", (line) => {
    broken("gates: { unit: { tests: [npm, test] } }\nguard:               enforced\n");
    const { out, err, code } = call(line, "mistake");
    expect({ out, code }).toEqual({ out: "", code: 1 });
    expect(err).toContain(PLACE);
    expect(err).toEndWith(
      "pawl: pawl.yaml has errors, so what it would run is not known\n  hint: fix them, then run `pawl trust` again\n",
    );
  });

  const WORDS: [string, string, string][] = [
    ["sequences: { docs: [coding, reveiw] }", "2:48", 'auto-workflow has no stage "reveiw"'],
    ["gates: { TESTS_PASING: [{ git: clean }] }", "2:29", 'auto-workflow has no signal "TESTS_PASING"'],
    ["off: [TESTS_PASING]", "2:26", 'auto-workflow has no signal "TESTS_PASING"'],
  ];
  test.each(WORDS)("%s is shown at its place", (entry, place, message) => {
    broken(`workflows:\n  auto-workflow: { ${entry} }\n`);
    expect(call("check auto-workflow", "mistake").out).toStartWith(`pawl.yaml:${place}: ${message}\n`);
    expect(call("check complete-work", "mistake").code).toBe(0);
  });
});

test("check warns about many rounds that nothing stops, and is content all the same", () => {
  const warning = "the agent can go round (work) 10 times unchecked; add a gate, or lower limits.laps";
  const ok = `${FILE}: ok, 1 stage, 2 signals\n`;
  expect(call("check team", "free")).toEqual({ code: 0, out: `${ok}  warning: ${warning}\n`, err: "" });
  for (const project of ["few", "gated", "asked"])
    expect(call("check team", project)).toEqual({ code: 0, out: ok, err: "" });
  expect(JSON.parse(call("check team --json", "free").out)).toMatchObject({ ok: true, warnings: [warning] });
});

describe("--json", () => {
  test("check", () => {
    const said = JSON.parse(call("check team --json", "bad").out);
    expect(said).toMatchObject({ ok: false, checked: [FILE], problems: [{ file: FILE, line: 6, column: 23 }] });
    expect(Object.keys(said.problems[0]).sort()).toEqual(["column", "excerpt", "file", "hint", "line", "message"]);
  });

  test("list", () => {
    const { workflows } = JSON.parse(call("list --json", "good").out);
    expect(workflows[0]).toEqual({ name: "team", title: "Team", origin: "project", file: FILE, arm: [], problems: 0 });
  });

  test("show", () => {
    expect(JSON.parse(call("show team --json", "good").out)).toMatchObject({ v: 1, name: "team", source: FILE });
  });
});

test("the placeholders that a file may use are those that core fills in", () => {
  const workflow: Workflow = JSON.parse(call("show team --json", "good").out);
  const run = {
    id: "r",
    stage: "work",
    plan: ["work"],
    reports: [],
    done: {},
    commit_hash: null,
    work: {},
  } as unknown as Run;
  const values = templateValues({ workflow, run } as Parameters<typeof templateValues>[0]);
  expect([...PLACEHOLDERS].sort()).toEqual(Object.keys(values).sort() as (typeof PLACEHOLDERS)[number][]);
});
