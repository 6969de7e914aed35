/** pawl.yaml: the project's own gates, and the switches for workflows. */
import { kindOf } from "../checks/core/kinds/index.ts";
import type { Gate, Move, Workflow } from "../kernel/types/run.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { join } from "../store/names.ts";
import { isBlank, type ProblemAt, readDocument, settingsText } from "./document.ts";
import {
  checkGate,
  checkGates,
  DONE,
  type DraftGate,
  finishGate,
  finishGates,
  mapMoves,
  type NamedGates,
  withId,
} from "./gates.ts";
import { type Problem, problemAt, quote, suggest } from "./problem.ts";
import { type Draft, type Reading, reportAt } from "./read.ts";
import { PROJECT, type ProjectFile } from "./schema/project.ts";
import { checkShortcuts } from "./schema/shortcut.ts";

export interface Project extends Omit<ProjectFile, "done" | "gates" | "workflows"> {
  /** with the definition of done, as one gate named `done` */
  gates: NamedGates;
  workflows: Record<string, Switches>;
  problemAt: ProblemAt;
}

/** Where the project's tasks live. */
export type TrackerPlace = NonNullable<ProjectFile["tracker"]>;

/** What a project says about one of its workflows. */
interface Switches extends Omit<NonNullable<ProjectFile["workflows"]>[string], "gates" | "off"> {
  gates: Record<string, Gate[]>;
  off: string[];
}

export const PROJECT_FILE = "pawl.yaml";
const NOTHING: Project = {
  gates: {},
  workflows: {},
  problemAt: (_path, message, hint) => problemAt(PROJECT_FILE, "", 0, message, hint),
};

/** A file that is missing or empty says nothing. */
export function readProject(root: string): { project: Project } | { errors: Problem[] } {
  const file = settingsText(join(root, PROJECT_FILE), PROJECT_FILE);
  return "errors" in file ? file : compileProject(file.text);
}

export function compileProject(text: string): { project: Project } | { errors: Problem[] } {
  if (isBlank(text)) return { project: NOTHING };
  const read = readDocument(text, PROJECT_FILE, PROJECT, check);
  return "errors" in read ? read : { project: { ...assemble(read.value), problemAt: read.problemAt } };
}

/** Without those of a file with mistakes: it guards nothing. */
export function projectGatesByName(root: string): NamedGates {
  const read = readProject(root);
  return "errors" in read ? {} : read.project.gates;
}

function check(reading: Reading, draft: Draft<ProjectFile>): void {
  checkShortcuts(reading, draft.shortcuts, "project");
  const names = Object.keys(draft.gates ?? {});
  for (const [name, gate] of Object.entries(draft.gates ?? {})) {
    // A gate may use those above it: so none can use itself.
    checkGate(reading, gate, `gates/${name}`, names.slice(0, names.indexOf(name)));
    if (gate.typed) reportAt(reading, `gates/${name}`, "no one types a command here", "name the command");
    if (name === DONE) reportAt(reading, `gates/${name}@key`, "`done` is the definition of done", DONE_HINT);
  }
  checkDone(reading, draft.done ?? [], names);
  for (const [workflow, { gates = {} }] of Object.entries(draft.workflows ?? {})) {
    for (const [signal, list] of Object.entries(gates)) {
      checkGates(reading, list, `workflows/${workflow}/gates/${signal}`, names);
    }
  }
  checkTracker(reading, draft.tracker ?? {});
}

const DONE_HINT = "write it as a list at the top level: `done: [{ tests: [npm, test] }]`";

/** It is checked without a run, too: what only a run knows proves nothing there. */
function checkDone(reading: Reading, gates: (DraftGate | undefined)[], names: string[]): void {
  checkGates(reading, gates, DONE, names);
  for (const [index, gate] of gates.entries()) {
    if (gate?.use === DONE) reportAt(reading, `done/${index}/use`, "`done` cannot use itself", DONE_HINT);
    for (const leaf of gate ? leavesOf([gate as Gate]) : []) {
      const needs = "use" in leaf ? null : kindOf(leaf).outsideRun?.(leaf, true);
      if (needs)
        reportAt(reading, `done/${index}`, `this gate needs ${needs}`, "add it to a signal of a workflow instead");
    }
  }
}

/** What the tracker would not heed would be a silent mistake. */
function checkTracker(reading: Reading, { kind = "auto", path, repo }: TrackerPlace): void {
  if (path !== undefined && kind !== "auto" && kind !== "session-md")
    reportAt(reading, "tracker/path", `${kind} has no path`, "path belongs to kind: session-md");
  if (repo !== undefined && kind !== "github")
    reportAt(reading, "tracker/repo", `${kind} has no repo`, "repo belongs to kind: github");
}

