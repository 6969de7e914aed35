/** pawl.yaml: the project's own gates, and the switches for workflows. */
import type { Gate, Move, Workflow } from "../kernel/types/run.ts";
import { readText } from "../store/files.ts";
import { join } from "../store/names.ts";
import { readDocument } from "./document.ts";
import { checkGate, checkGates, finishGate, type NamedGates, withId } from "./gates.ts";
import { type Problem, problemAt, quote, suggest } from "./problem.ts";
import { type Draft, type Reading, reportAt } from "./read.ts";
import { PROJECT, type ProjectFile } from "./schema/project.ts";
import { checkShortcuts } from "./schema/shortcut.ts";

export interface Project extends Omit<ProjectFile, "gates" | "workflows"> {
  gates: NamedGates;
  workflows: Record<string, Switches>;
}

/** Where the project's tasks live. */
export type TrackerPlace = NonNullable<ProjectFile["tracker"]>;

/** What a project says about one of its workflows. */
interface Switches extends Omit<NonNullable<ProjectFile["workflows"]>[string], "gates" | "off"> {
  gates: Record<string, Gate[]>;
  off: string[];
}

export const PROJECT_FILE = "pawl.yaml";
const MAX_BYTES = 256 * 1024;
const NOTHING: Project = { gates: {}, workflows: {} };

/** A file that is missing or empty says nothing. */
export function readProject(root: string): { project: Project } | { errors: Problem[] } {
  const file = readText(join(root, PROJECT_FILE), MAX_BYTES);
  if (!file.ok && file.why === "missing") return { project: NOTHING };
  if (!file.ok) {
    const message = `the file cannot be read: ${file.detail ?? file.why}`;
    return { errors: [problemAt(PROJECT_FILE, "", 0, message, "check the file and its permissions")] };
  }
  return compileProject(file.text);
}

