/** One run: its story, what was checked and found, where it stands in its workflow. Read from its own sealed commits. */

import { MOST_SIGNS, stageOf, viewRun } from "../engine/core/run-view.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Commit, Json, Run, Verdict } from "../kernel/types/run.ts";
import { happened } from "../loop/core/run.ts";
import { findRunDir } from "../store/archive.ts";
import { readPinned } from "../store/commits.ts";
import { readCost } from "../store/cost.ts";
import { insideRoot, readText } from "../store/files.ts";
import { readJournal } from "../store/journal.ts";
import { isPlainName } from "../store/names.ts";
import { type Kept, readCommits } from "../store/runs.ts";
import { graphOf } from "./graph.ts";
import { questionOf, type Words } from "./now.ts";

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
  const view = viewRun(run, { at: run.updated_at, workflow, ownerGone: false });
  const claimed = isLive ? view.claimed : null;
  return {
    run: rowOf(root, commits, view.title ?? (workflow && plain(workflow.title))),
    gates: gatesOf(root, commits),
    ...timelineOf(commits, dir, words),
    graph: graphOf(run, workflow),
    question: isLive && workflow ? questionOf(run, workflow) : null,
    canApprove: claimed !== null,
    /** `asked` of an approval: it is meant for this claim and no later one */
    claimed,
    paused: isLive && (run.paused !== undefined || run.status === "halted"),
    evidence: Object.values(run.verdicts ?? {}).map(verdictView),
    proofs: Object.entries(run.done).map(([stage, { at, signal, proof }]) => ({
      stage,
      at,
      signal,
      lines: (proof ?? [`claimed with ${signal}, nothing was checked`]).map(plain),
    })),
  };
}

/** Its files are gone, the journal still tells it, if the project is there. Outputs of checks are not in there. */
export function runFromJournal(root: string | null, id: string, words: Words) {
  const all = root === null ? [] : [...readJournal(root, { run: id })];
  const lines = all.filter(({ kind }) => !BOOKKEEPING.has(kind));
  const told = newest(lines, ({ at, seq, kind, ...rest }) => {
    return { at, seq, kind, text: plain(words({ kind, ...rest })), detail: null };
  });
  const graph = { stages: [], edges: [] };
  return { ...told, graph, question: null, canApprove: false, claimed: null, paused: false, evidence: [], proofs: [] };
}

// ── Row ─────────────────────────────────────────────────────────────────────

/** What the figures of all runs tell of this one, counted here: those may be a moment behind. */
function rowOf(project: string, commits: Kept[], title: string | null) {
  const [first, last] = [commits[0]!, commits.at(-1)!];
  const { run } = last;
  const records = commits.flatMap((commit) => commit.records);
  const count = (isOne: (record: Commit["records"][number]) => boolean) => records.filter(isOne).length;
  return {
    project,
    id: run.id,
    workflow: run.workflow,
    stage: stageOf(run, MOST_SIGNS),
    status: run.status,
    outcome: run.outcome ?? null,
    why: plain(run.why ?? ""),
    host: run.owner?.host ?? "",
    session: run.owner?.session ?? "",
    task: run.task?.id ?? null,
    title,
    started_at: run.created_at,
    updated_at: run.updated_at,
    ended_at: run.status === "ended" ? run.updated_at : null,
    continues: count(({ kind }) => kind === "continued"),
    asks: count(({ kind }) => kind === "asked"),
    gate_fails: count(({ kind, verdict }) => kind === "gated" && verdict === "fail"),
    approvals: count(({ kind }) => kind === "approved"),
    waited_ms: waitedMs(commits),
    cost_usd: readCost(project, run.id)?.usd ?? null,
    approximate: first.run.seq !== 1 || last.forged === true,
  };
}

/** As long as the run stood still for the person; up to its last event. */
function waitedMs(commits: Kept[]): number {
  const waits = ({ status }: Run) => status === "waiting" || status === "halted";
  return commits.slice(1).reduce((sum, commit, at) => {
    const before = commits[at]!;
    return waits(before.run) ? sum + Math.max(0, Date.parse(commit.event.at) - Date.parse(before.event.at)) : sum;
  }, 0);
}

// ── Gates ───────────────────────────────────────────────────────────────────

