import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DetectedWorkflow, detectInNotes, detectInPlan } from "../../../src/formal/core/detect.ts";
import { ownTime } from "../../harness/own-time.ts";

const SEED_NOTES = `# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md
@CLAUDE/Sitemap/case-studies.md
`;
const phase = (current: number, total: number, name: string, status = "in_progress") =>
  ({ current, total, name, status }) as DetectedWorkflow["phase"];
const UNKNOWN = phase(1, 1, "In Progress");

const NOTES: [string, string, Partial<DetectedWorkflow> | null][] = [
  [
    "the seed's example",
    SEED_NOTES,
    {
      name: "Page Orchestration - Case Studies",
      type: "custom",
      phase: phase(4, 10, "SEO Generation"),
      required_reading: ["@CLAUDE/PageOrchestration.md", "@CLAUDE/Sitemap/case-studies.md"],
      context: {},
      key_reminders: [],
    },
  ],
  [
    "Windows line ends and a BOM",
    `\uFEFF${SEED_NOTES.replaceAll("\n", "\r\n")}`,
    { phase: phase(4, 10, "SEO Generation") },
  ],
  ["lower case", "workflow: qa\nphase: 2/3 - fix", { name: "qa", phase: phase(2, 3, "fix") }],
  ["capitals", "WORKFLOW: QA\nPHASE: 2/3 - FIX", { name: "QA", phase: phase(2, 3, "FIX") }],
  ["list items", "- Workflow: QA\n* Phase: 2/3 - Fix\n- @a/b.md", { name: "QA", required_reading: ["@a/b.md"] }],
  ["bold with the colon inside", "**Workflow:** QA\n**Phase:** 2/3 - Fix", { name: "QA", phase: phase(2, 3, "Fix") }],
  [
    "bold with the colon outside",
    "- **Workflow**: QA\n- **Phase**: 2/3 - Fix",
    { name: "QA", phase: phase(2, 3, "Fix") },
  ],
  ["code and quotes around the name", 'Workflow: `QA`\n\nworkflow: "other"\nPhase: 1/2 - x', { name: "QA" }],
  ["a quoted name", 'workflow: "QA: the loop"\nPhase: 1/2 - x', { name: "QA: the loop" }],
  ["a name of another script", "Workflow: 日本語の手順\nPhase: 1/2 - x", { name: "日本語の手順" }],
  ["no phase", "Workflow: QA\n@a.md", null],
  ["a rule, and no phase", "Workflow: always run the tests", null],
  ["a rule, and phases that are none", "Workflow: always run the tests\n\nPhases: see PLAN.md", null],
  ["Phase 4 of 10: name", "Workflow: QA\nPhase 4 of 10: SEO", { phase: phase(4, 10, "SEO") }],
  ["Phase: 4 of 10 (name)", "Workflow: QA\nPhase: 4 of 10 (SEO)", { phase: phase(4, 10, "SEO") }],
  ["a dash that is long", "Workflow: QA\nPhase: 4/10 — SEO - part two", { phase: phase(4, 10, "SEO - part two") }],
  ["a phase without a name", "Workflow: QA\nPhase: 4/10", { phase: phase(4, 10, "In Progress") }],
  ["a phase without a total", "Workflow: QA\nPhase: 4 - SEO", { phase: phase(4, 4, "SEO") }],
  ["a phase without a number", "Workflow: QA\nPhase: SEO", { phase: phase(1, 1, "SEO") }],
  ["a phase of letters", "Workflow: QA\nPhase: x/y", null],
  ["phase 0", "Workflow: QA\nPhase: 0/0 - a", { phase: phase(1, 1, "a") }],
  ["phase 5 of 3", "Workflow: QA\nPhase: 5/3 - a", { phase: phase(5, 5, "a") }],
  ["a status", "Workflow: QA\nPhase: 2/3 - Fix (blocked)", { phase: phase(2, 3, "Fix", "blocked") }],
  ["a sign for the status", "Workflow: QA\nPhase: 2/3 - Fix ✅", { phase: phase(2, 3, "Fix", "completed") }],
  ["a type", "Workflow: QA\nType: QA Loop\nPhase: 1/2 - x", { type: "qa-loop" }],
  ["a type of its own", "Workflow: QA\nType: magic\nPhase: 1/2 - x", { type: "custom" }],
  [
    "reminders",
    "Workflow: QA\n## Key Reminders\n- one\n- **two**\n\n## More\n- three\nPhase: 1/2 - x",
    { key_reminders: ["one", "two"] },
  ],
  [
    "paths in list items",
    "Workflow: QA\n1. Read `@a/b.md`, then @c.md.\nPhase: 1/2 - x",
    { required_reading: ["@a/b.md", "@c.md"] },
  ],
  [
    "people and mail",
    "Workflow: QA\n- ask @maria or me@x.org\nwrite to @paul.md\nPhase: 1/2 - x",
    { required_reading: [] },
  ],
  [
    "paths out of the project",
    "Workflow: QA\n@/etc/passwd\n@~/x.md\n@../y.md\n@a/../../z.md\nPhase: 1/2 - x",
    { required_reading: [] },
  ],
  ["a path twice", "Workflow: QA\n@a.md\n- @a.md\nPhase: 1/2 - x", { required_reading: ["@a.md"] }],
  ["the first name that is one", "Workflow: none\nWorkflow:\nWorkflow: QA\nPhase: 1/2 - x", { name: "QA" }],
  ["nothing", "", null],
  ["the marker alone", "# WORKFLOW STATE\nPhase: 4/10 - SEO\n@a.md", null],
  ["a name that says none", "Workflow: none\nPhase: 1/2 - x", null],
  ["a placeholder", "Workflow: <name>\nworkflow: {workflow}\nworkflow: [TBD]\nworkflow: ...\nPhase: 1/2 - x", null],
  ["only an example", "```markdown\nWorkflow: QA\nPhase: 1/2 - x\n```", null],
  ["a comment", "Phase: 1/2 - x\n<!-- Workflow: QA -->\n<!--\nWorkflow: QA\n", null],
  ["a sentence", "Our git workflow: branches. The workflow is: test first.\nPhase: 1/2 - x", null],
];

