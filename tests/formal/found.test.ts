import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  errorsOf,
  makePlace,
  openSession,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
} from "../harness/harness.ts";

/** Formal workflows that no one registered: written by an agent, or standing in notes and plans. */
afterAll(removePlaces);

const PATH = "untracked/workflow-state/feature-implementation/state-feature-implementation-20251209_143052.json";
const DOCUMENT = {
  workflow: "Feature Implementation (User Auth)",
  workflow_type: "implementation",
  phase: { current: 2, total: 5, name: "Build Components", status: "in_progress" },
  required_reading: ["@CLAUDE/PlanWorkflow.md", "docs/plain.md"],
  context: { plan_number: 1 },
  key_reminders: ["Run tests after each component"],
  created_at: "2025-12-09T14:30:52.123456Z",
};

function put(place: Place, path: string, text: string): void {
  mkdirSync(dirname(join(place.root, path)), { recursive: true });
  writeFileSync(join(place.root, path), text);
}

function wrote(session: Session, path: string): void {
  transcribePrompt(session, "begin");
  transcribeMessage(session, [{ type: "tool_use", id: "w1", name: "Write", input: { file_path: path, content: "…" } }]);
}

function compact(place: Place, session: Session) {
  const before = runHook(place, payload(place, session, "PreCompact", { trigger: "auto", custom_instructions: null }));
  const after = runHook(place, payload(place, session, "SessionStart", { source: "compact" }));
  expect([before.code, after.code]).toEqual([0, 0]);
  return { summary: before.out, guidance: after.out };
}

const runs = (place: Place) => {
  const folder = join(place.root, ".pawl/runs");
  return existsSync(folder) ? readdirSync(folder) : [];
};
const start = (place: Place, session: Session, source: string) =>
  runHook(place, payload(place, session, "SessionStart", { source })).out;

test("a document this session wrote becomes its run, found by its name, repaired, kept in its place", () => {
  const place = makePlace();
  const session = openSession(place, "writer");
  put(place, PATH, JSON.stringify(DOCUMENT));
  wrote(session, join(place.root, PATH));
  const { summary, guidance } = compact(place, session);
  expect(summary).toContain("phase 2/5 - Build Components");
  expect(guidance).toContain("WORKFLOW RESTORED");
  expect(guidance).toContain("@docs/plain.md");
  expect(runs(place)).toHaveLength(1);
  const document = JSON.parse(readFileSync(join(place.root, PATH), "utf8"));
  expect(document).toMatchObject({ ...DOCUMENT, required_reading: ["@CLAUDE/PlanWorkflow.md", "@docs/plain.md"] });
  expect(document).toMatchObject({ session_id: session.id, run: runs(place)[0]! });
  compact(place, session);
  expect(runs(place)).toHaveLength(1);
});

test("a document of somebody else is not taken, but named, and can be adopted", () => {
  const place = makePlace();
  const session = openSession(place, "other");
  put(place, PATH, JSON.stringify(DOCUMENT));
  transcribePrompt(session, "hello");
  expect(compact(place, session)).toEqual({ summary: "", guidance: "" });
  expect(runs(place)).toEqual([]);
  expect(runPawl(place, ["runs"]).out).toContain(`pawl runs adopt ${PATH}`);
  const adopted = runPawl(place, ["runs", "adopt", PATH]);
  expect([adopted.code, adopted.err]).toEqual([0, ""]);
  expect(runPawl(place, ["runs"]).out).toContain("Feature Implementation (User Auth) - Build Components");
  expect(runPawl(place, ["runs", "restore"]).out).toContain("Phase: 2/5 - Build Components (in_progress)");
  expect(runPawl(place, ["runs", "adopt", "untracked/workflow-state/no/such.json"]).err).toContain("hint:");
});

test("notes with a workflow's name make a run; without a name nothing is invented", () => {
  for (const [text, found] of [
    [
      "# Current Workflow State\n\nWorkflow: Page Orchestration\nPhase: 4/10 - SEO Generation\n\n@CLAUDE/Pages.md\n",
      true,
    ],
    ["# WORKFLOW STATE\n\nPhase: 4/10 - SEO Generation\n", false],
    ["Nothing of the kind.\n", false],
  ] as const) {
    const place = makePlace();
    const session = openSession(place, "notes");
    put(place, "CLAUDE.local.md", text);
    transcribePrompt(session, "hello");
    const { guidance } = compact(place, session);
    expect(guidance.includes("Phase: 4/10 - SEO Generation")).toBe(found);
    expect(runs(place)).toHaveLength(found ? 1 : 0);
  }
});

test("an active plan is found", () => {
  const place = makePlace();
  const session = openSession(place, "plan");
  put(
    place,
    "CLAUDE/Plan/001-auth/PLAN.md",
    "# Plan 001: User Auth\n\n**Status**: 🔄 In Progress\n\nPhase 1, see CLAUDE/PlanWorkflow.md\n",
  );
  transcribePrompt(session, "hello");
  const { guidance } = compact(place, session);
  expect(guidance).toContain("User Auth");
  expect(guidance).toContain("@CLAUDE/PlanWorkflow.md");
});

test("two sessions: the other one's workflow is no business of ours", () => {
  const place = makePlace();
  const writer = openSession(place, "writer");
  put(place, PATH, JSON.stringify(DOCUMENT));
  wrote(writer, join(place.root, PATH));
  compact(place, writer);
  const other = openSession(place, "other");
  transcribePrompt(other, "hello");
  expect(compact(place, other)).toEqual({ summary: "", guidance: "" });
  expect(start(place, other, "startup")).toBe("");
  runHook(place, payload(place, writer, "SessionEnd", { reason: "other" }));
  const line = start(place, other, "startup");
  expect(line).toContain("waiting for someone here");
  expect(line).not.toContain("additionalContext");
  expect(start(place, writer, "resume")).toContain("Phase: 2/5");
});

test("hostile documents: compaction is never kept, a good one beside them is still found", () => {
  const place = makePlace();
  const session = openSession(place, "hostile");
  for (let n = 0; n < 3000; n++) put(place, `untracked/workflow-state/w${n % 50}/state-${n}.json`, n % 2 ? "[]" : "{");
  put(place, "untracked/workflow-state/big/state-big.json", " ".repeat(5 << 20));
  put(place, PATH, JSON.stringify(DOCUMENT));
  wrote(session, join(place.root, PATH));
  expect(compact(place, session).guidance).toContain("Phase: 2/5");
  expect(runs(place)).toHaveLength(1);
});

test("a project that cannot be written: compaction goes on, the reason is in the log", () => {
  const place = makePlace();
  const session = openSession(place, "readonly");
  put(place, PATH, JSON.stringify(DOCUMENT));
  put(place, ".pawl", "a file where a folder should be");
  wrote(session, join(place.root, PATH));
  const { summary } = compact(place, session);
  expect(summary).not.toContain("{");
  expect(errorsOf(place)).toContain("discover");
  const stop = runHook(place, payload(place, session, "Stop", stopFields(session, "still here")));
  expect([stop.code, stop.out]).toEqual([0, ""]);
});
