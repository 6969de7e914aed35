/**
 * Measures what the gates of a claim ask for. Nothing is judged here. Loaded only where there is a gate to measure;
 * what one kind of gate alone needs is loaded with it.
 */

import { matchesGlob } from "../kernel/text/glob.ts";
import type { Fact, GateFact, GateNeed } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { measureCommand } from "./command.ts";
import { isMeasured } from "./core/gate.ts";
import { isAboutWork } from "./evidence/infer-task.ts";
import { testState } from "./evidence/infer-tests.ts";
import { spawnGit } from "./git.ts";
import type { GateSources, Looked, Measuring } from "./measuring.ts";
import { objectsOf } from "./tree/objects.ts";
import { changesSince, type TreeChange, treeHash } from "./tree/tree.ts";

export function gatherGates(
  need: GateNeed,
  sources: GateSources,
): { gates: Record<string, GateFact>; tree: Fact<string> } {
  const tree = treeHash(sources.root, objectsOf(sources.root, sources.run));
  const began = Bun.nanoseconds() / 1e6;
  let changes: Fact<TreeChange[]> | undefined;
  const measuring: Measuring = {
    sources,
    need,
    began,
    tree: tree.ok ? tree.value : "",
    busy: false,
    changes: () => (changes ??= changesNow(measuring)),
  };
  const facts = leavesOf(need.gates)
    .filter(isMeasured)
    .map((gate) => [gate.id, tree.ok ? measure(measuring, gate) : unreadable(tree.why)] as const);
  return { gates: Object.fromEntries(facts), tree };
}

const unreadable = (why: string): GateFact => ({
  tree: "",
  kind: "unknown",
  why: `the tree could not be read (${why})`,
});

function changesNow({ sources, need, tree }: Measuring): Fact<TreeChange[]> {
  if (need.base_tree === "") return { ok: false, why: "the tree at the beginning is not known" };
  const { isTestFile } = require("./weakened/weakened.ts") as typeof import("./weakened/weakened.ts");
  return changesSince(sources.root, need.base_tree, tree, objectsOf(sources.root, sources.run), isTestFile);
}

function measure(measuring: Measuring, gate: Gate): GateFact {
  const { tree, need } = measuring;
  const known = need.known[gate.id];
  if (known?.verdict === "pass" && known.tree === tree && tree !== "" && isLasting(gate))
    return { tree, kind: "known", verdict: known };
  try {
    return { tree, ...look(measuring, gate) };
  } catch (error) {
    return {
      tree,
      kind: "unknown",
      why: `it could not be looked at (${error instanceof Error ? error.message : error})`,
    };
  }
}

/** The same tree gives the same answer; what lies outside the tree has to be looked at each time. */
const isLasting = (gate: Gate) =>
  gate.artefact === undefined && gate.tracker === undefined && gate.evidence === undefined;

function look(measuring: Measuring, gate: Gate): Looked {
  const { sources, need } = measuring;
  if (gate.only) return lookOutside(measuring, gate.only);
  if (gate.file !== undefined) return lookAtFile(sources.root, gate.file, gate.contains);
  if (gate.artefact !== undefined) return lookForArtefact(sources.root, gate.artefact, need.since);
  if (gate.evidence === "tests") return lookForEvidence(sources, need, sinceOf(gate, need));
  if (gate.evidence !== undefined) return lookForSigns(sources, need, gate.evidence, sinceOf(gate, need));
  if (gate.tracker === "none-ready") return askForReady(sources);
  if (gate.tracker !== undefined) return askTracker(sources.root, need);
  return measureCommand(measuring, gate);
}

function lookOutside(measuring: Measuring, globs: string[]): Looked {
  const changes = measuring.changes();
  if (!changes.ok) return { kind: "unknown", why: changes.why };
  const paths = changes.value.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  return { kind: "outside", paths: paths.filter((path) => !globs.some((glob) => matchesGlob(path, glob))) };
}

function lookAtFile(root: string, path: string, contains: string | undefined): Looked {
  const target = placeOf(root, path);
  const stat = target === null ? undefined : lookAt(target);
  if (target === null || (stat && !stat.isFile())) return { kind: "file", state: "outside", size: 0, holds: false };
  if (!stat) return { kind: "file", state: "missing", size: 0, holds: false };
  if (contains === undefined) return { kind: "file", state: "there", size: stat.size, holds: true };
  const file = readText(target);
  if (!file.ok) return { kind: "unknown", why: `${path} cannot be read (${file.detail ?? file.why})` };
  return { kind: "file", state: "there", size: stat.size, holds: file.text.includes(contains) };
}

function placeOf(root: string, path: string): string | null {
  try {
    return insideRoot(root, path);
  } catch {
    return null;
  }
}

const MOST_ARTEFACTS = 10_000;

/** The newest one that is not empty and was made in this step; artefacts are mostly ignored by git. */
function lookForArtefact(root: string, glob: string, since: string): Looked {
  let count = 0;
  for (const path of new Bun.Glob(glob).scanSync({ cwd: root, onlyFiles: true, followSymlinks: false, dot: true })) {
    if (++count > MOST_ARTEFACTS) return { kind: "unknown", why: `more than ${MOST_ARTEFACTS} files are like ${glob}` };
    const stat = lookAt(insideRoot(root, path));
    if (stat?.isFile() && stat.size > 0 && stat.mtimeMs >= Date.parse(since))
      return { kind: "artefact", path, size: stat.size };
  }
  return { kind: "artefact", path: "", size: 0 };
}