function assemble(draft: ProjectFile): Omit<Project, "problemAt"> {
  const gates: NamedGates = {};
  for (const [name, gate] of Object.entries(draft.gates ?? {})) gates[name] = { ...finishGate(gate, gates), name };
  const { done, ...rest } = draft;
  if (done) gates[DONE] = withId({ all: done.map((gate) => finishGate(gate, gates)) }, DONE);
  const workflows = Object.entries(draft.workflows ?? {}).map(([name, entry]) => {
    const lists = Object.entries(entry.gates ?? {}).map(([signal, list]) => [signal, finishGates(list, gates)]);
    return [name, { ...entry, gates: Object.fromEntries(lists), off: entry.off ?? [] }];
  });
  return { ...rest, gates, workflows: Object.fromEntries(workflows) };
}

/** The project's switches, applied to one of its workflows. A signal the workflow does not know is a mistake. */
export function applyProject(given: Workflow, project: Project): { workflow: Workflow } | { errors: Problem[] } {
  const workflow = withNotes(given, project);
  const entry = project.workflows[workflow.name];
  const switched = entry ? applySwitches(workflow, entry, project.problemAt) : { workflow };
  return "workflow" in switched ? { workflow: withTracker(switched.workflow, project) } : switched;
}

/** Pinned with the rest: a run's tasks do not move elsewhere because somebody edits pawl.yaml. */
function withTracker(workflow: Workflow, { tracker }: Project): Workflow {
  const { tasks } = workflow;
  if (!tasks || !tracker || tasks.tracker !== undefined || tasks.path !== undefined) return workflow;
  const { kind, ...place } = tracker;
  return { ...workflow, tasks: { ...tasks, ...(kind && { tracker: kind }), ...place } };
}

function applySwitches(
  workflow: Workflow,
  entry: Switches,
  problemAt: ProblemAt,
): { workflow: Workflow } | { errors: Problem[] } {
  const errors = unknownWords(workflow, entry, problemAt);
  if (errors.length > 0) return { errors };
  const { fresh: _fresh, ...rest } = workflow;
  const switched = {
    ...(entry.fresh === undefined ? workflow : rest),
    ...(entry.tasks && { tasks: entry.tasks }),
    ...(entry.fresh && { fresh: true as const }),
    ...(entry.sequences && { sequences: entry.sequences }),
    ...(entry.commands && { commands: named(workflow.commands, entry.commands) }),
  };
  return { workflow: mapMoves(switched, (move, signal) => (signal === null ? move : guarded(move, signal, entry))) };
}

function unknownWords({ name, stages, anywhere }: Workflow, entry: Switches, problemAt: ProblemAt): Problem[] {
  const signals = [...stages.flatMap((stage) => Object.keys(stage.on)), ...Object.keys(anywhere)];
  const titles = stages.flatMap(({ id, title }) => [id, title]);
  const check = (what: string, word: string, known: string[], path: string) => {
    const message = `${name} has no ${what} ${quote(word)}`;
    if (known.includes(word)) return [];
    return problemAt(`workflows/${name}/${path}`, message, suggest(word, known, `${what}s`));
  };
  return [
    ...Object.entries(entry.sequences ?? {}).flatMap(([label, words]) =>
      words.flatMap((word, index) => check("stage", word, titles, `sequences/${label}/${index}`)),
    ),
    ...Object.keys(entry.gates).flatMap((signal) => check("signal", signal, signals, `gates/${signal}@key`)),
    ...entry.off.flatMap((signal, index) => check("signal", signal, signals, `off/${index}`)),
  ];
}

/** A watch looks at session.md, which may have another name here. */
function withNotes(workflow: Workflow, { tracker, workflows }: Project): Workflow {
  const path = tracker?.path ?? workflows["auto-workflow"]?.tasks?.path;
  if (!workflow.watch || path === undefined) return workflow;
  const isNotes = (gate: Gate): boolean => gate.artefact === "session.md" || (gate.any ?? []).some(isNotes);
  const moved = (gate: Gate): Gate => (isNotes(gate) ? withId({ artefact: path }, gate.name) : gate);
  return mapMoves(workflow, (move) => (move.gates ? { ...move, gates: move.gates.map(moved) } : move));
}

/** A project names a command, the texts show it as one. */
function named(own: Workflow["commands"], { tests, ...rest }: NonNullable<Workflow["commands"]>) {
  return { ...own, ...rest, ...(tests !== undefined && { tests: `\`${tests}\`` }) };
}

function guarded(move: Move, signal: string, entry: Switches): Move {
  const own = entry.off.includes(signal) ? [] : (move.gates ?? []);
  const gates = [...own, ...(entry.gates[signal] ?? [])];
  const { gates: _before, ...rest } = move;
  return gates.length > 0 ? { ...rest, gates } : rest;
}
