import { expect, test } from "bun:test";
import fc from "fast-check";
import { WORKFLOWS } from "../../../src/definitions/builtin/workflows.ts";
import { compileWorkflow } from "../../../src/definitions/compile.ts";
import { promptReader } from "../../../src/definitions/sources.ts";
import { type Beginning, beginRun } from "../../../src/engine/core/begin.ts";
import { decide } from "../../../src/engine/core/decide.ts";
import type { Event, EventKind, Fact, Facts, NotesFact, Run, Step, Workflow } from "../../../src/kernel/types/run.ts";

/** A run found in notes, three writers (notes, document, command), and turning points in between. */

const PATH = "CLAUDE.local.md";
const PLAN = "CLAUDE/Plan/001-a/PLAN.md";

function custom(): Workflow {
  const compiled = compileWorkflow(WORKFLOWS.get("custom")!, "workflows/custom.yaml", promptReader(""));
  if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
  return compiled.workflow;
}

interface Notebook {
  workflow: Workflow;
  run: Run;
  disk: string;
  notes: Fact<NotesFact | null>;
  clock: number;
}

const text = (phase: number, more = "") => `Workflow: W\nPhase: ${phase}/9 - P${phase}\n\n@a.md\n${more}`;
const at = (clock: number) => new Date(Date.UTC(2026, 0, 2) + clock * 1000).toISOString();

function eventOf(book: Notebook, kind: EventKind): Event {
  book.clock += 1;
  const event = { id: `e${book.clock}`, at: at(book.clock), host: "claude", session: "S1", turn: "t1", via: "local" };
  return { ...event, ...kind };
}

/** null: nothing was decided. */
function settle(book: Notebook, step: (facts: Facts) => Step) {
  const state = book.disk === "" ? "missing" : "present";
  const facts: Facts = { document: { ok: true, value: { state, text: book.disk, hash: "h" } } };
  for (let round = 0; round < 4; round++) {
    const next = step(facts);
    if ("none" in next) return null;
    if ("decision" in next) {
      book.run = JSON.parse(JSON.stringify(next.decision.run));
      for (const effect of next.decision.effects) if (effect.kind === "document") book.disk = effect.text ?? "";
      return next.decision;
    }
    for (const need of next.need) {
      if (need.kind === "notes") facts.notes = book.notes;
      else if (need.kind === "files") facts.files = { ok: true, value: {} };
      else if (need.kind === "tools") facts.tools = { ok: true, value: [] };
      else facts.git = { ok: false, why: "none" };
    }
  }
  throw new Error("more than four rounds");
}

function happen(book: Notebook, kind: EventKind) {
  const event = eventOf(book, kind);
  return settle(book, (facts) => decide({ workflow: book.workflow, run: book.run, event, facts }));
}

function writeNotes(book: Notebook, now: string): void {
  book.clock += 1;
  book.notes = { ok: true, value: { text: now, changed_at: at(book.clock) } };
}

function found(path: string | null): Notebook {
  const workflow = custom();
  const phase = { current: 1, total: 9, name: "P1", status: "in_progress" as const };
  const content = { phase, required_reading: ["@a.md"], context: {}, key_reminders: [], extra: {} };
  const formal: Beginning = { name: "W", type: "custom", phases: [], content, created_at: null };
  const book: Notebook = { workflow, run: {} as Run, disk: "", notes: { ok: true, value: null }, clock: 0 };
  writeNotes(book, text(1));
  const event = eventOf(book, { kind: "compacting", trigger: "auto" });
  const plan = { id: "c-1", documentPath: "untracked/w.json", beside: [], stages: [] };
  const where = path === null ? formal : { ...formal, notes: path };
  settle(book, (facts) => beginRun({ workflow, event, facts, formal: where, ...plan }));
  return book;
}

const compact: EventKind = { kind: "compacting", trigger: "auto" };
const restart: EventKind = { kind: "start", source: "compact" };
const phaseOf = ({ run }: Notebook) => run.formal!.phase.current;

type Act = { do: "notes" | "document" | "command"; phase: number } | { do: "turn" | "stop" | "unreadable" };
const phase = fc.integer({ min: 1, max: 9 });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom("notes" as const, "document" as const, "command" as const), phase }),
  fc.record({ do: fc.constantFrom("turn" as const, "turn" as const, "stop" as const, "unreadable" as const) }),
);