test.each(NOTES)("notes: %s", (_, text, expected) => {
  const found = detectInNotes(text);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});

const PATH = "CLAUDE/Plan/001-user-auth/PLAN.md";
const SEED_PLAN = `# Plan 001: User Auth

**Status**: 🔄 In Progress

## Phases
See CLAUDE/PlanWorkflow.md and [the skill](.claude/skills/auth/SKILL.md), also @CLAUDE/PlanWorkflow.md.
`;
const plan = (status: string, body = "The phases.") => `# Plan 7: Seven\n\n${status}\n\n## More\n${body}\n`;

const PLANS: [string, string, Partial<DetectedWorkflow> | null][] = [
  [
    "as the seed describes it",
    SEED_PLAN,
    {
      name: "Plan 001: User Auth",
      type: "custom",
      phase: UNKNOWN,
      context: { plan_number: 1, plan_name: "User Auth" },
      required_reading: [`@${PATH}`, "@CLAUDE/PlanWorkflow.md", "@.claude/skills/auth/SKILL.md"],
    },
  ],
  ["Windows line ends and a BOM", `\uFEFF${SEED_PLAN.replaceAll("\n", "\r\n")}`, { name: "Plan 001: User Auth" }],
  [
    "headings of phases, the later one going on",
    plan("Status: 🔄 In Progress", "### Phase 1: Design\n### Phase 2: Build 🔄\n### Phase 3: Test"),
    { phase: phase(2, 3, "Build") },
  ],
  ["other capitals", plan("STATUS: 🔄 IN PROGRESS"), { name: "Plan 7: Seven" }],
  ["in_progress", plan("status: in_progress"), { name: "Plan 7: Seven" }],
  ["the sign without a status line", plan("🔄 In Progress"), { name: "Plan 7: Seven" }],
  ["a table", plan("| Status | 🔄 In Progress |"), { name: "Plan 7: Seven" }],
  ["the word workflow", plan("🔄 In Progress", "A Workflow."), { name: "Plan 7: Seven" }],
  [
    "a title without a number",
    "# User Auth\n🔄 in progress\nphase",
    { context: { plan_number: 1, plan_name: "User Auth" } },
  ],
  [
    "headings of phases",
    plan("Status: 🔄 In Progress", "### Phase 1: Design ✅\n### Phase 2: Build 🔄 In Progress\n### Phase 3: Test"),
    { phase: phase(2, 3, "Build") },
  ],
  [
    "headings of phases, none marked as going on",
    plan("Status: 🔄 In Progress", "### Phase 1: Design ✅\n### Phase 2: Build\n### Phase 3: Test"),
    { phase: phase(2, 3, "Build") },
  ],
  ["a phase line", plan("Status: 🔄 In Progress\nPhase: 2/5 - Build"), { phase: phase(2, 5, "Build") }],
  [
    "references in code fences",
    plan("🔄 In Progress", "phase\n```\nCLAUDE/a.md\n```"),
    { required_reading: [`@${PATH}`] },
  ],
  [
    "references elsewhere",
    plan("🔄 In Progress", "phase x/CLAUDE/a.md CLAUDE/../b.md CLAUDE/c.mdx https://h/CLAUDE/d.md CLAUDE/e.md."),
    { required_reading: [`@${PATH}`, "@CLAUDE/e.md"] },
  ],
  ["completed", plan("**Status**: ✅ Complete", "Phase 1: was 🔄 In Progress"), null],
  ["its own status before its phases'", plan("Status: Proposed", "### Phase 1 🔄 In Progress"), null],
  ["only a legend", plan("", "phase: ⬜ Not Started, 🔄 In Progress, ✅ Complete"), null],
  ["not in progress", plan("Status: not in progress"), null],
  ["in progress, but no formal workflow", "# Plan 7: Seven\n🔄 In Progress\nParaphased emphases.", null],
  ["no title", "🔄 In Progress\nphase", null],
  ["only in a fence", "# Plan 7: Seven\n~~~\n🔄 In Progress\n~~~\nphase", null],
  ["prose about progress", plan("", "The phase in progress is described elsewhere."), null],
];

