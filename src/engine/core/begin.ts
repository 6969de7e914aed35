import { comparesTrees } from "../../checks/core/gate.ts";
import type { Content, Formal } from "../../kernel/types/formal.ts";
import type { Event, Facts, Need, Run, RunSummary, RunTask, Step, Workflow } from "../../kernel/types/run.ts";
import { stageOf } from "../../kernel/types/workflow.ts";
import { importDocument, parseFrontMatter } from "./document.ts";
import { closeDraft, openDraft, record } from "./draft.ts";
import { fill, instruction, MARK, templateValues } from "./guide.ts";
import { keepPending } from "./ledger.ts";
import { commandTyped, resume } from "./prompt.ts";
import { short } from "./run-view.ts";

/** How a run begins in this project: take over one that waits for a session, or begin a new one next to the others. */
export type Plan = { take: string } | { id: string; documentPath: string; beside: string[] } | { none: string };

export function planRun(
  workflow: Workflow,
  event: Event,
  runs: RunSummary[],
  isTaken: (id: string) => boolean,
  stages: string[],
): Plan {
  const same = runs.filter((run) => run.workflow === workflow.name && run.status !== "ended");
  // Another workflow's run may have seen the event too: a formal one gives its reminder with any prompt.
  if (same.some((run) => run.recent.some((seen) => seen.id === event.id)))
    return { none: "delivered before by another way" };
  const free = same.filter((run) => run.status === "halted" || run.owner === null || run.owner_gone);
  const newest = free.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))[0];
  if (newest && stages.length === 0 && event.kind === "prompt") return { take: newest.id };
  const id = freeId(`${initials(workflow.name)}-${event.id.slice(0, 8)}`, isTaken);
  return { id, documentPath: documentPath(workflow, id, runs), beside: same.map((run) => run.id) };
}

const initials = (name: string) =>
  name
    .split("-")
    .map((word) => word[0])
    .join("");

function freeId(base: string, isTaken: (id: string) => boolean): string {
  let id = base;
  for (let n = 2; isTaken(id); n++) id = `${base}-${n}`;
  return id;
}

/** The first run has the plain path; a second one has its id in the name. */
function documentPath(workflow: Workflow, id: string, runs: RunSummary[]): string {
  const path = workflow.document?.path ?? "";
  if (path === "" || !runs.some((run) => run.document_path === path)) return path;
  return path.replace(/(\.local)?(\.[^./]+)$/, (_all, local = "", ext) => `.${id}${local}${ext}`);
}

/** A formal workflow as it begins: what `pawl runs start` or a document of an agent says. */
export interface Beginning {
  name: string;
  type: string;
  phases: string[];
  content: Content;
  created_at: string | null;
  /** where it was found: the notes or the plan of someone */
  notes?: string;
}

export interface NewRun {
  workflow: Workflow;
  event: Event;
  facts: Facts;
  id: string;
  documentPath: string;
  stages: string[];
  beside: string[];
  formal?: Beginning;
  /** the task it begins with, already claimed */
  task?: RunTask;
  /** what it is about, in the words of the one who asked */
  request?: string;
  /** where it begins, if the session has been at work on it before */
  start?: string;
  /** what was done for the task since then counts as done in its first stage */
  since?: string;
  /** each of its tasks begins in a fresh conversation, whatever the workflow says */
  fresh?: true;
  /** what it is compared with, where that is not the tree at the beginning */
  base_tree?: string;
  /** another program sends the agent back at its stops: then Pawl only tells */
  tells?: true;
}

export function beginRun(input: NewRun): Step {
  const { workflow, event, facts } = input;
  const need = beginningNeeds(workflow, facts);
  if (need.length > 0) return { need };
  const draft = openDraft({ workflow, run: newRun(input), event, facts });
  const document = facts.document;
  const parsed = document?.ok && document.value.state === "present" ? parseFrontMatter(document.value.text) : null;
  if (parsed) draft.run.document = importDocument(draft.run.document, parsed, workflow);
  if (input.start !== undefined)
    record(draft, "inferred", { signal: "", evidence: `this session is at ${input.start} with it` });
  record(draft, "armed", {
    plan: draft.run.plan,
    by: event.kind,
    beside: input.beside,
    task: input.task?.id ?? null,
    title: input.task?.title ?? draft.run.work.request ?? null,
    ...(input.base_tree !== undefined && { compared_with: input.base_tree }),
  });
  const { id, formal } = draft.run;
  if (formal) {
    const where = `phase ${formal.phase.current}/${formal.phase.total} - ${formal.phase.name}`;
    return closeDraft(draft, { turn: "none", person: `Pawl: ${formal.name} begins (run ${id}): ${where}.` });
  }
  if (workflow.watch) return closeDraft(draft, { turn: "none" });
  const owned = event.kind === "prompt";
  const intro = workflow.intro === "" ? [] : [`${MARK} ${fill(workflow.intro, templateValues(draft))}`];
  const text = [...intro, instruction(draft)].join("\n\n");
  if (owned) keepPending(draft, text, "prompt");
  const beside = input.beside.length > 0 ? ` Also running: ${input.beside.join(", ")} (another session's).` : "";
  const about = fill(workflow.person ?? "Steps: {plan}.", templateValues(draft));
  const person = `Pawl: ${workflow.name} begins (run ${id}).${beside}\n${about}`;
  return closeDraft(draft, owned ? { turn: "none", agent: text, person } : { turn: "none", person });
}

