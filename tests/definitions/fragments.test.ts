/** What agents are told about signals, in every text of the repository: one form, and no other is ever shown. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { FRAGMENTS } from "../../src/definitions/builtin/fragments.ts";
import { PROCEDURES } from "../../src/definitions/builtin/procedures.ts";
import { listProcedures } from "../../src/definitions/procedures.ts";
import { PHASES, type Procedure } from "../../src/kernel/types/procedure.ts";
import { composePrompt } from "../../src/loop/core/compose.ts";
import { signalsIn } from "../../src/loop/core/signal.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
const TOLD = ["fragments", "procedures", "prompts", "workflows", "docs", "examples", "plugin"];

function filesIn(path: string): string[] {
  if (!statSync(join(REPOSITORY, path)).isDirectory()) return [path];
  return readdirSync(join(REPOSITORY, path)).flatMap((name) => filesIn(`${path}/${name}`));
}

const read = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");
const pages = () => [
  ...readdirSync(REPOSITORY).filter((name) => name.endsWith(".md")),
  ...TOLD.flatMap(filesIn).filter((path) => /\.(?:md|ya?ml|txt)$/.test(path)),
];

// ── The lint ────────────────────────────────────────────────────────────────

const TAG =
  /(?:<|&lt;)\s*promise\b[^<>\n]{0,80}(?:>|&gt;)([^<&]{0,300})(?:<|&lt;)\s*\/?\s*promise\s*(?:>|&gt;)|<\s*promise\s*>\s*(?:success|failure)\b(?!<\/promise>)/gi;
const EXACT = /^<promise>(?:[A-Z][A-Z0-9_]*|…)<\/promise>$/;
const MARKER = "<!-- counter-example -->";
/** With the last one the program itself tells of a tag that was none. */
const MARKERS = ["❌", MARKER, "almost a signal, but none: "];

/** What is shown of tags and is none: line and text. A marker stands on the line, or above the block. */
function wrongTags(text: string): string[] {
  const excused = excusedLines(text.split("\n"));
  return [...text.matchAll(TAG)]
    .filter(([tag]) => !EXACT.test(tag.replaceAll("&lt;", "<")))
    .map(({ 0: tag, index }) => ({ tag, line: text.slice(0, index).split("\n").length }))
    .filter(({ line }) => !excused.has(line))
    .map(({ tag, line }) => `${line}: ${tag}`);
}

function excusedLines(lines: string[]): Set<number> {
  const excused = new Set<number>();
  let block: "marked" | "plain" | null = null;
  for (const [index, line] of lines.entries()) {
    const isFence = /^\s*```/.test(line);
    if (MARKERS.some((marker) => line.includes(marker)) || block === "marked") excused.add(index + 1);
    if (isFence) block = block ? null : (lines[index - 1] ?? "").includes(MARKER) ? "marked" : "plain";
  }
  return excused;
}

describe("the lint itself", () => {
  const cases: [what: string, text: string, wrong: number][] = [
    ["the form", "<promise>SUCCESS</promise>\n\nAll done.", 0],
    ["in a sentence", "Output the exact signal: <promise>FAILURE</promise>", 0],
    ["signals of workflows", "<promise>REVIEW_COMPLETE</promise>", 0],
    ["any of them", "write <promise>…</promise> alone", 0],
    ["a reason inside", "<promise>FAILURE: no key</promise>", 1],
    ["lower case", "<promise>success</promise>", 1],
    ["blanks", "<promise> SUCCESS </promise>", 1],
    ["the tag in capitals", "<PROMISE>SUCCESS</PROMISE>", 1],
    ["blanks in the tag", "<promise >SUCCESS</promise>", 1],
    ["over lines", "<promise>\nSUCCESS\n</promise>", 1],
    ["not closed", "end with <promise>SUCCESS", 1],
    ["closed as it was opened", "<promise>SUCCESS<promise>", 1],
    ["for HTML", "| &lt;promise>done&lt;/promise> |", 1],
    ["two in a line", "<promise>a</promise> or <promise>b</promise>", 2],
    ["for HTML, and right", "| &lt;promise>DONE&lt;/promise> |", 0],
    ["told by the program", "almost a signal, but none: <promise>done</promise>", 0],
    ["marked as wrong", "❌ <promise>FAILURE: no key</promise>", 0],
    ["marked by a comment", `<promise>success</promise> ${MARKER}`, 0],
    ["a marked block", `${MARKER}\n\`\`\`text\n<promise>a</promise>\n\`\`\`\n`, 0],
    ["behind a marked block", `${MARKER}\n\`\`\`\nx\n\`\`\`\n<promise>a</promise>\n`, 1],
    ["in a block that is not marked", "```\n<promise>a</promise>\n```\n", 1],
  ];
  test.each(cases)("%s", (_, text, wrong) => expect(wrongTags(text)).toHaveLength(wrong));
});

