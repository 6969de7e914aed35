import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { compileWorkflow } from "../../src/definitions/compile.ts";
import { renderMermaid, renderText } from "../../src/definitions/graph.ts";
import { promptReader } from "../../src/definitions/sources.ts";
import type { Workflow } from "../../src/kernel/types/run.ts";

// The properties compile hundreds of files; a busy machine must not look like a fault.
setDefaultTimeout(30_000);

const VALID = join(import.meta.dir, "../samples/valid");

function sample(name: string): Workflow {
  const text = readFileSync(join(VALID, `${name}.yaml`), "utf8");
  const compiled = compileWorkflow(text, `${name}.yaml`, promptReader(VALID));
  if ("errors" in compiled) throw new Error(compiled.errors[0]?.message);
  return compiled.workflow;
}

describe("for the terminal", () => {
  test("every kind of move", () => {
    expect(renderText(sample("every-key"))).toMatchInlineSnapshot(`
      "every-key: Every key there is (signals: stage, armed by /every-key or /all)

      ● work  The work  (agent worker)
      │   WORK_DONE     → proof  [gate: git committed-or-clean]
      │   WORK_BLOCKED  ■ halts: Cannot work
      │   WORK_UNCLEAR  ? asks what-now: The work is unclear
      │       1. Go on   → proof
      │       2. Report  … shows the report
      │       3. Stop    ◆ ends: failed
      │   WORK_NOTED    · stays
      │
      ● proof  Proof
          PROVED   ◆ ends: completed
          REFUTED  → work

      anywhere
          GIVEN_UP  ◆ ends: aborted"
    `);
  });

  test("without signals the stages follow one another", () => {
    expect(renderText(sample("no-signals"))).toMatchInlineSnapshot(`
      "no-signals: No signals (signals: none)

      ● plan  Plan
      │   by command  → build
      │
      ● build  Build
          by command  ◆ ends: completed"
    `);
  });

  test("a question that asks itself again ends", () => {
    const workflow = sample("every-key");
    workflow.asks["what-now"]!.choices.stop = { label: "Ask again", words: ["again"], ask: "what-now" };
    expect(renderText(workflow).match(/asks what-now/g)).toHaveLength(2);
  });
});

describe("for Mermaid", () => {
  test("every kind of move", () => {
    expect(renderMermaid(sample("every-key"))).toMatchInlineSnapshot(`
      "flowchart TD
        stage_0["The work"]
        stage_1["Proof"]
        ask_0{{"The work is unclear"}}
        halt_stage_0[/"halted: Cannot work"/]
        finish_completed(["completed"])
        finish_failed(["failed"])
        anywhere(("anywhere"))
        finish_aborted(["aborted"])
        stage_0 -->|"WORK_DONE #91;gate: git committed-or-clean#93;"| stage_1
        stage_0 -->|"WORK_BLOCKED"| halt_stage_0
        stage_0 -->|"WORK_UNCLEAR"| ask_0
        stage_0 -->|"WORK_NOTED"| stage_0
        stage_1 -->|"PROVED"| finish_completed
        stage_1 -->|"REFUTED"| stage_0
        ask_0 -->|"Go on"| stage_1
        ask_0 -->|"Report"| ask_0
        ask_0 -->|"Stop"| finish_failed
        anywhere -.->|"GIVEN_UP"| finish_aborted"
    `);
  });

  const NODE = /^ {2}(\w+)(\["[^"]*"\]|\{\{"[^"]*"\}\}|\(\["[^"]*"\]\)|\[\/"[^"]*"\/\]|\(\("[^"]*"\)\))$/;
  const EDGE = /^ {2}(\w+) (?:-->|-\.->)\|"[^"]*"\| (\w+)$/;

  test("whatever the labels hold, every line is a node or an edge between nodes", () => {
    const original = sample("every-key");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (title, halt) => {
        const workflow = structuredClone(original);
        workflow.stages[0]!.title = title;
        workflow.stages[0]!.on.WORK_BLOCKED = { halt };
        workflow.stages[0]!.on.WORK_LOST = { halt: `${halt}!` };
        workflow.asks["what-now"]!.choices.on!.label = halt;
        const [first, ...lines] = renderMermaid(workflow).split("\n");
        expect(first).toBe("flowchart TD");
        const nodes = lines.flatMap((line) => NODE.exec(line)?.[1] ?? []);
        const ends = lines.flatMap((line) => EDGE.exec(line)?.slice(1) ?? []);
        expect(nodes.length + ends.length / 2).toBe(lines.length);
        expect(ends.filter((id) => !nodes.includes(id))).toEqual([]);
        expect(new Set(nodes).size).toBe(nodes.length);
        expect(nodes.filter((id) => id.startsWith("halt_"))).toHaveLength(2);
      }),
    );
  });

  test("markup in a label is only text", () => {
    const workflow = sample("smallest");
    workflow.stages[0]!.title = '"]; click x "#quot; <b>`%%{init}';
    expect(renderMermaid(workflow).split("\n")[1]).toBe(
      '  stage_0["#34;#93;#59; click x #34;#35;quot#59; #60;b#62;#96;%%#123;init#125;"]',
    );
  });
});