function gatesOf(project: string, commits: Kept[]) {
  const rows = new Map<string, ReturnType<typeof emptyGate>>();
  for (const { run, event, records } of commits)
    for (const record of records.filter(({ kind }) => kind === "gated")) {
      const row = rows.get(String(record.id)) ?? emptyGate(project, run.id, record);
      const verdict = String(record.verdict);
      if (verdict === "pass" || verdict === "fail" || verdict === "unproven") row[verdict] += 1;
      Object.assign(row, { last: verdict, why: textOf(record.why), at: event.at, tree: textOf(record.tree) });
      rows.set(String(record.id), row);
    }
  return [...rows.values()];
}

const textOf = (value: Json | undefined) => (typeof value === "string" ? plain(value) : "");

const emptyGate = (project: string, run: string, record: Commit["records"][number]) => ({
  project,
  run,
  stage: textOf(record.stage),
  gate: textOf(record.gate),
  pass: 0,
  fail: 0,
  unproven: 0,
  last: "",
  why: "",
  at: "",
  tree: "",
  command: typeof record.command === "string" ? plain(record.command) : null,
});

const verdictView = ({ gate, verdict, why, tree, at, command, cwd, exit, ms, tests, tail, approved_by }: Verdict) => ({
  gate: plain(gate),
  verdict,
  why: plain(why),
  tree,
  at,
  command: command === undefined ? null : plain(command),
  cwd: cwd ?? null,
  exit: exit ?? null,
  ms: ms ?? null,
  tests: tests ?? null,
  tail: tail === undefined ? null : plain(tail),
  approved_by: approved_by ?? null,
});

// ── Timeline ────────────────────────────────────────────────────────────────

function timelineOf(commits: Kept[], dir: string, words: Words): Told {
  const all = commits.flatMap((commit) =>
    happened(commit).flatMap((record) => (BOOKKEEPING.has(record.kind) ? [] : [{ commit, record }])),
  );
  return newest(all, ({ commit, record }) => momentOf(commit, record, dir, words));
}

interface Told {
  timeline: Moment[];
  /** how many moments before those are left out */
  older: number;
}

const newest = <T>(all: T[], momentOf: (one: T) => Moment): Told => ({
  timeline: all.slice(-MOST_MOMENTS).map(momentOf),
  older: Math.max(0, all.length - MOST_MOMENTS),
});

function momentOf(commit: Kept, record: Commit["records"][number], dir: string, words: Words): Moment {
  const { event, run, forged } = commit;
  const text = `${forged ? "not written by Pawl, so not to be trusted: " : ""}${plain(words(record))}`;
  return { at: event.at, seq: run.seq, kind: record.kind, text, detail: detailOf(run, record, dir) };
}

/** What does not fit the line: output of a check, a report, a list. */
function detailOf(run: Run, record: Commit["records"][number], dir: string): Moment["detail"] {
  switch (record.kind) {
    case "gated":
      return gateDetail(record, run.verdicts?.[String(record.id)]);
    case "reported":
      return reportDetail(dir, String(record.file ?? ""));
    case "changed":
      return { changes: lines(record.changes) };
    case "asked":
      return Array.isArray(record.issues) && record.issues.length > 0 ? { issues: lines(record.issues) } : null;
    case "commanded":
      return textOf(record.why) === "" ? null : { why: textOf(record.why) };
    default:
      return null;
  }
}

const lines = (value: Json | undefined) => (Array.isArray(value) ? plain(value.map(String).join("\n")) : textOf(value));

function gateDetail(record: Commit["records"][number], verdict: Verdict | undefined): Moment["detail"] {
  const tests = verdict?.tests;
  const all = {
    command: textOf(record.command),
    folder: record.cwd === "." ? "" : textOf(record.cwd),
    exit: typeof record.exit === "number" ? record.exit : null,
    took: typeof record.ms === "number" ? `${(record.ms / 1000).toFixed(1)} s` : "",
    tests: tests ? `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped (${tests.runner})` : "",
    tree: textOf(record.tree),
    output: plain(verdict?.tail ?? ""),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "" && value !== null));
}

function reportDetail(dir: string, file: string): Moment["detail"] {
  try {
    const report = isPlainName(file) ? readText(insideRoot(dir, `reports/${file}`), LARGEST_REPORT) : null;
    return report?.ok ? { report: plain(report.text) } : null;
  } catch {
    return null;
  }
}
