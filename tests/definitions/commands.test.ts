import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as check from "../../src/cli/workflows/check.ts";
import * as graph from "../../src/cli/workflows/graph.ts";
import * as list from "../../src/cli/workflows/list.ts";
import * as show from "../../src/cli/workflows/show.ts";
import { PLACEHOLDERS } from "../../src/definitions/schema/workflow.ts";
import { valuesOf } from "../../src/engine/core/guide.ts";
import type { Run, Workflow } from "../../src/kernel/types/run.ts";

const COMMANDS = { check, graph, list, show };
const FILE = ".pawl/workflows/team.yaml";
const GOOD =
  "name: team\nsignals: promise\nstages:\n  - id: work\n    say: Work.\n    on: { DONE: { end: completed } }\n";
const BAD = GOOD.replace("end: completed", "to: wrok");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-commands-"));
  for (const [project, text] of [["good", GOOD] as const, ["bad", BAD] as const]) {
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
  const code = COMMANDS[name as keyof typeof COMMANDS].run(args, io);
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
    ["check nope.yaml", "good", 2, "err", 'pawl: cannot read "nope.yaml": there is no such file\n  hint: give'],
    ["check .pawl/workflows/", "good", 2, "err", 'pawl: cannot read ".pawl/workflows/": it is not a file'],
    [
      "check --jsn",
      "good",
      2,
      "err",
      'pawl: unknown option "--jsn"\n  hint: did you mean "--json"?\n\nusage: pawl check',
    ],
    ["check --help", "good", 0, "out", "usage: pawl check"],
    ["list", "good", 0, "out", `team            project  ${NO_WORDS}  Team\n`],
    ["list", "bad", 0, "out", `team            project  ${NO_WORDS}  1 problem: see pawl check team\n`],
    ["list team", "good", 2, "err", "pawl: list takes no names\n  hint: `pawl show <name>`"],
    ["show team", "good", 0, "out", "team: Team (signals: promise)\n"],
    ["show team --prompts", "good", 0, "out", "── stage work ──\n\nWork.\n"],
    ["show team --source", "good", 0, "out", GOOD],
    ["show complete-work --source", "good", 0, "out", "# yaml-language-server"],
    ["show team --source --json", "good", 2, "err", "pawl: --source or --json, not both"],
    ["show team", "bad", 1, "err", `${FILE}:6:23: there is no stage "wrok"\n`],
    ["show", "good", 2, "err", "pawl: which workflow?\n  hint: `pawl list`"],
    ["show team complete-work", "good", 2, "err", "pawl: one workflow at a time"],
    ["show team --json --prompts", "good", 2, "err", "pawl: --json or --prompts, not both"],
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
  const run = { id: "r", stage: "work", plan: ["work"], reports: [], done: {}, commit_hash: null } as unknown as Run;
  const values = valuesOf({ workflow, run } as Parameters<typeof valuesOf>[0]);
  expect([...PLACEHOLDERS].sort()).toEqual(Object.keys(values).sort() as (typeof PLACEHOLDERS)[number][]);
});
