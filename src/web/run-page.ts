/** One run: its story, what was checked and found, where it is in its workflow. Read from its own sealed commits. */
import { renderOldTests } from "../checks/core/kinds/old-tests.ts";
import { MOST_SIGNS, type RunView, stageLabel, viewRun } from "../engine/core/run-view.ts";
import type { GateRow, StageRow } from "../insight/types.ts";
import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { JournalRecord, Json, Move, Run, Stage, Verdict, Workflow } from "../kernel/types/run.ts";
import { verdictStrength } from "../kernel/types/verdict.ts";
import { happened } from "../loop/core/run.ts";
import { findRunDir, readPinned } from "../store/commits.ts";
import { readCost } from "../store/cost.ts";
import { insideRoot, readText } from "../store/files.ts";
import { readJournal } from "../store/journal.ts";
import { isPlainName } from "../store/names.ts";
import { type KeptCommit, readCommits } from "../store/runs.ts";
import { safeTexts } from "./journal-page.ts";
import { buildQuestion, buildStages, liveViews, type StageView, type Words } from "./now.ts";

const MOST_MOMENTS = 2_000;
const LARGEST_REPORT = 64 * 1024;
/** What was given and whether it arrived, which `explain --all` shows. */
const BOOKKEEPING = new Set(["owed", "delivered", "committed"]);

export interface Moment {
  at: string;
  seq: number;
  kind: string;
  text: string;
  detail: Record<string, Json> | null;
}

/** null: nothing is kept of such a run. */
export function runPage(root: string, id: string, words: Words) {
  const commits = readCommits(root, id);
  const dir = findRunDir(root, id);
  const last = commits.at(-1);
  if (!last || dir === null) return null;
  const pinned = readPinned(dir, id);
  const workflow = pinned.ok ? pinned.workflow : null;
  const { run } = last;
  const isLive = run.status !== "ended" && last.forged !== true;
  const at = new Date().toISOString();
  const view = (isLive && liveViews(root, [id], at).get(id)) || viewRun(run, { at, workflow, ownerGone: false });
  const waited = listWaits(commits, isLive ? view : null, at);
  const claimed = isLive ? view.claimed : null;
  return {
    run: buildRunRow(root, commits, view, workflow, waited),
    waited,
    waits: isLive ? view.waits : null,
    /** what an approval would accept; null: nothing */
    /** tests that demand something else than at the beginning, with their changes; "" if there are none */
    changed_tests: claimed === null ? "" : changedTests(run),
    approval: claimed === null ? null : view.waits?.kind === "approval" ? view.waits.what : describeRefusal(run),
    gates: listGateRows(root, commits),
    ...buildTimeline(commits, dir, words),
    graph: buildGraph(run, workflow),
    question: isLive && workflow ? buildQuestion(run, workflow) : null,
    canApprove: claimed !== null,
    /** `asked` of an approval: it is meant for this claim and no later one */
    claimed,
    paused: isLive && (run.paused !== undefined || run.status === "halted"),
    evidence: Object.values(run.checks.verdicts ?? {}).map((verdict) => ({ ...NO_EVIDENCE, ...safeTexts(verdict) })),
    proofs: Object.entries(run.done).map(([stage, { at, signal, proof }]) => {
      const lines = (proof ?? [`claimed with ${signal}, nothing was checked`]).map(safeText);
      return { stage, at, signal, lines };
    }),
  };
}

const NO_EVIDENCE = { command: null, cwd: null, exit: null, ms: null, tests: null, tail: null, approved_by: null };

/** Its files are gone, the journal still tells it, if the project is there. Outputs of checks are not in there. */
export function runFromJournal(root: string | null, id: string, words: Words) {
  const all = root === null ? [] : [...readJournal(root, { run: id })];
  const lines = all.filter(({ kind }) => !BOOKKEEPING.has(kind));
  const told = newest(lines, ({ at, seq, kind, ...rest }) => {
    return { at, seq, kind, text: safeText(words({ kind, ...rest })), detail: null };
  });
  const graph = { stages: [], edges: [] };
  const nothing = {
    waited: [],
    waits: null,
    approval: null,
    changed_tests: "",
    question: null,
    canApprove: false,
    claimed: null,
  };
  return { ...told, graph, ...nothing, paused: false, evidence: [], proofs: [] };
}

// ── Row ─────────────────────────────────────────────────────────────────────

