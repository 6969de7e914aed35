import { computeClosure } from "../checks/closure/closure.ts";
import { gatherDefinition, withCommandOf } from "../engine/gather/definition.ts";
import { handleCommand } from "../engine/handle-event.ts";
import { visible } from "../kernel/text/safe-text.ts";
import type { CommandName, Run, Workflow } from "../kernel/types/run.ts";
import { gatesOf } from "../kernel/types/workflow.ts";
import { UserError } from "../kernel/user-error.ts";
import { isPerson } from "../store/processes/person.ts";
import { loadRun, repinWorkflow } from "../store/runs.ts";
import { grantTrust } from "../store/trust.ts";
import { type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { commandEvent } from "./shared/command-event.ts";
import { confirm } from "./shared/confirm.ts";
import { findRunId, workflowNamed } from "./shared/run.ts";
import { itemLines } from "./shared/trust-text.ts";

export const usage = `usage: pawl approve [run] [--why TEXT]

Shows the claim that a gate has not passed, with what each gate found, and asks you. Your approval covers the files as
they are now; it is recorded with your name, and never as a pass. Only a person at a terminal can give it (or type
/pawl:approve in the session). Exit codes: 0 approved, 1 refused, not approved or nothing to approve, 2 wrong usage.`;

export const options = ["--why="];

export function run({ words, values }: Parsed, io: Io): number {
  const root = projectRoot(io);
  const id = findRunId(root, words[0], false);
  const run = loadRun(root, id)?.commit.run;
  if (!run?.checks.claim)
    throw new UserError(`run ${id} has nothing to approve`, `\`pawl explain ${id}\` shows its state`, 1);
  const who = personOnly("run it in a terminal of your own, or type /pawl:approve in the session");
  io.out(claimText(id, run, run.checks.claim));
  if (!confirm(io, "Accept it without proof?")) return 1;
  const answer = say(root, id, "approve", who, values["--why"]);
  if (!answer || answer.reason !== undefined) {
    const what = answer?.person?.replace(/^Pawl: /, "") ?? `run ${id} has ended`;
    throw new UserError(what, "`pawl runs` lists the runs", 1);
  }
  io.out(`${answer.person ?? `Approved; run ${id} goes on with the next prompt of its session.`}\n`);
  return 0;
}

function personOnly(hint: string): string {
  const person = isPerson();
  if (!person.ok) throw new UserError(person.why, hint, 1);
  return person.who;
}

const say = (root: string, id: string, name: CommandName, who: string, why = "") =>
  handleCommand(root, id, { ...commandEvent(name, id, why), who });

const MOST_OUTPUT = 8;

function claimText(id: string, run: Run, { signal, tree }: NonNullable<Run["checks"]["claim"]>): string {
  const open = Object.values(run.checks.verdicts ?? {}).filter(({ verdict }) => verdict !== "pass");
  const lines = open.flatMap(({ gate, verdict, why, tail }) => {
    const output = tail ? tail.split("\n").slice(-MOST_OUTPUT) : [];
    return [`  ${verdict.padEnd(9)}${gate}: ${why}`, ...output.map((line) => `           ${line}`)];
  });
  const what = `${signal === "" ? "a stop" : signal}${tree ? ` @ tree ${tree.slice(0, 10)}` : ""}`;
  return `Run ${id}, ${run.workflow} at ${run.stage}: ${what}\n${lines.join("\n")}\n`;
}

// ── A changed workflow (`pawl runs resume --accept`) ────────────────────────

/** The run goes on with the workflow as it is on disk now; the person has seen the difference. */
export function accept(root: string, id: string, io: Io): number {
  const loaded = loadRun(root, id);
  if (!loaded) throw new UserError(`run ${id} has ended`, "`pawl runs list --all` shows how", 1);
  const changes = gatherDefinition(root, loaded.workflow);
  const lines = changes.ok ? changes.value : [changes.why];
  if (lines.length === 0)
    throw new UserError(`the workflow of ${id} was not changed`, `\`pawl runs resume ${id}\` goes on`, 1);
  const now = newWorkflow(root, loaded.workflow);
  const { stage } = loaded.commit.run;
  if (!now.stages.some((one) => one.id === stage))
    throw new UserError(`the changed ${now.name} has no stage ${stage}`, `abort ${id} and begin again`, 1);
  const who = personOnly("run it in a terminal of your own");
  const closure = computeClosure(root, gatesOf(now));
  const commands = closure.items.flatMap(itemLines).map((line) => `  ${line}`);
  const what = commands.length > 0 ? ["What it runs:", ...commands] : [];
  io.out([`${now.name} as it is now:`, ...lines.map((line) => `  ${visible(line)}`), ...what, ""].join("\n"));
  if (!confirm(io, "Continue with it and allow these commands?")) return 1;
  grantTrust(root, closure, who);
  repinWorkflow(root, id, now);
  io.out(`${say(root, id, "accept", who)?.person ?? "Accepted."}\n`);
  return 0;
}

function newWorkflow(root: string, pinned: Workflow): Workflow {
  return withCommandOf(pinned, workflowNamed(pinned.name, root, "put its file back, or abort the run", 1), root);
}