const sinceOf = ({ from }: Gate, { since, entered }: GateNeed) =>
  from === undefined ? since : (entered[from] ?? since);

function lookForEvidence({ root, tools }: GateSources, { names }: GateNeed, since: string): Looked {
  const calls = tools(since);
  if (!calls.ok) return { kind: "unknown", why: `the tool calls could not be read (${calls.why})` };
  const { last, red, changed } = testState(calls.value);
  // A red suite stays red until the same one passes, whatever else is green.
  const run = red ?? last;
  const runs = run === null ? [] : [run];
  if (run?.verdict !== "pass") return { kind: "evidence", runs, edited: "" };
  const edited = changedAfter(root, Date.parse(run.at), names.notes);
  if (!edited.ok) return { kind: "unknown", why: edited.why };
  return { kind: "evidence", runs, edited: edited.value || (changed ?? "") };
}

const NO_SIGN = {
  review: "no reviewer's result that approves is to be seen in this step",
  "task-read": "the task was not opened again in this step",
  failure: "neither tests nor a review failed in this step, so there is no way back",
};

function lookForSigns(
  { tools }: GateSources,
  { task, names }: GateNeed,
  kind: keyof typeof NO_SIGN,
  since: string,
): Looked {
  const calls = tools(since);
  if (!calls.ok) return { kind: "unknown", why: `the tool calls could not be read (${calls.why})` };
  const { failureIn, reviewOf, shows } = require("./evidence/infer.ts") as typeof import("./evidence/infer.ts");
  const { notes, reviewers } = names;
  const review = reviewOf(calls.value, reviewers);
  const signs = {
    review: () => (review?.verdict === "approved" ? "a reviewer approved" : null),
    "task-read": () =>
      calls.value.some((call) => shows(call, task?.id ?? "", notes)) ? "the task was opened again" : null,
    failure: () => failureIn(calls.value, reviewers),
  };
  const sign = signs[kind]();
  const why = kind === "review" && review ? review.why : NO_SIGN[kind];
  return { kind: "shown", shown: sign !== null, why: sign ?? why };
}

/** A tracker that is not there has no ready work, but nobody can work through it either. */
function askForReady({ root, session }: GateSources): Looked {
  const { openProjectTracker } =
    require("../trackers/project-tracker.ts") as typeof import("../trackers/project-tracker.ts");
  const opened = openProjectTracker(root);
  const ready = opened.kind === "ok" ? opened.value.ready({ labels: [] }) : opened;
  if (ready.kind !== "ok") return { kind: "unknown", why: `the tracker does not answer (${ready.why})` };
  const listed = opened.kind === "ok" ? opened.value.list({ state: "claimed" }) : opened;
  const own = listed.kind === "ok" ? listed.value.find(({ owner }) => owner === actorOf(session)) : undefined;
  if (own) return { kind: "shown", shown: false, why: `${own.id} was claimed in this session and is not done` };
  const [first, ...more] = ready.value;
  if (first === undefined) return { kind: "shown", shown: true, why: "no task is ready" };
  const others = more.length > 0 ? ` and ${more.length} more` : "";
  return { kind: "shown", shown: false, why: `the tracker has ready work: ${first.id}${others}` };
}

/** Never the agent's word, always the tracker's. */
function askTracker(root: string, { task }: GateNeed): Looked {
  if (!task) return { kind: "unknown", why: "this run has no task of a tracker" };
  const { gatherTask } = require("../trackers/next-task.ts") as typeof import("../trackers/next-task.ts");
  const found = gatherTask(root, task.scope, task.id);
  if (!found.ok) return { kind: "unknown", why: `the tracker does not answer (${found.why})` };
  return { kind: "tracker", task: { id: found.value.id, state: found.value.state } };
}

/**
 * A file that was touched after that moment, "" if none was. The time of the last change of the inode is the kernel's:
 * `touch` cannot set it back. A removed file is seen by its folder.
 */
function changedAfter(root: string, ms: number, notes?: string): Fact<string> {
  const { exitCode, stdout, stderr } = spawnGit(root, [
    "ls-files",
    "-z",
    "-c",
    "-o",
    "--exclude-standard",
    "--deduplicate",
  ]);
  if (exitCode !== 0) return { ok: false, why: `git: ${stderr.toString().trim().split("\n")[0]}` };
  const { isOwned } = require("../store/owned.ts") as typeof import("../store/owned.ts");
  for (const path of stdout.toString().split("\0")) {
    if (path === "" || isOwned(path) || isAboutWork(path, notes)) continue;
    const stat = lookAt(`${root}/${path}`);
    if (stat ? stat.ctimeMs > ms : folderChanged(root, path, ms)) return { ok: true, value: path };
  }
  return { ok: true, value: "" };
}

function folderChanged(root: string, path: string, ms: number): boolean {
  for (let at = path; at !== ""; ) {
    at = at.slice(0, Math.max(0, at.lastIndexOf("/")));
    const stat = lookAt(at === "" ? root : `${root}/${at}`);
    if (stat) return stat.ctimeMs > ms;
  }
  return true;
}
