import { handleCommand } from "../engine/handle-event.ts";
import { UserError } from "../kernel/user-error.ts";
import { isPerson } from "../store/processes/person.ts";
import { loadRun } from "../store/runs.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";
import { commandEvent } from "./shared/command-event.ts";
import { confirm } from "./shared/confirm.ts";
import { findRunId } from "./shared/find-run.ts";

export const summary = "accept a claim that a gate has not passed";
export const usage = `usage: pawl approve [run] [--why TEXT]

Shows the claim that a gate has not passed, with what each gate found, and asks you. Your approval covers the files as
they are now; it is recorded with your name, and never as a pass. Only a person at a terminal can give it (or type
/pawl:approve in the session). Exit codes: 0 approved, 1 refused, not approved or nothing to approve, 2 wrong usage.`;

export function run(args: string[], io: Io): number {
  const { words, values } = parseArgs(args, ["--why="]);
  const root = rootOf(io);
  const id = findRunId(root, words[0], false);
  const claim = loadRun(root, id)?.commit.run.claim;
  if (!claim) throw new UserError(`run ${id} has nothing to approve`, `\`pawl explain ${id}\` shows its state`, 1);
  const person = isPerson();
  if (!person.ok)
    throw new UserError(person.why, "run it in a terminal of your own, or type /pawl:approve in the session", 1);
  io.out(claimText(root, id));
  if (!confirm(io, "Accept it without proof?")) return 1;
  const answer = handleCommand(root, id, { ...commandEvent("approve", id, values["--why"] ?? ""), who: person.who });
  if (!answer || answer.reason !== undefined) {
    throw new UserError(
      answer?.person?.replace(/^Pawl: /, "") ?? `run ${id} has ended`,
      "`pawl runs` lists the runs",
      1,
    );
  }
  io.out(`${answer.person ?? `Approved; run ${id} goes on with the next prompt of its session.`}\n`);
  return 0;
}

function claimText(root: string, id: string): string {
  const { run } = loadRun(root, id)!.commit;
  const open = Object.values(run.verdicts ?? {}).filter(({ verdict }) => verdict !== "pass");
  const lines = open.flatMap(({ gate, verdict, why, tail }) => [
    `  ${verdict.padEnd(9)}${gate}: ${why}`,
    ...(tail
      ? tail
          .split("\n")
          .slice(-8)
          .map((line) => `           ${line}`)
      : []),
  ]);
  const what = run.claim!.signal === "" ? "a stop" : run.claim!.signal;
  return `Run ${id}, ${run.workflow} at ${run.stage}: ${what}${run.claim!.tree ? ` @ tree ${run.claim!.tree.slice(0, 10)}` : ""}\n${lines.join("\n")}\n`;
}