/** What the figures of all runs tell of this one, counted here: those may be a moment behind. */
function buildRunRow(
  project: string,
  commits: KeptCommit[],
  view: RunView,
  definition: Workflow | null,
  waited: Wait[],
) {
  const last = commits.at(-1)!;
  const {
    id,
    workflow,
    status,
    work: { task },
    owner,
    updated_at,
    created_at: started_at,
  } = last.run;
  const title = view.title ?? (definition && safeText(definition.title));
  const about = { project, id, workflow, status, state: view.state, title, started_at, updated_at };
  const records = commits.flatMap((commit) => commit.records);
  const count = (kind: string) => records.filter((record) => record.kind === kind).length;
  return {
    ...about,
    stage: stageLabel(last.run, MOST_SIGNS),
    outcome: last.run.outcome ?? null,
    why: safeText(last.run.why ?? ""),
    host: owner?.host ?? "",
    session: owner?.session ?? "",
    task: task?.id ?? null,
    ended_at: status === "ended" ? updated_at : null,
    continues: count("continued"),
    asks: count("asked"),
    gate_fails: records.filter(({ kind, verdict }) => kind === "gated" && verdict === "fail").length,
    approvals: count("approved"),
    ...waitedIn(waited, { entered_at: started_at, left_at: null }, isWaiting(view, last)),
    cost_usd: readCost(project, id)?.usd ?? null,
    approximate: commits[0]!.run.seq !== 1 || last.forged === true,
  };
}

/** A time in which the run needed the person. */
interface Wait {
  from: number;
  to: number;
}

/** By the same view as on every other page; up to now where it still waits. `view`: of the newest commit; null: it is over. */
function listWaits(commits: KeptCommit[], view: RunView | null, now: string): Wait[] {
  return commits.flatMap(({ run, event }, at) => {
    const next = commits[at + 1]?.event.at;
    // No one knows when an earlier permission was given.
    const then = () => viewRun(run, { at: event.at, workflow: null, ownerGone: false }).waits;
    const isWaiting = next === undefined ? view?.waits : run.status !== "ended" && then();
    const from = Date.parse(event.at);
    return isWaiting ? [{ from, to: Math.max(from, Date.parse(next ?? now)) }] : [];
  });
}

const isWaiting = ({ waits }: RunView, { forged }: KeptCommit) => waits !== null && forged !== true;

/** `waited_since`: it still waits, and would have waited as long if it had begun then. */
export function waitedIn(
  waits: Wait[],
  { entered_at, left_at }: Pick<StageRow, "entered_at" | "left_at">,
  isWaiting: boolean,
) {
  const [begin, end] = [Date.parse(entered_at), left_at === null ? Number.POSITIVE_INFINITY : Date.parse(left_at)];
  const waited_ms = waits.reduce(
    (sum, { from, to }) => sum + Math.max(0, Math.min(to, end) - Math.max(from, begin)),
    0,
  );
  const now = isWaiting && left_at === null ? waits.at(-1) : undefined;
  return { waited_ms, waited_since: now ? new Date(now.to - waited_ms).toISOString() : null };
}

/** A claim that checks sent back, with what they found. */
function describeRefusal({ checks: { claim, verdicts = {} } }: Run): string {
  const open = Object.values(verdicts).filter(({ verdict, at }) => verdict !== "pass" && at >= claim!.at);
  const why = open.map(({ gate, why }) => `${gate}: ${why}`).join("; ");
  return safeText(`${claim!.signal || "done"} was not believed${why && ` (${why})`}`);
}

function changedTests({ checks: { claim, verdicts = {} } }: Run): string {
  const open = Object.values(verdicts).filter(({ verdict, at }) => verdict !== "pass" && at >= claim!.at);
  return renderOldTests(open.flatMap(({ old_tests = [] }) => old_tests)).join("\n");
}

// ── Gates ───────────────────────────────────────────────────────────────────

function listGateRows(project: string, commits: KeptCommit[]): GateRow[] {
  const rows = new Map<string, GateRow>();
  for (const { run, event, records } of commits)
    for (const { id, stage, gate, verdict, why, tree, command } of records.filter(({ kind }) => kind === "gated")) {
      const about = { project, run: run.id, stage: safeField(stage), gate: safeField(gate) };
      const last = { last: String(verdict), why: safeField(why), at: event.at, tree: safeField(tree) };
      const row = rows.get(String(id)) ?? { ...about, ...last, ...NONE, command: safeField(command) || null };
      if (verdict === "pass" || verdict === "fail" || verdict === "unproven") row[verdict] += 1;
      rows.set(String(id), Object.assign(row, last));
    }
  return [...rows.values()];
}

const NONE = { pass: 0, fail: 0, unproven: 0 };
const safeField = (value: Json | undefined) => (typeof value === "string" ? safeText(value) : "");

// ── Timeline ────────────────────────────────────────────────────────────────

function buildTimeline(commits: KeptCommit[], dir: string, words: Words) {
  const all = commits.flatMap((commit) =>
    happened(commit).flatMap((record) => (BOOKKEEPING.has(record.kind) ? [] : [{ commit, record }])),
  );
  return newest(all, ({ commit, record }) => buildMoment(commit, record, dir, words));
}

/** `older`: how many moments before those are left out. */
const newest = <T>(all: T[], momentOf: (one: T) => Moment) => ({
  timeline: all.slice(-MOST_MOMENTS).map(momentOf),
  older: Math.max(0, all.length - MOST_MOMENTS),
});