function perform(book: Notebook, step: Act): void {
  if (step.do === "notes") writeNotes(book, text(step.phase));
  else if (step.do === "document") {
    const document = JSON.parse(book.disk);
    const now = { current: step.phase, total: 9, name: `D${step.phase}`, status: "in_progress" };
    book.disk = JSON.stringify({ ...document, phase: now });
  } else if (step.do === "command") {
    happen(book, { kind: "command", name: "phase", why: "", phase: { to: "set", current: step.phase } });
  } else if (step.do === "unreadable") {
    const kept = book.notes;
    book.notes = { ok: false, why: "unreadable" };
    happen(book, restart);
    book.notes = kept;
  } else if (step.do === "turn") happen(book, book.clock % 2 === 0 ? compact : restart);
  else happen(book, { kind: "stop", message: "", continuing: false, background: 0, agents: [], scheduled: false });
}

test("a turning point knows the newest word of each writer, and an old one says nothing twice", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const book = found(PATH);
      let truth = 1;
      let unread: { notes: number | null; document: number | null } = { notes: null, document: null };
      let lastNotes = 1;
      for (const step of acts) {
        perform(book, step);
        if (step.do === "notes") unread.notes = step.phase;
        if (step.do === "document") unread.document = step.phase;
        if (step.do === "notes" || step.do === "document") continue;
        truth = unread.document ?? truth;
        if (step.do === "command") truth = step.phase;
        if (step.do === "turn" && unread.notes !== null && unread.notes !== lastNotes) truth = unread.notes;
        if (step.do === "turn") lastNotes = unread.notes ?? lastNotes;
        unread = { notes: step.do === "turn" ? null : unread.notes, document: null };
        expect(phaseOf(book)).toBe(truth);
        expect(book.run.formal!.required_reading).toEqual(["@a.md"]);
        expect(book.run.status).toBe("active");
      }
    }),
    { numRuns: 300 },
  );
});

const OVER: [string, string | null, string, Fact<NotesFact | null> | string, boolean][] = [
  ["the line is gone", PATH, "", "Nothing here.", true],
  ["no phase any more", PATH, "", "Workflow: W", true],
  ["the file is gone", PATH, "", { ok: true, value: null }, true],
  ["the file cannot be read", PATH, "", { ok: false, why: "unreadable" }, false],
  ["another one", PATH, "", "Workflow: V\nPhase: 1/2 - x", true],
  ["the same one in other letters", PATH, "", "workflow: w\nPhase: 2/9 - P2", false],
  ["gone, but an agent keeps the document", PATH, "D2", "Nothing here.", false],
  ["begun by command, and never in notes", null, "", "Nothing here.", false],
  ["a plan in progress, with another title", PLAN, "", "# V\nStatus: 🔄 In Progress\nPhase: 2/9 - x", false],
  ["a plan that is done", PLAN, "", "# W\nStatus: ✅ Complete\nPhase: 9/9 - x", true],
  ["a plan that is done, with its own document", PLAN, "D2", "# W\nStatus: ✅ Complete\nPhase: 9/9", true],
  ["a plan that was moved away", PLAN, "", { ok: true, value: null }, true],
];

test.each(OVER)("%s", (_, path, written, now, over) => {
  for (const event of [compact, restart]) {
    const book = found(path);
    if (written !== "") {
      perform(book, { do: "document", phase: 2 });
      happen(book, { kind: "stop", message: "", continuing: false, background: 0, agents: [], scheduled: false });
    }
    if (typeof now === "string") writeNotes(book, now);
    else book.notes = now;
    const decision = happen(book, event);
    expect([book.run.status, book.run.outcome]).toEqual(over ? ["ended", "completed"] : ["active", undefined]);
    expect(decision?.answer.person?.includes("no longer in progress") ?? false).toBe(over);
    expect(book.disk === "").toBe(over);
  }
});

test("a run of its own takes over notes of its name only where they are newer than its phase", () => {
  const book = found(null);
  writeNotes(book, text(4));
  happen(book, { kind: "command", name: "phase", why: "", phase: { to: "set", current: 6 } });
  happen(book, compact);
  expect(phaseOf(book)).toBe(6);
  writeNotes(book, text(7, "@b.md\n"));
  happen(book, restart);
  expect(phaseOf(book)).toBe(7);
  expect(book.run.formal!.required_reading).toEqual(["@a.md", "@b.md"]);
});
