/** `done` in pawl.yaml: which gates it adds where, and what it may not say. */
import { describe, expect, test } from "bun:test";
import { compileWorkflow } from "../../src/definitions/compile.ts";
import { withCommand } from "../../src/definitions/gates.ts";
import { compileProcedure } from "../../src/definitions/procedure-compile.ts";
import { compileProject } from "../../src/definitions/project.ts";
import { gatesOf, leavesOf } from "../../src/kernel/types/workflow.ts";
import { selectGates } from "../../src/verify/select.ts";

const DONE = "done:\n  - tests: [npm, test]\n  - { name: lint, run: [npm, run, lint] }\n";

function gatesIn(project: string) {
  const read = compileProject(project);
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  return read.project.gates;
}

const workflow = (gates: string) => `name: a
signals: promise
stages: [{ id: a, say: A, on: { DONE: { end: completed, gates: [${gates}] } } }]
`;

function gateNames(project: string, gates: string): string[] {
  const compiled = compileWorkflow(workflow(gates), "a.yaml", () => null, gatesIn(project));
  if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
  return gatesOf(compiled.workflow).map(({ name }) => name);
}

describe("use: done", () => {
  const table: [string, string, string, string[]][] = [
    ["is every gate of the definition, by its own name", DONE, "{ use: done }", ["npm test", "lint"]],
    ["comes in its place", DONE, "{ git: clean }, { use: done }", ["git clean", "npm test", "lint"]],
    ["is nothing where the project defines none", "guard: off\n", "{ use: done }, { git: clean }", ["git clean"]],
    ["may be one of several ways", DONE, "{ any: [{ use: done }, { git: clean }] }", ["done or git clean"]],
  ];
  test.each(table)("%s", (_what, project, gates, names) => {
    expect(gateNames(project, gates)).toEqual(names);
  });

  test("may name a gate of the project", () => {
    const project = "gates: { unit: { tests: [npm, test] } }\ndone: [{ use: unit }]\n";
    expect(gateNames(project, "{ use: done }")).toEqual(["unit"]);
  });

  test("works in a procedure", () => {
    const text =
      "name: a\nabout: A.\nsuccess: s\nagain: g\nfailure: f\nphases: { act: [{ content: Work. }] }\ngates: [{ use: done }]\n";
    const compiled = compileProcedure(text, "a.yaml", () => ({ why: "none", hint: "" }), gatesIn(DONE));
    expect("procedure" in compiled && compiled.procedure.gates.map(({ name }) => name)).toEqual(["npm test", "lint"]);
  });

  test("has no known failures where the red tests are the work", () => {
    const project =
      "done: [{ any: [{ tests: [npm, test], failing: known }, { git: clean }] }, { tests: [make], failing: known }]\n";
    const compiled = compileWorkflow(workflow("{ typed: true }"), "a.yaml", () => null, {});
    if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
    const named = gatesIn(project);
    expect(JSON.stringify(named)).toContain('"failing":"known"');
    const gates = gatesOf(withCommand(compiled.workflow, "", named));
    expect(leavesOf(gates).map(({ tests }) => tests)).toEqual([["npm", "test"], undefined, ["make"]]);
    expect(JSON.stringify(gates)).not.toContain("failing");
  });

  test("is what `pawl verify` checks, and `pawl verify done` checks it alone", () => {
    const all = Object.values(gatesIn(`gates: { slow: { run: [make, slow] } }\n${DONE}`));
    const names = (wanted: string[]) => selectGates(all, wanted, false).gates.map(({ name }) => name);
    expect([names([]), names(["done"])]).toEqual([
      ["slow", "npm test", "lint"],
      ["npm test", "lint"],
    ]);
  });
});

describe("what it may not say", () => {
  const table: [string, string, string][] = [
    ["done: [{ use: done }]\n", "1:15", "`done` cannot use itself"],
    ["done: [{ use: unti }]\n", "1:15", 'pawl.yaml has no gate "unti"'],
    ["gates: { done: { git: clean } }\n", "1:10", "`done` is the definition of done"],
    ["done: [{ evidence: tests }]\n", "1:8", "this gate needs a run: it is about the agent's own tool calls"],
    [
      "done: [{ any: [{ git: clean }, { person: Look? }] }]\n",
      "1:8",
      "this gate needs a run: a person approves a claim",
    ],
    ["done: []\n", "1:7", "empty"],
  ];
  test.each(table)("%p", (text, place, message) => {
    const read = compileProject(text);
    const [first] = "errors" in read ? read.errors : [];
    expect([`${first?.line}:${first?.column}`, first?.message]).toEqual([place, expect.stringContaining(message)]);
  });
});
