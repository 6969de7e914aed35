import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { PROMPTS, WORKFLOWS } from "../../src/definitions/builtin/workflows.ts";
import { type CompiledWorkflow, compileWorkflow } from "../../src/definitions/compile.ts";
import { quote, renderProblem } from "../../src/definitions/problem.ts";
import { workflowSchema } from "../../src/definitions/schema/json.ts";
import { promptReader } from "../../src/definitions/sources.ts";
import { distance } from "../../src/kernel/text/nearest.ts";

// The properties compile hundreds of files; a busy machine must not look like a fault.
setDefaultTimeout(30_000);

const REPOSITORY = join(import.meta.dir, "../..");
const VALID = join(REPOSITORY, "tests/samples/valid");
const compile = (text: string): CompiledWorkflow => compileWorkflow(text, "a.yaml", () => null);
const sample = (name: string): CompiledWorkflow =>
  compileWorkflow(readFileSync(join(VALID, `${name}.yaml`), "utf8"), `${name}.yaml`, promptReader(VALID));

test("a quoted text is at most 60 letters long, the sign for the cut among them", () => {
  expect(quote("a".repeat(60))).toBe(`"${"a".repeat(60)}"`);
  expect(quote("a".repeat(61))).toBe(`"${"a".repeat(59)}…"`);
});

describe("built-in workflows", () => {
  test.each([...WORKFLOWS.keys()])("%s has no problems", (name) => {
    const compiled = compileWorkflow(WORKFLOWS.get(name) ?? "", `builtin:${name}`, promptReader(""));
    expect("errors" in compiled ? compiled.errors.map(renderProblem) : []).toEqual([]);
  });

  test("every file under workflows/ and prompts/ is embedded as it is", () => {
    const files = [...new Bun.Glob("{workflows,prompts}/**/*.{yaml,md}").scanSync(REPOSITORY)];
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const name = file.replace(/^workflows\/|\.yaml$/g, "");
      const embedded = file.startsWith("prompts/") ? PROMPTS.get(file) : WORKFLOWS.get(name);
      expect([file, embedded]).toEqual([file, readFileSync(join(REPOSITORY, file), "utf8")]);
    }
  });
});

describe("formal workflows", () => {
  const table: [string, string[]][] = [
    ["planning", ["Scope", "Research", "Design", "Plan", "Review", "Approval"]],
    ["qa-loop", ["Run QA", "Fix Issues", "Verify"]],
    ["implementation", ["Design", "Build", "Test", "Deploy"]],
    ["custom", ["Work"]],
  ];
  test.each(table)("%s has its phases, its document and enforces the reading", (name, phases) => {
    const compiled = compileWorkflow(WORKFLOWS.get(name) ?? "", `builtin:${name}`, promptReader(""));
    if ("errors" in compiled) throw new Error(compiled.errors.map(renderProblem).join("\n"));
    const { workflow } = compiled;
    const path = "untracked/workflow-state/{slug}/state-{slug}-{time}.json";
    expect(workflow).toMatchObject({ signals: "none", reading: "enforce", document: { format: "json", path } });
    expect(workflow.stages.map((stage) => stage.title)).toEqual(phases);
  });

  test("what a file says of reading is kept, and only that", () => {
    const compiled = sample("json-document");
    expect("workflow" in compiled && compiled.workflow.reading).toBe("remind");
    const without = compile(
      'name: a\nsignals: none\ndocument: { format: json, path: "{slug}-{time}" }\nstages: [{ id: a, say: A }]\n',
    );
    expect("workflow" in without && "reading" in without.workflow).toBe(false);
    expect("workflow" in without).toBe(true);
  });
});

describe("the compiled workflow", () => {
  test("what the smallest file leaves out has its default", () => {
    expect(sample("smallest")).toEqual({
      workflow: {
        v: 1,
        name: "sample",
        title: "Sample",
        source: "smallest.yaml",
        signals: "promise",
        arm: [],
        intro: "",
        stages: [{ id: "work", title: "Work", say: "Do the work.", on: { DONE: { end: "completed" } } }],
        asks: {},
        anywhere: {},
        limits: { idle: 6, rounds: 6, laps: 5 },
      },
    });
  });

  test("prompts are read in, choices are completed", () => {
    const compiled = sample("every-key");
    if ("errors" in compiled) throw new Error(compiled.errors.map(renderProblem).join("\n"));
    const { workflow } = compiled;
    expect(workflow.intro).toBe("Welcome to run {run}.");
    expect(workflow.person).toBe("It begins: {plan}");
    expect(workflow.stages.map((stage) => stage.say.slice(0, 11))).toEqual(["Do the work", "Prove it, t"]);
    expect(workflow.asks["what-now"]?.person).toBe("What now?\n{choices}");
    expect(workflow.asks["what-now"]?.choices).toEqual({
      on: { label: "Go on", words: ["go", "on"], to: "proof" },
      report: { label: "Report", words: ["report"], show: "report" },
      stop: { label: "Stop", words: ["stop"], end: "failed" },
    });
    expect(workflow.limits).toEqual({ idle: 3, rounds: 6, laps: 5 });
  });

  test("a question without words of its own shows its name and its choices", () => {
    const compiled = sample("reached-through-a-question");
    expect("workflow" in compiled && compiled.workflow.asks.which?.person).toBe("Which\n\n1. Left\n2. Right");
  });

  test("it survives JSON, in which it is pinned", () => {
    const compiled = sample("every-key");
    expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  });
});

