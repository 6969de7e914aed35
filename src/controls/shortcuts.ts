/**
 * A shortcut that the person typed. It is not only expanded: what can be found out or done is, so that the agent gets the
 * decided task, the rendered STATUS or the written line, and not the wish that it may look for it.
 */

import { fenced } from "../auto/core/text.ts";
import { answering, type Incoming, oneAnswer, type Reply } from "../engine/advance.ts";
import { begin } from "../engine/begin.ts";
import { MARK } from "../engine/core/guide.ts";
import { isForRun, isHelp } from "../engine/core/prompt.ts";
import { isLabelled } from "../engine/core/tasks.ts";
import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Answer, EventOf, Workflow } from "../kernel/types/run.ts";
import { actorOf, type Task } from "../kernel/types/task.ts";
import { logError } from "../store/errors.ts";
import { lookAt, mayHaveKey, messageOf } from "../store/files.ts";
import { noteClaim } from "../store/guard.ts";
import { homeDir } from "../store/home.ts";
import { join } from "../store/names.ts";
import { findRoot, isOff, type Pointer, readPointer } from "../store/place.ts";
import { loadRun } from "../store/runs.ts";
import { findShortcut, helpText, renderExpansion, type Shortcut } from "./core/shortcut.ts";
import { chooseTask, statusText } from "./core/status.ts";

interface TypedShortcut {
  incoming: Incoming;
  event: EventOf<"prompt">;
  root: string;
  shortcut: Shortcut;
  rest: string;
  table: readonly Shortcut[];
}

/** null: no shortcut. Else its answer, with what a run of the session had to say; `atRun` lets that run have the prompt. */
export async function answerShortcut(
  incoming: Incoming,
  pointer: Pointer | null,
  atRun: () => Reply | null,
): Promise<Reply | null> {
  let root: string | null = null;
  try {
    const { event, cwd } = incoming;
    if (event.kind !== "prompt" || cwd === null || !lookAt(cwd)) return null;
    root = pointer?.root ?? findRoot(cwd);
    const typed = root === homeDir() || isOff(root) ? null : await find(incoming, event, root);
    if (typed === null || isAnswer(pointer, event.text) || isAnsweredByOther(event, root)) return null;
    const reply = atRun();
    // A run that ends with this prompt lets go of the session first: the shortcut may begin another one.
    reply?.after();
    return answering(oneAnswer([...(reply?.answer ? [reply.answer] : []), await answerTo(typed)]));
  } catch (error) {
    logError(root, "shortcut", error);
    return null;
  }
}

/** Installed twice: the other one answers. Where nothing can be noted, twice is better than not at all. */
function isAnsweredByOther(event: EventOf<"prompt">, root: string): boolean {
  try {
    return noteClaim(event.host, event.session, event.turn || event.id, event.via, "shortcuts") === null;
  } catch (error) {
    logError(root, "shortcuts", error);
    return false;
  }
}

async function find(incoming: Incoming, event: EventOf<"prompt">, root: string): Promise<TypedShortcut | null> {
  const { readShortcuts } = await import("../definitions/shortcuts.ts");
  const { table, problems } = readShortcuts(root, homeDir());
  for (const problem of problems) logError(root, "shortcuts", problem);
  const found = findShortcut(isHelp(event.text) ? "?" : event.text, table);
  return found && { incoming, event, root, table, ...found };
}

/** While a run waits for an answer, or is to go on, the word is its own. */
function isAnswer(pointer: Pointer | null, text: string): boolean {
  const loaded = pointer?.run ? loadRun(pointer.root, pointer.run) : null;
  return loaded !== null && loaded.commit.run.status !== "ended" && isForRun(loaded.commit.run, loaded.workflow, text);
}

async function answerTo(typed: TypedShortcut): Promise<Answer> {
  const { shortcut, table } = typed;
  if (shortcut.does === "help") return withVerbatim(shortcut, helpText(table));
  if (shortcut.does === "status") {
    const { gatherStatus } = await import("./status.ts");
    return withVerbatim(shortcut, statusText(gatherStatus(typed.root, typed.event.at)));
  }
  if (shortcut.does === "record") return record(typed);
  if (shortcut.does) return execute(typed, shortcut.does);
  return watched(typed, { turn: "none", agent: renderExpansion(shortcut) });
}

/** How a chain of steps (those of the workflow `tail`) ends is watched. One that cannot be is begun all the same, and the person hears of it. */
async function watched(typed: TypedShortcut, answer: Answer): Promise<Answer> {
  const { shortcut, root, incoming } = typed;
  if (!shortcut.tail || hasRun(typed)) return answer;
  try {
    const { findByName } = await import("../definitions/registry.ts");
    const found = findByName("tail", root);
    if (found && "errors" in found) throw new Error(`${found.errors[0]!.file} has errors; \`pawl check\` shows them`);
    if (!found?.workflow.watch) return answer;
    // What Pawl itself has just written into session.md is no handoff.
    const since = new Date(Date.now() + 10).toISOString();
    begin({ incoming, root, workflow: found.workflow, stages: shortcut.tail, since }).reply.after();
    return answer;
  } catch (error) {
    logError(root, "tail", error);
    const person = `Pawl: this chain is not watched: ${safeText(messageOf(error))}`;
    return oneAnswer([answer, { turn: "none", person }]);
  }
}

/** The client may put a line of its own after ours, in the same message. */
const withVerbatim = (shortcut: Shortcut, text: string) => withText(shortcut, `${text.trimEnd()}\n\n[end]`);

const withText = (shortcut: Shortcut, text: string): Answer => ({
  turn: "none",
  agent: `${renderExpansion(shortcut)}\n\n${text.trimEnd()}`,
});

