/** One run as a report tells it: what needs the person, what was proved, what only was said. */

import { type RunView, runText, short, spanText } from "../../engine/core/run-view.ts";
import type { JournalRecord, Json, Run } from "../../kernel/types/run.ts";
import type { About, DoneLine, FailedLine, NeedLine, ReportView, RunningLine, UncheckedLine } from "./report-view.ts";

export type Told = JournalRecord & { at: string };
type Parts = Pick<ReportView, "needs" | "done" | "failed" | "running" | "unchecked">;

export interface SeenRun {
  project: string;
  run: Run;
  /** of all its commits that bear the seal, oldest first */
  records: Told[];
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

export function reportRun(seen: SeenRun, since: string): Parts {
  const isOver = seen.run.status === "ended";
  const isRecent = seen.run.updated_at >= since;
  const needs = isOver ? [] : needOf(seen);
  const failed = [...(isOver && isRecent ? failureOf(seen) : []), ...(isOver ? [] : silenceOf(seen, needs))];
  const units = unitsOf(seen).filter(({ at }) => at >= since);
  return {
    needs,
    done: units.flatMap((unit) => doneOf(seen, unit)),
    failed: [...failed, ...(isRecent || !isOver ? foreignOf(seen) : [])],
    running: isOver || needs.length + failed.length > 0 ? [] : [runningOf(seen)],
    unchecked: [...units.flatMap((unit) => uncheckedOf(seen, unit)), ...wordsOf(seen, since)],
  };
}

const aboutOf = ({ project, run }: SeenRun, at = run.updated_at): About => ({
  project,
  run: run.id,
  workflow: run.workflow,
  task: run.task?.id ?? "",
  title: run.task?.title ?? run.request ?? "",
  at,
});

const text = (value: Json | undefined) => (typeof value === "string" ? value : "");
const last = (records: Told[], kind: string) => records.findLast((one) => one.kind === kind);

// ── Open ────────────────────────────────────────────────────────────────────

function needOf(seen: SeenRun): NeedLine[] {
  const { waits } = seen.view;
  return waits === null ? [] : [{ ...aboutOf(seen, waits.since), what: waits.what, how: waits.how }];
}

function silenceOf(seen: SeenRun, needs: NeedLine[]): FailedLine[] {
  const { run, silent, looping } = seen;
  if (needs.length > 0 || looping || run.paused || silent < SILENT_MINUTES) return [];
  const why = `at ${run.stage}, nothing heard for ${spanText(silent)}`;
  return [{ ...aboutOf(seen), outcome: "silent", why, how: `\`pawl explain ${run.id}\`` }];
}

function runningOf(seen: SeenRun): RunningLine {
  const said = short(text(last(seen.records, "stopped")?.said), LONGEST);
  // The line begins with the workflow already.
  const where = runText({ ...seen.view, workflow: "" }).trim();
  return { ...aboutOf(seen), where, said };
}

// ── Over ────────────────────────────────────────────────────────────────────

function failureOf(seen: SeenRun): FailedLine[] {
  const { run, records } = seen;
  const outcome = run.outcome ?? "ended";
  if (outcome === "completed") return [];
  const end = last(records, "ended");
  const reason = run.why || text(last(records, "commanded")?.why) || text(last(records, "halted")?.why);
  const who = end?.by === "person" ? "by the person" : text(end?.signal);
  const why = short([who, reason].filter(Boolean).join(": "), LONGEST) || "no reason given";
  return [{ ...aboutOf(seen), outcome, why, how: "" }];
}

function foreignOf(seen: SeenRun): FailedLine[] {
  const { foreign, run } = seen;
  if (foreign === 0) return [];
  const why = `${foreign} ${foreign === 1 ? "commit" : "commits"} of it were not written by Pawl`;
  return [{ ...aboutOf(seen), outcome: "tampered", why, how: `\`pawl explain ${run.id}\`` }];
}

/** A task, or the run itself. */
interface Unit {
  /** what was checked between these two times was checked for it */
  from: string;
  at: string;
  about: About;
  plan: string[];
  done: Run["done"];
  commit: string | null;
}

function unitsOf(seen: SeenRun): Unit[] {
  const { run } = seen;
  const about = aboutOf(seen);
  const over = run.finished ?? [];
  const tasks = over.map(({ task, title, at, plan, done }, nth) => ({
    ...{ from: over[nth - 1]?.at ?? "", at, plan, done, commit: null },
    about: { ...about, task, title, at },
  }));
  if (run.outcome !== "completed" || tasks.length > 0) return tasks;
  return [{ from: "", at: run.updated_at, about, plan: run.plan, done: run.done, commit: run.commit_hash }];
}

const PERSON = "the person decided so";

/** A person's word is known by the record of it, not by how the line looks: a gate may be called anything. */
function isWord(line: string, records: Told[]): boolean {
  if (line === PERSON) return true;
  return records.some((one) => one.kind === "approved" && line.startsWith(`${one.gate}: approved by ${one.who} (was `));
}

function proofsOf({ records }: SeenRun, { plan, done }: Unit): string[] {
  return plan.flatMap((stage) =>
    (done[stage]?.proof ?? []).filter((line) => !isWord(line, records)).map((line) => `${stage}: ${line}`),
  );
}

function doneOf(seen: SeenRun, unit: Unit): DoneLine[] {
  const proof = proofsOf(seen, unit).map((line) => short(line, LONGEST));
  return proof.length === 0 ? [] : [{ ...unit.about, proof, commit: unit.commit }];
}

// ── Not checked ─────────────────────────────────────────────────────────────

function uncheckedOf(seen: SeenRun, unit: Unit): UncheckedLine[] {
  const { plan, done, about, commit } = unit;
  const isProved = proofsOf(seen, unit).length > 0;
  const bare = plan.filter((stage) => done[stage] && !done[stage].proof);
  const left = plan.filter((stage) => !done[stage]);
  const said = `${bare.join(", ")}: claimed, nothing was checked`;
  const line = (kind: UncheckedLine["kind"], what: string) => ({ ...about, kind, what: short(what, LONGEST) });
  return [
    ...(isProved || bare.length > 0 || seen.run.formal ? [] : [line("claimed", "done, and nothing proves it")]),
    ...(seen.run.formal ? [line("claimed", "all phases are over, by the agent's own word")] : []),
    ...(bare.length > 0 ? [line("claimed", isProved ? said : `done, and nothing proves it; ${said}`)] : []),
    ...(left.length > 0 && !seen.run.formal ? [line("skipped", `${left.join(", ")}: left out`)] : []),
    ...(isProved && !ranCommand(seen, unit) ? [line("tree", neverVerified(commit))] : []),
  ];
}

const ranCommand = ({ records }: SeenRun, { from, at }: Unit) =>
  records
    .filter((one) => one.at > from && one.at <= at)
    .some((one) => one.kind === "gated" && one.verdict === "pass" && text(one.command) !== "");

const neverVerified = (commit: string | null) =>
  `${commit === null ? "its tree" : `commit ${commit.slice(0, 12)}`}: Pawl ran no command on it; \`pawl verify\` does`;

const WAS: Record<string, string> = { fail: "had failed", unproven: "nothing had proved" };

/** What a person took upon themselves, and what passed by luck. */
function wordsOf(seen: SeenRun, since: string): UncheckedLine[] {
  const recent = seen.records.filter(({ at }) => at >= since);
  const line = (kind: UncheckedLine["kind"], what: string, at: string) => ({
    ...aboutOf(seen, at),
    kind,
    what: short(what, LONGEST),
  });
  const approved = recent.filter(({ kind }) => kind === "approved");
  const flaky = new Map(recent.filter((one) => one.kind === "gated" && one.flaky === true).map((one) => [one.id, one]));
  return [
    ...approved.map((one) =>
      line(
        "approved",
        `${text(one.who)} approved ${text(one.gate)}, which ${WAS[text(one.was)] ?? "was not checked"} (by ${text(one.how)})`,
        one.at,
      ),
    ),
    ...[...flaky.values()].map((one) => line("flaky", `${text(one.gate)} passed only when tried again`, one.at)),
    ...(seen.off.length > 0 && seen.run.updated_at >= since
      ? [line("off", `pawl.yaml switches off the gates of ${seen.off.join(", ")}`, seen.run.updated_at)]
      : []),
  ];
}
