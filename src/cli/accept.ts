import { closureOf } from "../checks/closure/closure.ts";
import { withCommand } from "../definitions/gates.ts";
import { findByName } from "../definitions/registry.ts";
import { typedCommandOf } from "../engine/core/prompt.ts";
import { gatherDefinition } from "../engine/gather/definition.ts";
import { handleCommand } from "../engine/handle-event.ts";
import type { Workflow } from "../kernel/types/run.ts";
import { gatesOf } from "../kernel/types/workflow.ts";
import { UserError } from "../kernel/user-error.ts";
import { isPerson } from "../store/processes/person.ts";
import { loadRun, repinWorkflow } from "../store/runs.ts";
import { grantTrust } from "../store/trust.ts";
import type { Io } from "./shared/args.ts";
import { commandEvent } from "./shared/command-event.ts";
import { confirm } from "./shared/confirm.ts";
import { itemLines } from "./shared/trust-text.ts";
import { visible } from "./shared/visible.ts";

/** The run goes on with the workflow as it is on disk now; the person has seen the difference. */
export function accept(root: string, id: string, io: Io): number {
  const loaded = loadRun(root, id);
  if (!loaded) throw new UserError(`run ${id} has ended`, "`pawl runs list --all` shows how", 1);
  const { run } = loaded.commit;
  const changes = gatherDefinition(root, loaded.workflow);
  const lines = changes.ok ? changes.value : [changes.why];
  if (lines.length === 0)
    throw new UserError(`the workflow of ${id} was not changed`, `\`pawl runs resume ${id}\` goes on`, 1);
  const now = newWorkflow(root, loaded.workflow);
  const stage = now.stages.find((one) => one.id === run.stage);
  if (!stage)
    throw new UserError(`the changed ${now.name} has no stage ${run.stage}`, `abort ${id} and begin again`, 1);
  const person = isPerson();
  if (!person.ok) throw new UserError(person.why, "run it in a terminal of your own", 1);
  const closure = closureOf(root, gatesOf(now));
  const commands = closure.items.flatMap(itemLines).map((line) => `  ${line}`);
  const what = commands.length > 0 ? ["What it runs:", ...commands] : [];
  io.out([`${now.name} as it is now:`, ...lines.map((line) => `  ${visible(line)}`), ...what, ""].join("\n"));
  if (!confirm(io, "Continue with it and allow these commands?")) return 1;
  grantTrust(root, closure, person.who);
  repinWorkflow(root, id, now);
  const answer = handleCommand(root, id, { ...commandEvent("accept", id, ""), who: person.who });
  io.out(`${answer?.person ?? "Accepted."}\n`);
  return 0;
}

function newWorkflow(root: string, pinned: Workflow): Workflow {
  const found = findByName(pinned.name, root);
  if (!found)
    throw new UserError(`there is no workflow ${pinned.name} any more`, "put its file back, or abort the run", 1);
  if ("errors" in found) throw new UserError(`${found.file} has errors`, "`pawl check` shows them", 1);
  const typed = typedCommandOf(pinned);
  return typed === null ? found.workflow : withCommand(found.workflow, typed);
}