function buildMoment(commit: KeptCommit, record: JournalRecord, dir: string, words: Words): Moment {
  const { event, run, forged } = commit;
  const text = `${forged ? "not written by Pawl, so not to be trusted: " : ""}${safeText(words(record))}`;
  return { at: event.at, seq: run.seq, kind: record.kind, text, detail: buildDetail(run, record, dir) };
}

/** What does not fit the line: output of a check, a report, a list. The page leaves out what is empty or null. */
function buildDetail(run: Run, record: JournalRecord, dir: string): Moment["detail"] {
  const { kind, id, file, changes, issues, why } = record;
  if (kind === "gated") return gateDetail(record, run.checks.verdicts?.[String(id)]);
  if (kind === "reported") return reportDetail(dir, String(file ?? ""));
  if (kind === "changed") return { changes: lines(changes) };
  if (kind === "asked") return { issues: lines(issues) };
  return kind === "commanded" ? { why: safeField(why) } : null;
}

const lines = (value: Json | undefined) =>
  Array.isArray(value) ? safeText(value.map(String).join("\n")) : safeField(value);

function gateDetail({ command, cwd, exit, ms, tree }: JournalRecord, verdict: Verdict | undefined): Moment["detail"] {
  const tests = verdict?.tests;
  return {
    command: safeField(command),
    folder: cwd === "." ? "" : safeField(cwd),
    exit: typeof exit === "number" ? exit : null,
    took: typeof ms === "number" ? `${(ms / 1000).toFixed(1)} s` : "",
    tests: tests ? `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped (${tests.runner})` : "",
    verdict: verdict ? verdictStrength(verdict) : "",
    "tests at the beginning": verdict?.before ?? null,
    "changed tests": renderOldTests(verdict?.old_tests ?? []).join("\n"),
    tree: safeField(tree),
    output: safeText(verdict?.tail ?? ""),
  };
}

function reportDetail(dir: string, file: string): Moment["detail"] {
  const read = () => readText(insideRoot(dir, `reports/${file}`), LARGEST_REPORT);
  const report = isPlainName(file) ? attempt(read, null) : null;
  return report?.ok ? { report: safeText(report.text) } : null;
}

// ── Graph ───────────────────────────────────────────────────────────────────

interface Edge {
  from: string;
  /** a stage; or `end:<outcome>` and `halt`, which are none */
  to: string;
  label: string;
}

export type Graph = ReturnType<typeof buildGraph>;

/** A run's workflow as stages and ways between them. A question's choices are ways of the stage that asks it. */
function buildGraph(run: Run, workflow: Workflow | null): { stages: StageView[]; edges: Edge[] } {
  if (workflow === null) return { stages: [], edges: [] };
  const planned = buildStages(run, workflow);
  if (run.formal) {
    const edges = planned.slice(1).map(({ id }, at) => ({ from: planned[at]!.id, to: id, label: "" }));
    return { stages: planned, edges };
  }
  const stages = workflow.stages.map(
    ({ id, title }): StageView =>
      planned.find((stage) => stage.id === id) ?? { id, title: safeText(title), state: "open" },
  );
  return { stages, edges: merged(workflow.stages.flatMap((stage, at) => listEdges(workflow, stage, at))) };
}

function listEdges(workflow: Workflow, { id, on, stop }: Stage, at: number): Edge[] {
  const next = workflow.stages[at + 1];
  if (workflow.signals === "none") return next ? [{ from: id, to: next.id, label: "by command" }] : [];
  const moves: [string, Move][] = [...Object.entries(on), ...(stop ? [["at every stop", stop] as [string, Move]] : [])];
  return moves.flatMap(([label, move]) =>
    targets(workflow, move, label, new Set()).map((way) => ({ from: id, ...way })),
  );
}

/** `open`: the questions on the way here; one that asks itself again leads nowhere new. */
function targets(workflow: Workflow, move: Move, label: string, open: ReadonlySet<string>): Omit<Edge, "from">[] {
  const to = move.to ?? move.next;
  if (to !== undefined) return [{ to, label: safeText(label) }];
  if (move.end !== undefined) return [{ to: `end:${move.end}`, label: safeText(label) }];
  if (move.halt !== undefined) return [{ to: "halt", label: safeText(label) }];
  const ask = move.ask === undefined || open.has(move.ask) ? undefined : workflow.asks[move.ask];
  if (!ask) return [];
  const below = new Set([...open, move.ask!]);
  return Object.values(ask.choices).flatMap((choice) => targets(workflow, choice, choice.label, below));
}

/** Several ways between the same two stages are one, with all their names. */
function merged(edges: Edge[]): Edge[] {
  const groups = Map.groupBy(edges, ({ from, to }) => `${from} ${to}`);
  return [...groups.values()].map((same) => ({ ...same[0]!, label: same.map(({ label }) => label).join(", ") }));
}