describe("hostile files", () => {
  const hostile: [string, string, string][] = [
    ["too large", `# ${"x".repeat(256 * 1024)}`, "larger than 256 KB"],
    ["too deep", "[".repeat(100_000), "nested too deeply"],
    ["a cycle", "name: &x [*x]\n", "expected text, found a list"],
    ["too many aliases", `name: &x a\narm: [${"*x,".repeat(200)}]\n`, "more than 64 aliases"],
    ["a prototype as a key", "__proto__: { name: x }\n", 'unknown key "__proto__"'],
    ["a prototype's member as a key", "constructor: 1\n", 'unknown key "constructor"'],
    ["YAML 1.1, where on is true", "%YAML 1.1\n---\nyes: 1\n", 'unknown key "yes"'],
  ];
  test.each(hostile)("%s", (_, text, message) => {
    const compiled = compile(text);
    const messages = "errors" in compiled ? compiled.errors.map((problem) => problem.message) : [];
    expect(messages.filter((shown) => shown.includes(message))).toHaveLength(1);
  });

  test("a thousand problems are cut short", () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `key${index}: 1`);
    const compiled = compile(lines.join("\n"));
    expect("errors" in compiled && compiled.errors.length).toBe(100);
  });

  test("control characters do not reach the terminal", () => {
    const compiled = compile('"\\e[31mred": "\u001b[2J"\n');
    const shown = "errors" in compiled ? compiled.errors.map(renderProblem).join("\n") : "";
    expect(shown).toContain("unknown key");
    expect(shown).not.toContain("\u001b");
  });
});

describe("any text at all", () => {
  const VALID_TEXT = readFileSync(join(VALID, "every-key.yaml"), "utf8");
  const wellPlaced = (text: string): void => {
    const compiled = compile(text);
    const lines = text.split("\n");
    for (const problem of "errors" in compiled ? compiled.errors : []) {
      expect(problem.line).toBeWithin(1, lines.length + 1);
      expect(problem.column).toBeWithin(1, (lines[problem.line - 1] ?? "").length + 2);
      expect(renderProblem(problem)).toContain("^");
    }
    if ("errors" in compiled) expect(compiled.errors.length).toBeGreaterThan(0);
  };

  test("is compiled or refused, never thrown at", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 400 }), wellPlaced), { numRuns: 200 });
  });

  test("also when it is YAML-like", () => {
    const piece = fc.constantFrom(
      ..."name signals stages asks anywhere on to end id say : - \n \n  \n    { } [ ] , & * ! | > ' \" # A_B x-y".split(
        " ",
      ),
      " ",
      "  ",
      "\n",
      ": ",
      "- ",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }).map((parts) => parts.join("")),
        wellPlaced,
      ),
      {
        numRuns: 200,
      },
    );
  });

  test("also when it is a good file with a piece cut out or put in", () => {
    const spot = fc.nat(VALID_TEXT.length);
    const change = fc.tuple(spot, fc.nat(40), fc.string({ maxLength: 12 }));
    fc.assert(
      fc.property(change, ([at, length, put]) => {
        wellPlaced(VALID_TEXT.slice(0, at) + put + VALID_TEXT.slice(at + length));
      }),
      { numRuns: 200, examples: [[[VALID_TEXT.indexOf("ne: work"), 3, "/"]]] },
    );
  });
});

test("the JSON Schema in the repository is the one the description gives (bun scripts/schema.ts)", () => {
  const file = readFileSync(join(REPOSITORY, "schema/workflow.json"), "utf8");
  expect(file).toBe(`${JSON.stringify(workflowSchema(), null, 2)}\n`);
});

describe("distance", () => {
  test.each([
    ["stage", "stage", 0],
    ["stage", "STAGE", 0],
    ["stgae", "stage", 1],
    ["stages", "stage", 1],
    ["", "ask", 3],
    ["signal", "limits", 5],
  ])("%s, %s: %d", (left, right, steps) => {
    expect(distance(left, right)).toBe(steps);
    expect(distance(right, left)).toBe(steps);
  });
});