export function compileProject(text: string): { project: Project } | { errors: Problem[] } {
  if (text.replace(/^\s*#.*$/gm, "").trim() === "") return { project: NOTHING };
  const read = readDocument(text, PROJECT_FILE, PROJECT, () => null, check);
  return "errors" in read ? read : { project: assemble(read.value) };
}

function check(reading: Reading, draft: Draft<ProjectFile>): void {
  checkShortcuts(reading, draft.shortcuts, "project");
  const names = Object.keys(draft.gates ?? {});
  for (const [name, gate] of Object.entries(draft.gates ?? {})) {
    // A gate may use those above it: so none can use itself.
    checkGate(reading, gate, `gates/${name}`, names.slice(0, names.indexOf(name)));
  }
  for (const [workflow, { gates = {} }] of Object.entries(draft.workflows ?? {})) {
    for (const [signal, list] of Object.entries(gates)) {
      checkGates(reading, list, `workflows/${workflow}/gates/${signal}`, names);
    }
  }
  for (const [name, gate] of Object.entries(draft.gates ?? {})) {
    if (gate.typed) reportAt(reading, `gates/${name}`, "no one types a command here", "name the command");
  }
  checkTracker(reading, draft.tracker ?? {});
}

/** What the tracker would not heed would be a silent mistake. */
function checkTracker(reading: Reading, { kind = "auto", path, repo }: TrackerPlace): void {
  if (path !== undefined && kind !== "auto" && kind !== "session-md")
    reportAt(reading, "tracker/path", `${kind} has no path`, "path belongs to kind: session-md");
  if (repo !== undefined && kind !== "github")
    reportAt(reading, "tracker/repo", `${kind} has no repo`, "repo belongs to kind: github");
}

function assemble(draft: ProjectFile): Project {
  const gates: NamedGates = {};
  for (const [name, gate] of Object.entries(draft.gates ?? {})) gates[name] = { ...finishGate(gate, gates), name };
  const workflows = Object.entries(draft.workflows ?? {}).map(([name, entry]) => {
    const lists = Object.entries(entry.gates ?? {}).map(([signal, list]) => [
      signal,
      list.map((gate) => finishGate(gate, gates)),
    ]);
    return [name, { ...entry, gates: Object.fromEntries(lists), off: entry.off ?? [] }];
  });
  const { guard, tracker, shortcuts, loop } = draft;
  return {
    ...(guard && { guard }),
    ...(tracker && { tracker }),
    ...(shortcuts && { shortcuts }),
    ...(loop && { loop }),
    gates,
    workflows: Object.fromEntries(workflows),
  };
}

/** The project's switches, applied to one of its workflows. A signal the workflow does not know is a mistake. */
export function applyProject(given: Workflow, project: Project): { workflow: Workflow } | { errors: Problem[] } {
  const workflow = withNotes(given, project);
  const entry = project.workflows[workflow.name];
  const switched = entry ? applySwitches(workflow, entry) : { workflow };
  return "workflow" in switched ? { workflow: withTracker(switched.workflow, project) } : switched;
}

/** Pinned with the rest: a run's tasks do not move elsewhere because somebody edits pawl.yaml. */
function withTracker(workflow: Workflow, { tracker }: Project): Workflow {
  const { tasks } = workflow;
  if (!tasks || !tracker || tasks.tracker !== undefined || tasks.path !== undefined) return workflow;
  const { kind, ...place } = tracker;
  return { ...workflow, tasks: { ...tasks, ...(kind && { tracker: kind }), ...place } };
}

function applySwitches(workflow: Workflow, entry: Switches): { workflow: Workflow } | { errors: Problem[] } {
  const known = [...workflow.stages.flatMap((stage) => Object.keys(stage.on)), ...Object.keys(workflow.anywhere)];
  const titles = workflow.stages.flatMap(({ id, title }) => [id, title]);
  const strange = Object.values(entry.sequences ?? {})
    .flat()
    .find((word) => !titles.includes(word));
  if (strange !== undefined) {
    const message = `workflows.${workflow.name}: it has no stage ${quote(strange)}`;
    return { errors: [problemAt(PROJECT_FILE, "", 0, message, suggest(strange, titles, "stages"))] };
  }
  const wrong = [...Object.keys(entry.gates), ...entry.off].find((signal) => !known.includes(signal));
  if (wrong !== undefined) {
    const message = `workflows.${workflow.name}: it has no signal ${quote(wrong)}`;
    return { errors: [problemAt(PROJECT_FILE, "", 0, message, suggest(wrong, known, "signals"))] };
  }
  const guard = (moves: Record<string, Move>) =>
    Object.fromEntries(Object.entries(moves).map(([signal, move]) => [signal, guarded(move, signal, entry)]));
  const stages = workflow.stages.map((stage) => ({ ...stage, on: guard(stage.on) }));
  const { fresh: _fresh, ...rest } = workflow;
  const switched = {
    ...(entry.fresh === undefined ? workflow : rest),
    ...(entry.tasks && { tasks: entry.tasks }),
    ...(entry.fresh === "true" && { fresh: true as const }),
    ...(entry.sequences && { sequences: entry.sequences }),
    ...(entry.commands && { commands: named(workflow.commands, entry.commands) }),
  };
  return { workflow: { ...switched, stages, anywhere: guard(workflow.anywhere) } };
}

/** A watch looks at session.md, which may have another name here. */
function withNotes(workflow: Workflow, { tracker, workflows }: Project): Workflow {
  const path = tracker?.path ?? workflows["auto-workflow"]?.tasks?.path;
  if (!workflow.watch || path === undefined) return workflow;
  const isNotes = (gate: Gate): boolean => gate.artefact === "session.md" || (gate.any ?? []).some(isNotes);
  const moved = (gate: Gate): Gate => (isNotes(gate) ? withId({ artefact: path }, gate.name) : gate);
  const stages = workflow.stages.map((stage) =>
    stage.stop?.gates ? { ...stage, stop: { ...stage.stop, gates: stage.stop.gates.map(moved) } } : stage,
  );
  return { ...workflow, stages };
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
