import { waitingText } from "../engine/core/run-view.ts";
import type { Run } from "../kernel/types/run.ts";
import { happened } from "../loop/core/run.ts";
import type { Kept } from "../store/runs.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";
import { commitsOf, findRunId, viewOf } from "./shared/find-run.ts";
import { inWords } from "./shared/words.ts";

export const summary = "show why each stop was continued or allowed";
export const usage = `usage: pawl explain [run] [--json] [--all]

Tell a run as a story: what was said, what Pawl decided, and why. Without a name: the newest run.
--all also shows bookkeeping (pending and delivered instructions, notifications).`;

const BOOKKEEPING = ["owed", "delivered", "noticed", "left"];

export function run(args: string[], io: Io): number {
  const { flags, words } = parseArgs(args, ["--json", "--all"]);
  const root = rootOf(io);
  const id = findRunId(root, words[0], true);
  const commits = commitsOf(root, id);
  if (flags.has("--json")) {
    io.out(
      `${JSON.stringify(
        commits.map(({ event, records, run, forged }) => ({ seq: run.seq, event, records, forged })),
        null,
        2,
      )}\n`,
    );
    return 0;
  }
  const { run: last } = commits.at(-1)!;
  const { state, stage, waits } = viewOf(root, id, last);
  io.out(`${id}: ${last.workflow}, ${state} at ${last.formal ? stage : last.stage}\n`);
  io.out(`${waits ? `Needs you: ${waitingText(waits)}\n` : ""}\n`);
  for (const [at, commit] of commits.entries()) io.out(tell(commit, commits.slice(at + 1), flags.has("--all")));
  io.out(proofs(last));
  return 0;
}

/** What let each stage through; a bare claim is called one. */
function proofs(run: Run): string {
  const over = (run.finished ?? []).map(({ task, title, plan, done }) => `\n${task}: ${title}\n${proved(plan, done)}`);
  const open = run.finished && run.status === "ended" ? "" : `\n${proved(run.plan, run.done)}`;
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

const clock = (at: string) => new Date(at).toTimeString().slice(0, 8);

function tell(commit: Kept, later: Kept[], all: boolean): string {
  const { event, run, forged } = commit;
  const shown = happened(commit).filter((record) => all || !BOOKKEEPING.includes(record.kind));
  if (shown.length === 0) return "";
  const lines = [...(forged ? ["not written by Pawl, so not to be trusted:"] : []), ...shown.map(inWords)];
  const [first = "", ...rest] = [...lines, ...turnOf(commit, later)];
  const head = `${clock(event.at)}  ${String(run.seq).padStart(3)}  ${first}`;
  return `${[head, ...rest.map((line) => `               ${line}`)].join("\n")}\n`;
}

/** Whose turn it is after a stop that was let go. */
function turnOf(commit: Kept, later: Kept[]): string[] {
  const { event, run } = commit;
  if (event.kind !== "stop" || happened(commit).some(({ kind }) => kind === "continued" || kind === "ended")) return [];
  const isLoop = run.workflow === "loop" || run.fresh === true;
  if (!isLoop || run.question) return ["⇒ your turn"];
  const next = later.find((one) => one.event.kind === "stop" || begins(one, run) || has(one, "loop_ended"));
  if (next?.event.kind === "stop") return [];
  if (!next) return ["⇒ the iteration is over; the loop says what follows"];
  return [`⇒ the iteration is over${begins(next, run) ? "; the next one begins by itself" : ", and the loop with it"}`];
}

const has = ({ records }: Kept, wanted: string) => records.some(({ kind }) => kind === wanted);
const begins = (commit: Kept, { owner }: Run) =>
  has(commit, "iteration_begun") || commit.run.owner?.session !== owner?.session;
