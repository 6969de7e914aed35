/** Every key that takes true or false, in every file format: unquoted, and editors say what `pawl check` says. */
import { expect, test } from "bun:test";
import { compileWorkflow } from "../../src/definitions/compile.ts";
import { compileProcedure } from "../../src/definitions/procedure-compile.ts";
import { compileProject } from "../../src/definitions/project.ts";
import { procedureSchema, projectSchema, type Schema, workflowSchema } from "../../src/definitions/schema/json.ts";

const workflow = (file: string) =>
  compileWorkflow(`name: a\nsignals: promise\n${file}`, "a.yaml", () => null) as Record<string, unknown>;
const stage = (inner: string) => `stages: [{ id: a, say: A, ${inner} }]\n`;
const ends = stage("on: { DONE: { end: completed } }");
const project = (text: string) => compileProject(text) as Record<string, unknown>;
const procedure = (more: string) =>
  compileProcedure(
    `name: a\nabout: A.\nsuccess: s\nagain: g\nfailure: f\nphases: { act: [{ content: Work. }] }\n${more}\n`,
    "a.yaml",
    () => ({ why: "none", hint: "" }),
    {},
  ) as Record<string, unknown>;

const GATE = (value: string) => workflow(stage(`on: { DONE: { end: completed, gates: [{ typed: ${value} }] } }`));
const STAY = (value: string) => workflow(stage(`on: { DONE: { end: completed }, SEEN: { stay: ${value} } }`));

/** Where the key is, by format and section; what may be written; a file with it. */
const KEYS: [key: string, allowed: string[], compile: (value: string) => Record<string, unknown>][] = [
  ["workflow file fresh", ["true", "false"], (value) => workflow(`fresh: ${value}\n${ends}`)],
  ["workflow file watch", ["true", "false"], (value) => workflow(`watch: ${value}\n${ends}`)],
  ["workflow move stay", ["true"], STAY],
  [
    "workflow choice stay",
    ["true"],
    (value) =>
      workflow(
        `${stage("on: { DONE: { ask: q } }")}asks: { q: { text: Q, choices: { go: { end: completed }, no: { stay: ${value} } } } }\n`,
      ),
  ],
  [
    "workflow inference edited",
    ["true"],
    (value) => workflow(stage(`on: { DONE: { end: completed } }, infer: { DONE: { edited: ${value} } }`)),
  ],
  ["workflow gate typed", ["true"], GATE],
  ["project fresh", ["true", "false"], (value) => project(`workflows: { auto-workflow: { fresh: ${value} } }\n`)],
  ["procedure file main", ["true", "false"], (value) => procedure(`main: ${value}`)],
];

const values = KEYS.flatMap(([key, allowed, compile]) =>
  ["true", "false"].map((value) => [key, value, allowed.includes(value), compile] as const),
);

test.each(values)("%s: %s", (_key, value, isAllowed, compile) => {
  expect("errors" in compile(value)).toBe(!isAllowed);
});

test("true is meant, not only read", () => {
  expect(workflow(`fresh: true\nwatch: false\n${ends}`).workflow).toMatchObject({ fresh: true });
  expect(workflow(`fresh: false\n${ends}`).workflow).not.toHaveProperty("fresh");
  expect(workflow(`fresh: "true"\n${ends}`).workflow).toMatchObject({ fresh: true });
  expect(procedure("main: false").procedure).toMatchObject({ main: false });
});

test("the schemas know the same keys, and the same values", () => {
  const found = [
    ...booleansIn(workflowSchema(), "workflow"),
    ...booleansIn(procedureSchema(), "procedure"),
    ...booleansIn(projectSchema(), "project"),
  ];
  const listed = new Map(KEYS.map(([key, allowed]) => [key.split(" ").at(-1)!, allowed]));
  expect(found.length).toBeGreaterThanOrEqual(KEYS.length);
  for (const [key, allowed] of found) expect([key, allowed]).toEqual([key, listed.get(key.split(" ").at(-1)!)!]);
  expect(new Set(found.map(([key]) => key.split(" ").at(-1)!))).toEqual(new Set(listed.keys()));
});

/** Everywhere in a schema: the keys that take a boolean, each with the values it takes. */
function booleansIn(schema: unknown, name: string): [key: string, allowed: string[]][] {
  if (typeof schema !== "object" || schema === null) return [];
  const { const: only, type, anyOf } = schema as Schema;
  if (only === true) return [[name, ["true"]]];
  const isBoolean = (one: unknown) => (one as Schema).type === "boolean";
  if (type === "boolean" || (Array.isArray(anyOf) && anyOf.some(isBoolean))) return [[name, ["true", "false"]]];
  return Object.entries(schema).flatMap(([key, part]) =>
    key === "additionalProperties" && typeof part === "boolean" ? [] : booleansIn(part, `${name} ${key}`),
  );
}
