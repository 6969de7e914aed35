import { renderOldTests } from "../checks/core/kinds/old-tests.ts";
import { waitingText } from "../engine/core/run-view.ts";
import { BOOKKEEPING, type JournalRecord, type Run } from "../kernel/types/run.ts";
import { happened } from "../loop/core/run.ts";
import type { KeptCommit } from "../store/runs.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { buildView, findRunId, loadCommits } from "./shared/run.ts";
import { inWords } from "./shared/words.ts";

export const usage = `usage: pawl explain [run] [--json] [--all]

Tell a run as a story: what was said, what Pawl decided, and why. Without a name: the newest run.
--all also shows bookkeeping (pending and delivered instructions, notifications).`;

export const options = ["--json", "--all"];

export function run(parsed: Parsed, io: Io): number {
  const root = projectRoot(io);
  const id = findRunId(root, parsed.words[0], true);
  const commits = loadCommits(root, id);
  const data = commits.map(({ event, records, run, forged }) => ({ seq: run.seq, event, records, forged }));
  return print(io, parsed, data, () => story(root, id, commits, parsed.flags.has("--all")));
}

function story(root: string, id: string, commits: KeptCommit[], all: boolean): string {
  const { run: last } = commits.at(-1)!;
  const { state, stage, waits } = buildView(root, id, last);
  const head = `${id}: ${last.workflow}, ${state} at ${last.formal ? stage : last.stage}\n`;
  const events = commits.map((commit, at) => tell(commit, commits.slice(at + 1), all));
  return [head, waits ? `Needs you: ${waitingText(waits)}\n` : "", "\n", ...events, proofs(last)].join("");
}

/** What let each stage through; a bare claim is called one. */
function proofs(run: Run): string {
  const { finished } = run.work;
  const over = (finished ?? []).map(({ task, title, plan, done }) => `\n${task}: ${title}\n${proved(plan, done)}`);
  const open = finished && run.status === "ended" ? "" : `\n${proved(run.plan, run.done)}`;
  return run.formal ? "" : `\nWhat proved each stage${over.join("\n")}${open}\n`;
}

function proved(plan: string[], stages: Run["done"]): string {
  const lines = plan.flatMap((stage) => {
    const done = stages[stage];
    if (!done) return [`  ⊙ ${stage}: not done`];
    const proof = done.proof ?? [`${done.signal === "" ? "" : `claimed with ${done.signal}, `}nothing was checked`];
    return proof.map((line) => `  ✓ ${stage}: ${line}`);
  });
  return lines.join("\n");
}

function tell(commit: KeptCommit, later: KeptCommit[], all: boolean): string {
  const { event, run, forged } = commit;
  const shown = happened(commit).filter((record) => all || !BOOKKEEPING.includes(record.kind));
  if (shown.length === 0) return "";
  const lines = [
    ...(forged ? ["not written by Pawl, so not to be trusted:"] : []),
    ...shown.flatMap((record) => [inWords(record), ...changedTests(commit, record)]),
  ];
  const [first = "", ...rest] = [...lines, ...buildTurn(commit, later)];
  const head = `${new Date(event.at).toTimeString().slice(0, 8)}  ${String(run.seq).padStart(3)}  ${first}`;
  return `${[head, ...rest.map((line) => `               ${line}`)].join("\n")}\n`;
}

/** Tests of the beginning that a check listed, with how their files were changed. */
function changedTests({ run }: KeptCommit, { kind, id }: JournalRecord): string[] {
  const listed = kind === "gated" ? run.checks.verdicts?.[String(id)]?.old_tests : undefined;
  return listed ? renderOldTests(listed) : [];
}

/** Whose turn it is after a stop that was let go. */
function buildTurn(commit: KeptCommit, later: KeptCommit[]): string[] {
  const { event, run } = commit;
  const isPlain = ({ kind }: JournalRecord) => kind !== "continued" && kind !== "ended" && kind !== "held";
  if (event.kind !== "stop" || !happened(commit).every(isPlain)) return [];
  const isLoop = run.workflow === "loop" || run.work.fresh === true;
  if (!isLoop || run.question) return ["⇒ your turn"];
  const next = later.find((one) => one.event.kind === "stop" || begins(one, run) || has(one, "loop_ended"));
  if (next?.event.kind === "stop") return [];
  if (!next) return ["⇒ the iteration is over; the loop says what follows"];
  return [`⇒ the iteration is over${begins(next, run) ? "; the next one begins by itself" : ", and the loop with it"}`];
}

const has = ({ records }: KeptCommit, wanted: string) => records.some(({ kind }) => kind === wanted);
const begins = (commit: KeptCommit, { owner }: Run) =>
  has(commit, "iteration_begun") || commit.run.owner?.session !== owner?.session;
