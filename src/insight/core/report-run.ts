/**
 * What `pawl report` shows, as data, and what one run adds to it: what needs the person, what was proved, what only was
 * said. Everything in it comes from Pawl's own records; `said` alone is the agent's word.
 */

import { type RunView, runText, short, spanText } from "../../engine/core/run-view.ts";
import type { JournalRecord, Json, Run } from "../../kernel/types/run.ts";

export interface About {
  /** root of the project */
  project: string;
  /** "" where it is not about one run */
  run: string;
  workflow: string;
  /** id and title of its task, or what was asked for; "" where there is none */
  task: string;
  title: string;
  at: string;
}

export interface NeedLine extends About {
  what: string;
  /** what resolves it */
  how: string;
}

export interface DoneLine extends About {
  /** one line a check: stage, gate, what it found, on which tree */
  proof: string[];
  commit: string | null;
}

export interface FailedLine extends About {
  outcome: string;
  why: string;
  /** "" where nothing is left to do */
  how: string;
}

export interface RunningLine extends About {
  /** where it is, in words */
  where: string;
  /** the end of what the agent last said: a claim; "" where nothing was heard */
  said: string;
}

/**
 * claimed: no one checked it · skipped: a stage that was left out · approved: a person's word instead of a pass · off: gates
 * that are switched off · tree: no command was run on what was made · flaky: passed only when tried again
 */
export interface UncheckedLine extends About {
  kind: "claimed" | "skipped" | "approved" | "off" | "tree" | "flaky";
  what: string;
}

export interface CostSum {
  count: number;
  usd: number;
  /** how many of them did not tell */
  unknown: number;
}

export interface CostView {
  /** whole runs, also what they cost before the time that was asked for */
  runs: CostSum;
  /** `count` is iterations */
  loops: CostSum;
}

export interface ReportView {
  at: string;
  since: string;
  projects: string[];
  needs: NeedLine[];
  done: DoneLine[];
  failed: FailedLine[];
  running: RunningLine[];
  unchecked: UncheckedLine[];
  cost: CostView;
  /** what could not be read: nothing above tells of it */
  unread: { project: string; why: string }[];
}

// ── One run ─────────────────────────────────────────────────────────────────

export type DatedRecord = JournalRecord & { at: string };

export interface ReportedRun {
  project: string;
  run: Run;
  /** of all its commits that bear the seal, oldest first */
  records: DatedRecord[];
  /** commits that Pawl did not write */
  foreign: number;
  view: RunView;
  /** minutes since the last event */
  silent: number;
  /** signals whose gates the project switched off */
  off: string[];
  /** a loop drives it, and is alive */
  looping: boolean;
}

/** Nothing heard for so long, and it should be at work. */
const SILENT_MINUTES = 60;
const LONGEST = 400;

/** Adds what is known of one run. */
export function reportRun(view: ReportView, seen: ReportedRun): void {
  const isOver = seen.run.status === "ended";
  const isRecent = seen.run.updated_at >= view.since;
  const needs = isOver ? [] : buildNeed(seen);
  const failed = isOver ? listFailures(seen, isRecent) : listSilence(seen, needs);
  const units = listUnits(seen).filter(({ at }) => at >= view.since);
  view.needs.push(...needs);
  for (const { about, proof, commit } of units) if (proof.length > 0) view.done.push({ ...about, proof, commit });
  view.failed.push(...failed, ...(isRecent || !isOver ? listForeign(seen) : []));
  // A loop tells of its run itself.
  if (!isOver && !seen.looping && needs.length + failed.length === 0) view.running.push(buildRunning(seen));
  view.unchecked.push(...units.flatMap((unit) => listUnchecked(seen, unit)), ...listUntested(seen, view.since));
}

const buildAbout = ({ project, run }: ReportedRun, at = run.updated_at): About => ({
  project,
  run: run.id,
  workflow: run.workflow,
  task: run.work.task?.id ?? "",
  title: run.work.task?.title ?? run.work.request ?? "",
  at,
});

