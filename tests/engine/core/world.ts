/** A pure world for the core: one project, sessions, a disk that keeps commits, and crashes between any two steps. */
import { WORKFLOWS } from "../../../src/definitions/builtin/workflows.ts";
import { compileWorkflow } from "../../../src/definitions/compile.ts";
import { promptReader } from "../../../src/definitions/sources.ts";
import { beginRun, planRun, takeOver } from "../../../src/engine/core/begin.ts";
import { decide } from "../../../src/engine/core/decide.ts";
import { parseFrontMatter } from "../../../src/engine/core/document.ts";
import { parseBeginning } from "../../../src/engine/core/prompt.ts";
import { eventId } from "../../../src/hosts/identity.ts";
import type {
  Answer,
  Decision,
  Event,
  EventKind,
  Facts,
  JournalRecord,
  Run,
  Step,
  Workflow,
} from "../../../src/kernel/types/run.ts";

export function completeWork(): Workflow {
  const compiled = compileWorkflow(WORKFLOWS.get("complete-work")!, "workflows/complete-work.yaml", promptReader(""));
  if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
  return compiled.workflow;
}

export const tag = (name: string) => `<promise>${name}</promise>`;
export const SIGNALS = [
  "MEMORY_UPDATED MEMORY_UPDATE_FAILED REVIEW_COMPLETE REVIEW_ISSUES_FOUND CLEANUP_APPROVED CLEANUP_SKIPPED",
  "WORKFLOW_COMPLETE COMMIT_FAILED WORKFLOW_ABORTED WORKFLOW_STARTED SUCCESS NOT_KNOWN",
]
  .join(" ")
  .split(" ");

export type Crash = "none" | "before commit" | "before speaking" | "before projecting";

export interface World {
  workflow: Workflow;
  runs: Map<string, Run>;
  bound: Map<string, string>;
  records: (JournalRecord & { run: string; seq: number })[];
  document: string | null;
  git: Facts["git"];
  tools: Facts["tools"];
  clock: number;
}

export function newWorld(): World {
  return {
    workflow: completeWork(),
    runs: new Map(),
    bound: new Map(),
    records: [],
    document: null,
    git: {
      ok: true,
      value: { head: "a".repeat(40), branch: "main", head_at: "2026-01-01T00:00:00.000Z", dirty: true, changed: ["x"] },
    },
    tools: { ok: true, value: [] },
    clock: 0,
  };
}

export function makeEvent(world: World, session: string, turn: string, via: string, kind: EventKind): Event {
  world.clock += 1;
  const at = new Date(Date.UTC(2026, 0, 2) + world.clock * 1000).toISOString();
  const id = eventId("claude", session, turn, kind.kind, JSON.stringify(kind));
  return { id, at, host: "claude", session, turn, via, ...kind };
}

const SILENT: Answer = { turn: "none" };

/** What the conductor does, without a disk. Returns the answer that was really spoken, or "crashed". */
export function deliver(world: World, event: Event, crash: Crash = "none"): Answer | "crashed" {
  const decision = decisionFor(world, event);
  if (!decision) return SILENT;
  if (crash === "before commit") return "crashed";
  commit(world, decision, event);
  if (crash !== "before projecting" && crash !== "before speaking") projectAll(world, decision);
  return crash === "before speaking" ? "crashed" : decision.answer;
}

export function decisionFor(world: World, event: Event): Decision | null {
  const id = world.bound.get(event.session);
  const run = id === undefined ? undefined : world.runs.get(id);
  if (run && run.status !== "ended") {
    return consult(world, (facts) => decide({ workflow: world.workflow, run, event, facts }));
  }
  return event.kind === "prompt" && !event.injected ? arming(world, event) : null;
}

function arming(world: World, event: Event & { kind: "prompt" }): Decision | null {
  const { workflow } = world;
  const named = parseBeginning(event.text, workflow);
  if (!named || named.unknown.length > 0 || event.session === "") return null;
  const live = [...world.runs.values()].filter((run) => run.status !== "ended");
  const summaries = live.map((run) => ({
    ...run,
    owner_gone: run.owner?.ended_at !== undefined,
    document_path: run.document.path,
  }));
  const plan = planRun(workflow, event, summaries, (id) => world.runs.has(id), named.stages);
  if ("none" in plan) return null;
  if ("take" in plan) {
    const run = world.runs.get(plan.take)!;
    return consult(world, (facts) => takeOver({ workflow, run, event, facts }));
  }
  return consult(world, (facts) => beginRun({ workflow, event, facts, stages: named.stages, ...plan }));
}

function consult(world: World, step: (facts: Facts) => Step): Decision | null {
  const parsed = world.document === null ? null : parseFrontMatter(world.document);
  const state = world.document === null ? "missing" : parsed ? "present" : "broken";
  let facts: Facts = {
    document: { ok: true, value: { state, text: world.document ?? "", hash: world.document ?? "" } },
  };
  for (let round = 0; round < 4; round++) {
    const frozen = JSON.stringify(facts);
    const next = step(facts);
    if (JSON.stringify(facts) !== frozen) throw new Error("core changed its facts");
    if ("decision" in next) return next.decision;
    if ("none" in next) return null;
    for (const need of next.need) {
      if (need.kind === "git") facts = { ...facts, git: world.git! };
      else if (need.kind === "report") facts = { ...facts, report: { ok: true, value: "the report" } };
      else if (need.kind === "definition") facts = { ...facts, definition: { ok: true, value: [] } };
      else if (need.kind === "agents") facts = { ...facts, agents: { ok: true, value: need.ids } };
      else if (need.kind === "tools") facts = { ...facts, tools: world.tools! };
      else facts = { ...facts, message: { ok: false, why: "no transcript" } };
    }
  }
  throw new Error("more than four rounds");
}

function commit(world: World, { run, records }: Decision, event: Event): void {
  const before = world.runs.get(run.id)?.seq ?? 0;
  if (run.seq !== before + 1) throw new Error(`seq ${before} → ${run.seq}`);
  world.runs.set(run.id, run);
  if (run.owner?.session === event.session) world.bound.set(event.session, run.id);
  world.records.push(...records.map((record) => ({ ...record, run: run.id, seq: run.seq })));
}

function projectAll(world: World, { effects }: Decision): void {
  for (const effect of effects) {
    if (effect.kind === "quarantine") world.document = null;
    if (effect.kind !== "document") continue;
    if ((world.document ?? "") === effect.expect) world.document = effect.text;
  }
}

/** After a crash the next start projects the last commit again: here all of them are repeatable, so do it. */
export function recoverDocument(world: World, run: Run, render: (run: Run, workflow: Workflow) => string): void {
  if (run.status !== "ended" && run.document.written) world.document = render(run, world.workflow);
}