const hasRun = ({ event }: TypedShortcut) => (readPointer(event.host, event.session)?.run ?? "") !== "";

/** Written by us, at once: two sessions that do it at the same time lose nothing. */
async function record({ shortcut, root, rest }: TypedShortcut): Promise<Answer> {
  const { recordTask } = await import("../trackers/record-task.ts");
  const made = recordTask(root, rest);
  if (!made.ok) {
    const why = safeText(made.why);
    const agent = `Pawl could not write the task: ${why}. Tell the person, and do nothing else.`;
    return { ...withText(shortcut, agent), person: `Pawl: the task was not recorded: ${why}` };
  }
  const { line, where, id } = made.value;
  return {
    ...withText(shortcut, `Written to ${where}:\n${safeText(line)}`),
    person: `Pawl: recorded in ${where}: ${safeText(line)}\n  undo: pawl task drop ${safeText(id)}`,
  };
}

// ── x and r ─────────────────────────────────────────────────────────────────

/** The workflow for continuous work; as it is shipped, also the label of its tasks. */
const CONTINUOUS = "auto-workflow";
/** Between looking and taking another session may be quicker: then the next one is looked for. More do not start at once. */
const TRIES = 20;

async function execute(typed: TypedShortcut, does: "execute" | "resume"): Promise<Answer> {
  const { shortcut, root, event, incoming } = typed;
  const { gatherTasks, mayResume } = await import("./status.ts");
  const { noteClient } = await import("../store/actors.ts");
  noteClient(event.session, incoming.client ?? {});
  for (let tries = 0; tries < TRIES; tries++) {
    const view = gatherTasks(root);
    if (view.why !== undefined)
      return withText(shortcut, `The tasks are not known: ${safeText(view.why)}. Tell the person, and start nothing.`);
    const { resume, start } = chooseTask(view.tasks ?? [], mayResume(root, event.session));
    const task = resume ?? (does === "resume" ? null : start);
    if (task === null)
      return withText(shortcut, `${does === "resume" ? "Nothing in progress" : "No pending tasks"}. Say so and stop.`);
    const answer = await given(typed, task);
    // No task, no chain: there is nothing to bring to its end.
    if (answer) return await watched(typed, answer);
  }
  return withText(shortcut, "Other sessions took every task in the meantime. Say so and stop.");
}

/** A task that is labelled for continuous work begins it; any other one is only marked as in progress. null: it is gone. */
async function given(typed: TypedShortcut, task: Task): Promise<Answer | null> {
  const { shortcut, root, incoming } = typed;
  const continuous = shortcut.tail || hasRun(typed) ? null : await continuousFor(root, task);
  if (continuous) {
    const { reply } = begin({ incoming, root, workflow: continuous, wanted: task.id });
    reply.after();
    const answers = reply.answer ? [reply.answer] : [];
    if (hasRun(typed)) return oneAnswer([{ turn: "none", agent: renderExpansion(shortcut) }, ...answers]);
  }
  const line = await decided(typed, task);
  return line === null ? null : withText(shortcut, [line, details(task)].filter(Boolean).join("\n\n"));
}

async function continuousFor(root: string, task: Task): Promise<Workflow | null> {
  if (!mayBeContinuous(root, task.labels)) return null;
  const { findByName } = await import("../definitions/registry.ts");
  const found = findByName(CONTINUOUS, root);
  if (!found || "errors" in found || !found.workflow.tasks) return null;
  return isLabelled(task.labels, found.workflow.tasks) ? found.workflow : null;
}

/** To compile a workflow takes longer than all the rest: only for a task that may be its own. */
function mayBeContinuous(root: string, labels: string[]): boolean {
  if (labels.length === 0) return false;
  if (isLabelled(labels, { labels: [CONTINUOUS] })) return true;
  const own = `workflows/${CONTINUOUS}.yaml`;
  if (mayHaveKey(join(root, "pawl.yaml"), ["labels"])) return true;
  // A path that cannot be looked at may be one.
  const isThere = (path: string) => attempt(() => lookAt(path) !== undefined, true);
  return isThere(join(root, ".pawl", own)) || isThere(join(homeDir(), ".config/pawl", own));
}

async function decided({ root, event }: TypedShortcut, task: Task): Promise<string | null> {
  const name = `**${safeText(task.title)}** (${safeText(task.id)})`;
  const isOurs = task.owner?.startsWith("pawl-") === true;
  if (task.state === "claimed" && !isOurs) return `${MARK} Resume this task, it is in progress: ${name}`;
  const { openForChanging } = await import("../trackers/project-tracker.ts");
  const { take } = await import("../trackers/next-task.ts");
  const opened = openForChanging(root);
  const taken = opened.kind === "ok" ? take(opened.value, task, actorOf(event.session)) : opened;
  if (taken.kind === "failed" && taken.code === "taken") return null;
  const verb = task.state === "claimed" ? "Resume this task" : "Start this task";
  if (taken.kind === "ok") return `${MARK} ${verb}, it is yours and marked as in progress: ${name}`;
  return `${MARK} ${verb}: ${name}\nIt could not be marked as in progress (${safeText(taken.why)}).`;
}

function details({ command, model, restart, text }: Task): string {
  const isOther = model !== undefined && model !== "" && model !== "sonnet";
  const lines = [
    command && `Invoke: ${safeText(command)}`,
    isOther && `It asks for the model ${safeText(model)}: if you are a different model, say so.`,
    restart &&
      "It asks for a fresh session: unless this one has just begun, tell the person before you start, and wait.",
  ];
  return [lines.filter(Boolean).join("\n"), text.trim() && fenced(text)].filter(Boolean).join("\n\n");
}