const text = (value: Json | undefined) => (typeof value === "string" ? value : "");
const last = (records: DatedRecord[], kind: string) => records.findLast((one) => one.kind === kind);

// ── Open ────────────────────────────────────────────────────────────────────

function buildNeed(seen: ReportedRun): NeedLine[] {
  const { waits } = seen.view;
  return waits === null ? [] : [{ ...buildAbout(seen, waits.since), what: waits.what, how: waits.how }];
}

function listSilence(seen: ReportedRun, needs: NeedLine[]): FailedLine[] {
  const { run, silent, looping } = seen;
  if (needs.length > 0 || looping || run.paused || silent < SILENT_MINUTES) return [];
  const why = `at ${run.stage}, nothing heard for ${spanText(silent)}`;
  return [{ ...buildAbout(seen), outcome: "silent", why, how: `\`pawl explain ${run.id}\`` }];
}

function buildRunning(seen: ReportedRun): RunningLine {
  const said = short(text(last(seen.records, "stopped")?.said), LONGEST);
  // The line begins with the workflow already.
  const where = runText({ ...seen.view, workflow: "" }).trim();
  return { ...buildAbout(seen), where, said };
}

// ── Over ────────────────────────────────────────────────────────────────────

function listFailures(seen: ReportedRun, isRecent: boolean): FailedLine[] {
  const { run, records } = seen;
  const outcome = run.outcome ?? "ended";
  if (outcome === "completed" || !isRecent) return [];
  const end = last(records, "ended");
  const reason = run.why || text(last(records, "commanded")?.why) || text(last(records, "halted")?.why);
  const who = end?.by === "person" ? "by the person" : text(end?.signal);
  const why = short([who, reason].filter(Boolean).join(": "), LONGEST) || "no reason given";
  return [{ ...buildAbout(seen), outcome, why, how: "" }];
}

function listForeign(seen: ReportedRun): FailedLine[] {
  const { foreign, run } = seen;
  if (foreign === 0) return [];
  const why = `${foreign} ${foreign === 1 ? "commit" : "commits"} of it were not written by Pawl`;
  return [{ ...buildAbout(seen), outcome: "tampered", why, how: `\`pawl explain ${run.id}\`` }];
}

/** A task, or the run itself. */
interface Unit {
  /** what was checked between these two times was checked for it */
  from: string;
  at: string;
  about: About;
  plan: string[];
  done: Run["done"];
  proof: string[];
  commit: string | null;
}

function listUnits(seen: ReportedRun): Unit[] {
  const { run } = seen;
  const about = buildAbout(seen);
  const over = run.work.finished ?? [];
  const tasks = over.map(({ task, title, at, plan, done }, nth) => ({
    ...{ from: over[nth - 1]?.at ?? "", at, plan, done, proof: listProofs(seen, plan, done), commit: null },
    about: { ...about, task, title, at },
  }));
  if (run.outcome !== "completed" || tasks.length > 0) return tasks;
  const { plan, done, commit_hash: commit, updated_at: at } = run;
  return [{ from: "", at, about, plan, done, proof: listProofs(seen, plan, done), commit }];
}

const PERSON = "the person decided so";

function listProofs({ records }: ReportedRun, plan: string[], done: Run["done"]): string[] {
  return plan.flatMap((stage) =>
    (done[stage]?.proof ?? [])
      .filter((line) => !isWord(line, records))
      .map((line) => short(`${stage}: ${line}${strength(line, records)}`, LONGEST)),
  );
}

/** How far a pass of tests reaches: " (named)". */
function strength(line: string, records: DatedRecord[]): string {
  const isAbout = (one: DatedRecord) => one.kind === "gated" && line.startsWith(`${one.gate}: ${one.why}`);
  const proof = text(records.findLast(isAbout)?.proof ?? "");
  return proof === "" ? "" : ` (${proof})`;
}