test("no fragment, procedure, prompt, page or example shows a signal that is none", () => {
  const found = pages().flatMap((path) => wrongTags(read(path)).map((wrong) => `${path}:${wrong}`));
  expect(found).toEqual([]);
});

test("all of it is looked at", () => {
  const seen = pages();
  for (const path of [
    "README.md",
    "fragments/act/emit_success.md",
    "procedures/build.yaml",
    "prompts/complete-work/review.md",
    "workflows/complete-work.yaml",
    "docs/reference/error-handling.md",
    "docs/guides/troubleshooting.md",
    "plugin/agents/deep-reviewer.md",
    "examples/review-gate/.pawl/workflows/ship.yaml",
  ])
    expect(seen).toContain(path);
});

// ── Fragments ───────────────────────────────────────────────────────────────

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

describe("fragments", () => {
  test("all files are in the binary, and nothing else", () => {
    expect([...FRAGMENTS.keys()].sort()).toEqual(
      filesIn("fragments")
        .map((path) => path.replace(/^fragments\//, ""))
        .sort(),
    );
    for (const [path, text] of FRAGMENTS) expect(text).toBe(read(`fragments/${path}`));
  });

  test("each has a title and at most 100 words; the examples of emit_success need more", () => {
    const long = [...FRAGMENTS].filter(([path, text]) => words(text) > 100 && path !== "act/emit_success.md");
    expect(long.map(([path, text]) => `${path}: ${words(text)}`)).toEqual([]);
    expect([...FRAGMENTS].filter(([, text]) => !/^# \S/.test(text)).map(([path]) => path)).toEqual([]);
  });

  test("each is used, and folders are phases", () => {
    const used = new Set(procedures().flatMap(({ phases }) => sources(phases)));
    expect([...FRAGMENTS.keys()].filter((path) => !used.has(`builtin:${path}`))).toEqual([]);
    expect([...new Set([...FRAGMENTS.keys()].map((path) => path.split("/")[0]))].sort()).toEqual([...PHASES].sort());
  });

  test("what a fragment tells to type is there", () => {
    const commands = [...FRAGMENTS.values()].flatMap((text) => text.match(/`pawl [a-z-]+/g) ?? []);
    expect(commands.length).toBeGreaterThan(5);
    const known = ["`pawl task", "`pawl loop"];
    expect(commands.filter((command) => !known.includes(command))).toEqual([]);
  });
});

/** Each keeps what it was planned to say, in this order. */
const KEPT: Record<string, string[]> = {
  "act/emit_success.md": [
    "# Emit Success",
    "For work tracking procedures (build): Signal SUCCESS only when no ready work remains.",
    "For planning/auditing procedures: Signal SUCCESS only when output is minimal, complete, and accurate.",
    "For single-task procedures (sync): Signal SUCCESS when the task completes.",
    "- Output the exact signal: <promise>SUCCESS</promise>",
    "- After the signal, include summary of what was accomplished",
    "- List files modified or created",
    "- Note any follow-up actions needed",
    "Example (build procedure, no work remaining):\n<promise>SUCCESS</promise>\n\nAll ready work completed:",
    "Example (audit procedure, validated output):\n<promise>SUCCESS</promise>\n\nAudit completed and validated:",
    "Example (draft plan procedure, validated output):\n<promise>SUCCESS</promise>\n\nDraft plan completed and validated:",
  ],
  "act/emit_failure.md": [
    "# Emit Failure",
    "- Output the exact signal: <promise>FAILURE</promise>",
    "- After the signal, explain why work is blocked",
    "- List missing prerequisites or dependencies",
    "- Suggest what needs to happen to unblock",
    "- Provide actionable next steps",
    "Example:\n<promise>FAILURE</promise>\n\nWork is blocked because:",
    "To unblock:\n1. Run `pawl loop bootstrap` to configure work tracking",
  ],
  "decide/check_if_blocked.md": [
    "# Check If Blocked",
    "- Missing dependencies or prerequisites",
    "- Unresolved questions or ambiguities",
    "- Required resources not available",
    "- Conflicting requirements",
    "If blocked, output the exact signal: <promise>FAILURE</promise>\nThen explain the blockers.",
    "Otherwise, proceed to the ACT phase.",
  ],
  "act/write_audit_report.md": validated("# Write Audit Report", "report", [
    "All findings documented",
    "Evidence supports conclusions",
  ]),
  "act/write_draft_plan.md": validated("# Write Draft Plan", "plan", [
    "All requirements covered",
    "Tasks are actionable and correctly scoped",
  ]),
  "act/write_gap_report.md": validated("# Write Gap Report", "report", [
    "All gaps documented",
    "Gap analysis is correct",
  ]),
};

function validated(title: string, what: string, [complete, accurate]: string[]): string[] {
  return [
    title,
    `After writing, validate the ${what}:`,
    "- Is it minimal? (No unnecessary",
    `- Is it complete? (${complete})`,
    `- Is it accurate? (${accurate})`,
    "Only proceed to emit_success if validation passes.",
  ];
}

test.each(Object.entries(KEPT))("%s says what it has to, in order", (path, wanted) => {
  const text = FRAGMENTS.get(path)!;
  const places = wanted.map((part) => text.indexOf(part));
  expect(wanted.filter((_, index) => places[index]! < 0)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

// ── Procedures ──────────────────────────────────────────────────────────────

const nowhere = "/nonexistent";

function procedures(): Procedure[] {
  return listProcedures(nowhere, nowhere).flatMap((found) => ("procedure" in found ? [found.procedure] : []));
}

const sources = (phases: Procedure["phases"]) => PHASES.flatMap((phase) => phases[phase].map(({ source }) => source));
const prompt = (procedure: Procedure) => composePrompt(procedure, { iteration: 1, max: 5 }, { context: [], notes: [] });

const NAMES = [
  ..."agents-sync build publish-plan audit-spec audit-impl audit-agents audit-spec-to-impl audit-impl-to-spec".split(
    " ",
  ),
  ...["spec", "impl"].flatMap((of) => ["feat", "fix", "refactor", "chore"].map((kind) => `draft-plan-${of}-${kind}`)),
  "bootstrap",
  "auto",
];

describe("procedures", () => {
  test("these and no others, without mistakes; all files are in the binary", () => {
    expect(
      procedures()
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...NAMES].sort());
    expect([...PROCEDURES.keys()].map((name) => `procedures/${name}.yaml`).sort()).toEqual(
      filesIn("procedures").sort(),
    );
  });

  test("the main ones come first", () => {
    const mains = procedures().map(({ main }) => main === true);
    expect(mains.indexOf(false)).toBe(mains.filter(Boolean).length);
    expect(procedures()[0]?.name).toBe("build");
  });

  test.each(NAMES)("%s: a decide step and an emit step, as signals are read", (name) => {
    const procedure = procedures().find((one) => one.name === name)!;
    const { decide, act } = procedure.phases;
    expect(decide.map(({ source }) => source)).toContain("builtin:decide/decide_signal.md");
    expect(act.at(-1)!.source).toMatch(/^builtin:act\/emit_(?:failure|signal)\.md$/);
    const text = prompt(procedure);
    expect(signalsIn(text)).toMatchObject({ success: true, failure: true, malformed: [] });
    for (const meaning of [procedure.success, procedure.again, procedure.failure])
      expect(text.split(meaning).length).toBe(3);
    expect(text).not.toMatch(/\{[a-z_]+\}/);
    expect(wrongTags(text)).toEqual([]);
  });

  test("who is told to go on to emit_success has it", () => {
    for (const procedure of procedures().filter((one) => prompt(one).includes("proceed to emit_success")))
      expect(sources(procedure.phases)).toContain("builtin:act/emit_success.md");
  });

  test("SUCCESS of plans and audits is checked by what they write, of build by what is committed", () => {
    const wanted = (name: string) => (name === "build" ? "git" : /^(?:audit|draft-plan)/.test(name) ? "artefact" : "");
    for (const { name, gates } of procedures().filter((one) => wanted(one.name) !== ""))
      expect({ name, kinds: gates.flatMap((gate) => Object.keys(gate)) }).toMatchObject({
        name,
        kinds: expect.arrayContaining([wanted(name)]),
      });
  });

  test("the file of a report is the one that the gate looks for", () => {
    for (const procedure of procedures())
      for (const { artefact } of procedure.gates)
        if (artefact !== undefined) expect(prompt(procedure)).toContain(`\`${artefact}\``);
  });

  test("one finished task of build is no signal", () => {
    const build = procedures().find(({ name }) => name === "build")!;
    expect(build.success).toStartWith("No ready work remains");
    expect(prompt(build)).toContain("one finished task is not the goal");
  });
});
