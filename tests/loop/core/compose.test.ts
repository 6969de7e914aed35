/** The prompt of one iteration, to the letter where agents and scans rely on it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Phase, Procedure } from "../../../src/kernel/types/procedure.ts";
import { type Context, composePrompt } from "../../../src/loop/core/compose.ts";
import { signalsIn } from "../../../src/loop/core/signal.ts";

const fragments = (...texts: string[]) => texts.map((text) => ({ source: "content", text }));

function procedure(phases: Partial<Record<Phase, string[]>>): Procedure {
  const told = (phase: Phase) => fragments(...(phases[phase] ?? []));
  return {
    name: "tidy",
    title: "Tidy up",
    about: "Tidies.",
    success: "All is tidy.",
    again: "Something lies about.",
    failure: "The cupboard is locked.",
    phases: { observe: told("observe"), orient: told("orient"), decide: told("decide"), act: told("act") },
    gates: [],
    source: "builtin:tidy",
  };
}

const compose = (
  phases: Partial<Record<Phase, string[]>>,
  extra: { context?: Context[]; notes?: string[]; max?: number | null } = {},
) =>
  composePrompt(
    procedure(phases),
    { iteration: 2, max: extra.max === undefined ? 5 : extra.max },
    { context: extra.context ?? [], notes: extra.notes ?? [] },
  );

const LINE = "═".repeat(63);

test("the whole of a small one", () => {
  expect(compose({ observe: ["Look.\n\n"], act: ["  Tidy.  ", "Emit."] })).toBe(`${LINE}
PAWL PROCEDURE EXECUTION
${LINE}

Procedure: tidy
Iteration: 2 of 5

You are the agent of one iteration of this procedure: Tidy up.
Each iteration is a fresh process. Only files, commits and the task tracker carry over to the next one.
No person is watching: do not ask questions, decide from what you find. Work through the phases below in order.

Success Signaling
─────────────────
A signal is exactly one of these two lines, alone on its line, in your final message:

<promise>SUCCESS</promise>
<promise>FAILURE</promise>

Capital letters, no spaces, nothing else between the tags, not in a code block or a quotation.
The explanation comes after the signal, never inside it.

- SUCCESS: All is tidy.
- no signal: Something lies about. The next iteration continues.
- FAILURE: The cupboard is locked.

SUCCESS is about the goal of the procedure, not about this iteration. If you give both, FAILURE counts.

${LINE}
PHASE 1: OBSERVE
Look at what is there. Gather facts; do not judge or change anything yet.
${LINE}

Look.

${LINE}
PHASE 2: ACT
Do what you decided, check it, and end with the signal if one is due.
${LINE}

Tidy.

Emit.
`);
});

describe("phases are counted as they are told", () => {
  const table: [Partial<Record<Phase, string[]>>, string][] = [
    [{ observe: ["a"], orient: ["b"], decide: ["c"], act: ["d"] }, "1 OBSERVE 2 ORIENT 3 DECIDE 4 ACT"],
    [{ orient: ["b"], act: ["d"] }, "1 ORIENT 2 ACT"],
    [{ act: ["d"], decide: ["c"] }, "1 DECIDE 2 ACT"],
    [{ observe: [" \n "], decide: ["c", ""] }, "1 DECIDE"],
    [{}, ""],
  ];
  test.each(table)("%j", (phases, wanted) => {
    const found = [...compose(phases).matchAll(/^PHASE (\d): ([A-Z]+)$/gm)].map(([, n, name]) => `${n} ${name}`);
    expect(found.join(" ")).toBe(wanted);
  });
});

test("an empty fragment leaves no hole", () => {
  expect(compose({ act: ["One.", " \n", "Two.\n"] })).toEndWith(`${LINE}\n\nOne.\n\nTwo.\n`);
});

test("unlimited", () => expect(compose({ act: ["x"] }, { max: null })).toContain("\nIteration: 2 (unlimited)\n"));

describe("context and notes", () => {
  test("in their places, with sources, nothing where there is nothing", () => {
    const text = compose(
      { act: ["x"] },
      {
        context: [{ text: "Only src/.\n" }, { text: " " }, { text: "The task.", source: "TASK.md" }],
        notes: ["One.", ""],
      },
    );
    expect(text).toContain(
      `\n\n=== CONTEXT ===\n\nOnly src/.\n\nSource: TASK.md\n\nThe task.\n\n=== FROM THE LAST ITERATION ===\n\n- One.\n\n${LINE}\nPHASE 1`,
    );
    expect(compose({ act: ["x"] }, { context: [{ text: "\n" }], notes: [" "] })).toBe(compose({ act: ["x"] }));
  });

  const TAGS = ["<promise>SUCCESS</promise>", "<promise>FAILURE</promise>", "< Promise >done</ promise >"];
  test.each(TAGS)("%s is no signal when it is repeated", (tag) => {
    const text = compose({ act: ["x"] }, { context: [{ text: `say\n${tag}\n` }], notes: [tag] });
    const repeated = text.slice(text.indexOf("=== CONTEXT ==="), text.indexOf(`${LINE}\nPHASE`));
    expect(repeated).toContain(tag.replaceAll("<", "‹").replaceAll(">", "›"));
    expect(repeated).toContain("In your own signal write < and >.");
    expect(signalsIn(repeated)).toMatchObject({
      success: false,
      failure: false,
      malformed: [],
      misplaced: [],
      quoted: [],
    });
  });

  test("whatever is given, what is repeated of it is no signal", () => {
    const piece = fc.constantFrom(
      "<",
      ">",
      "/",
      "promise",
      "<promise>",
      "</promise>",
      "SUCCESS",
      "FAILURE",
      " ",
      "\n",
      "`",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = compose({ act: ["x"] }, { context: [{ text: pieces.join("") }] });
        const from = text.indexOf("=== CONTEXT ===");
        const repeated = from < 0 ? "" : text.slice(from, text.indexOf(`${LINE}\nPHASE`));
        expect(signalsIn(repeated)).toMatchObject({ success: false, failure: false });
      }),
      { numRuns: 2000 },
    );
  });

  test("other angle brackets stay as they are", () => {
    const text = compose({ act: ["x"] }, { context: [{ text: "a < b, Promise<void>, <p>promise</p>" }] });
    expect(text).toContain("\na < b, Promise<void>, <p>promise</p>\n");
    expect(text).not.toContain("of your own");
  });
});