/** A person's word is known by the record of it, not by how the line looks: a gate may be called anything. */
function isWord(line: string, records: DatedRecord[]): boolean {
  if (line === PERSON) return true;
  return records.some((one) => one.kind === "approved" && line.startsWith(`${one.gate}: approved by ${one.who} (was `));
}

// ── Not checked ─────────────────────────────────────────────────────────────

const uncheckedLine = (about: About, kind: UncheckedLine["kind"], what: string): UncheckedLine => ({
  ...about,
  kind,
  what: short(what, LONGEST),
});

function listUnchecked(seen: ReportedRun, unit: Unit): UncheckedLine[] {
  const { plan, done, about, commit } = unit;
  const isProved = unit.proof.length > 0;
  const bare = plan.filter((stage) => done[stage] && !done[stage].proof);
  const left = plan.filter((stage) => !done[stage]);
  const said = `${bare.join(", ")}: claimed, nothing was checked`;
  const line = (kind: UncheckedLine["kind"], what: string) => uncheckedLine(about, kind, what);
  return [
    ...(isProved || bare.length > 0 || seen.run.formal ? [] : [line("claimed", "done, and nothing proves it")]),
    ...(seen.run.formal ? [line("claimed", "all phases are over, by the agent's own word")] : []),
    ...(bare.length > 0 ? [line("claimed", isProved ? said : `done, and nothing proves it; ${said}`)] : []),
    ...(left.length > 0 && !seen.run.formal ? [line("skipped", `${left.join(", ")}: left out`)] : []),
    ...(isProved && !ranCommand(seen, unit) ? [line("tree", neverVerified(commit))] : []),
  ];
}

const ranCommand = ({ records }: ReportedRun, { from, at }: Unit) =>
  records
    .filter((one) => one.at > from && one.at <= at)
    .some((one) => one.kind === "gated" && one.verdict === "pass" && text(one.command) !== "");

const neverVerified = (commit: string | null) =>
  `${commit === null ? "its tree" : `commit ${commit.slice(0, 12)}`}: Pawl ran no command on it; \`pawl verify\` does`;

/** Tests that demand something else now; "" if it was about none. */
function changedTests({ records }: ReportedRun, id: Json | undefined, at: string): string {
  const gated = records.findLast((one) => one.kind === "gated" && one.id === id && one.at <= at);
  const names = Array.isArray(gated?.old_tests) ? gated.old_tests.map(text) : [];
  if (names.length === 0) return "";
  return `${names.length} changed ${names.length === 1 ? "test" : "tests"} of ${text(gated?.gate)}: ${names.join("; ")}`;
}

const WAS: Record<string, string> = { fail: "had failed", unproven: "nothing had proved" };

/** What a person took upon themselves, and what passed by luck. */
function listUntested(seen: ReportedRun, since: string): UncheckedLine[] {
  const recent = seen.records.filter(({ at }) => at >= since);
  const line = (kind: UncheckedLine["kind"], what: string, at: string) =>
    uncheckedLine(buildAbout(seen, at), kind, what);
  const approved = recent.filter(({ kind }) => kind === "approved");
  const flaky = new Map(recent.filter((one) => one.kind === "gated" && one.flaky === true).map((one) => [one.id, one]));
  const off = seen.off.length > 0 && seen.run.updated_at >= since ? [seen.off.join(", ")] : [];
  return [
    ...approved.map(({ who, gate, id, was, how, at }) => {
      const before = WAS[text(was)] ?? "was not checked";
      const what = changedTests(seen, id, at) || `${text(gate)}, which ${before}`;
      return line("approved", `${text(who)} approved ${what} (by ${text(how)})`, at);
    }),
    ...[...flaky.values()].map((one) => line("flaky", `${text(one.gate)} passed only when tried again`, one.at)),
    ...off.map((signals) => line("off", `pawl.yaml switches off the gates of ${signals}`, seen.run.updated_at)),
  ];
}