test.each(PLANS)("plan: %s", (_, text, expected) => {
  const found = detectInPlan(text, PATH);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
  if (expected?.required_reading) expect(found?.required_reading).toEqual(expected.required_reading);
});

describe("any text", () => {
  const piece = fc.constantFrom(
    "Workflow: ",
    "Phase: ",
    "4/10",
    " - ",
    "\n",
    "@a.md",
    "```\n",
    "# Plan 1: x\n",
    "🔄 In Progress",
    "- ",
    "**",
    "<!--",
  );
  const text = fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 30 });

  test("gives a sound workflow or none", () => {
    fc.assert(
      fc.property(text, (pieces) => {
        for (const found of [detectInNotes(pieces.join("")), detectInPlan(pieces.join(""), PATH)]) {
          if (!found) continue;
          expect(found.name.trim()).not.toBe("");
          expect(found.phase.current).toBeGreaterThan(0);
          expect(found.phase.total).toBeGreaterThanOrEqual(found.phase.current);
          expect(found.required_reading.every((path) => /^@[^/~@\s]/.test(path))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  const HOSTILE = [
    "<!--",
    "```\n",
    "- ",
    "@a ",
    "* ",
    "# Phase 1 ",
    "(",
    "workflow: ",
    "\n",
    "CLAUDE/",
    "🔄 ",
    "> ",
    "- [ ] ",
    `Phase: 1/2 - a${" ".repeat(1900)}b\n`,
    `phase${" ".repeat(1900)}\n`,
    `### Phase 1${" ".repeat(1900)}x\n`,
    "x\n",
  ];
  test.each(HOSTILE)("%j a megabyte long takes no time", (unit) => {
    const long = `# Plan 1: x\n🔄 In Progress\nphase\nworkflow: w\n${unit.repeat(1_000_000 / unit.length)}`;
    expect(ownTime(() => void detectInNotes(long))).toBeLessThan(3_000);
    expect(ownTime(() => void detectInPlan(long, PATH))).toBeLessThan(3_000);
  });
});