/** The beginning is what later gates compare with. */
function beginningNeeds(workflow: Workflow, facts: Facts): Need[] {
  const need: Need[] = facts.git === undefined ? [{ kind: "git" }] : [];
  if (facts.tree === undefined && comparesTrees(workflow)) need.push({ kind: "tree" });
  return need;
}

/** Phases become the stages of the pinned workflow, so that names and numbers outlive everything. */
export function withPhases(workflow: Workflow, phases: string[]): Workflow {
  if (JSON.stringify(workflow.stages.map(({ title }) => title)) === JSON.stringify(phases)) return workflow;
  const stages = phases.map((title, i) => ({ id: `phase-${i + 1}`, title, say: "", on: {} }));
  return { ...workflow, stages };
}

/** `untracked/workflow-state/{slug}/state-{slug}-{time}.json`, the first that is free. */
export function formalPath(template: string, slug: string, at: string, isTaken: (path: string) => boolean): string {
  const time = at.replace(/^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+).*$/, "$1$2$3_$4$5$6");
  const path = template.replaceAll("{slug}", slug).replaceAll("{time}", time);
  let free = path;
  for (let n = 2; isTaken(free); n++) free = path.replace(/\.json$/, `-${n}.json`);
  return free;
}

const LONGEST_REQUEST = 160;

function readRequest(workflow: Workflow, asked = ""): { request?: string } {
  const request = short(commandTyped(workflow) ?? asked, LONGEST_REQUEST);
  return workflow.watch || request === "" ? {} : { request };
}

/** A watch does not send an agent to commit where there is no repository. */
function firstPlan(workflow: Workflow, stages: string[], { git }: Facts): string[] {
  const plan = stages.length > 0 ? stages : workflow.stages.map((stage) => stage.id);
  if (!workflow.watch || git?.ok) return plan;
  const possible = plan.filter((id) => !stageOf(workflow, id).stop?.gates?.some((gate) => gate.git));
  return possible.length > 0 ? possible : plan;
}

function newRun(input: NewRun): Run {
  const { workflow, event, facts, formal, task, since = event.at } = input;
  const plan = firstPlan(workflow, input.stages, facts);
  const stage = input.start ?? plan[0]!;
  return {
    v: 2,
    id: input.id,
    seq: 0,
    workflow: workflow.name,
    plan,
    stage,
    entered_at: since,
    ...(task && { entered: Object.fromEntries(plan.map((id) => [id, since])) }),
    status: "active",
    owner: event.session === "" ? null : { host: event.host, session: event.session },
    done: {},
    reports: [],
    ledger: { idle: 0, unbroken: 0, turn: event.turn, since: event.at, told: [], laps: { [stage]: 1 } },
    recent: [],
    checks: {
      base: facts.git?.ok ? facts.git.value : null,
      ...(facts.tree?.ok && { base_tree: facts.tree.value }),
      ...(input.base_tree !== undefined && { base_tree: input.base_tree }),
      // The person typed the command that lets one turn go.
      ...(workflow.watch === "done" && event.kind === "prompt" && { skipped: true as const }),
      ...(input.tells && { claim: { signal: "", at: event.at, rounds: workflow.limits.rounds + 1, tree: "" } }),
    },
    work: {
      ...(task ? { task } : formal ? {} : readRequest(workflow, input.request)),
      ...(input.fresh && { fresh: input.fresh }),
    },
    commit_hash: null,
    last_signal: null,
    document: { path: input.documentPath, written: false, extra: {}, body: DOCUMENT_BODY, seen: [] },
    created_at: formal?.created_at ?? event.at,
    moved_at: event.at,
    updated_at: event.at,
    ...(formal && { formal: newFormal(formal) }),
  };
}

function newFormal({ content, name, type, phases, notes: path }: Beginning): Formal {
  return {
    ...content,
    name,
    type,
    phases,
    bases: [],
    ...(path !== undefined && { notes: { path, content, found: true } }),
  };
}

const DOCUMENT_BODY = `
Pawl keeps this file up to date for you to read; it decides nothing by it. Your own keys and notes stay.
Delete it to abort the run.
`;

/** Another session goes on with a run that waits for someone, and says so. */
export function takeOver(input: { workflow: Workflow; run: Run; event: Event; facts: Facts }): Step {
  const draft = openDraft(input);
  const { run, event } = draft;
  const before = run.owner?.session ?? "nobody";
  run.owner = { host: event.host, session: event.session };
  record(draft, "adopted", { from: before, to: event.session });
  if (run.formal) return closeDraft(draft, { turn: event.kind === "stop" ? "end" : "none" });
  const note = before === event.session ? "" : `Taking over run ${run.id}.`;
  return resume(draft, note);
}
