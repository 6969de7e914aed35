/**
 * Measures what the gates of a claim ask for. Nothing is judged here. Loaded only where there is a gate to measure;
 * what one kind of gate alone needs is loaded with it.
 */

import type { Fact, FileState, GateFact, GateNeed } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import type { Tracked } from "../kernel/types/verdict.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { measureCommand } from "./command.ts";
import { kindOf } from "./core/kinds/index.ts";
import { isAboutWork } from "./evidence/infer-task.ts";
import { spawnGit } from "./git.ts";
import type { GateSources, Measuring } from "./measuring.ts";
import { objectsOf } from "./tree/objects.ts";
import { changesSince, type TreeChange, treeHash } from "./tree/tree.ts";

export function gatherGates(
  need: GateNeed,
  sources: GateSources,
): { gates: Record<string, GateFact>; tree: Fact<string> } {
  const tree = treeHash(sources.root, objectsOf(sources.root, sources.run));
  const measuring = measuringOf(need, sources, tree.ok ? tree.value : "");
  const facts = leavesOf(need.gates)
    .filter((gate) => kindOf(gate).needs === "measure")
    .map((gate) => [gate.id, tree.ok ? measure(measuring, gate) : unreadable(tree.why)] as const);
  return { gates: Object.fromEntries(facts), tree };
}

const unreadable = (why: string): GateFact => ({
  tree: "",
  kind: "unknown",
  why: `the tree could not be read (${why})`,
});

function measure(measuring: Measuring, gate: Gate): GateFact {
  const { tree, need } = measuring;
  const kind = kindOf(gate);
  const known = need.known[gate.id];
  if (known?.verdict === "pass" && known.tree === tree && tree !== "" && kind.keep)
    return { tree, kind: "known", verdict: known };
  try {
    return { tree, ...(kind.measure?.(measuring, gate) ?? { kind: "measured", value: undefined }) };
  } catch (error) {
    const why = `it could not be checked (${error instanceof Error ? error.message : error})`;
    return { tree, kind: "unknown", why };
  }
}

function measuringOf(need: GateNeed, sources: GateSources, tree: string): Measuring {
  const { root } = sources;
  let changes: Fact<TreeChange[]> | undefined;
  const measuring: Measuring = {
    sources,
    need,
    began: Bun.nanoseconds() / 1e6,
    tree,
    busy: false,
    changes: () => (changes ??= changesNow(measuring)),
    inspectFile: (path) => inspectFile(root, path),
    readFile: (path) => readFile(root, path),
    findMade: (glob, since) => findMade(root, glob, since),
    toolCalls: sources.tools,
    readers: () => ({
      ...(require("./evidence/infer.ts") as typeof import("./evidence/infer.ts")),
      ...(require("./evidence/infer-task.ts") as typeof import("./evidence/infer-task.ts")),
      ...(require("./evidence/infer-tests.ts") as typeof import("./evidence/infer-tests.ts")),
    }),
    changedAfter: (ms, notes) => changedAfter(root, ms, notes),
    readyTasks: () => readyTasks(sources),
    trackedTask: () => trackedTask(root, need),
    runCommand: (gate) => measureCommand(measuring, gate),
  };
  return measuring;
}

function changesNow({ sources, need, tree }: Measuring): Fact<TreeChange[]> {
  if (need.base_tree === "") return { ok: false, why: "the tree at the beginning is not known" };
  const { isTestFile } = require("./weakened/weakened.ts") as typeof import("./weakened/weakened.ts");
  return changesSince(sources.root, need.base_tree, tree, objectsOf(sources.root, sources.run), isTestFile);
}

// ── Files ───────────────────────────────────────────────────────────────────

function inspectFile(root: string, path: string): { state: FileState; size: number } {
  const place = placeInside(root, path);
  const stat = place === null ? undefined : lookAt(place);
  if (place === null || (stat && !stat.isFile())) return { state: "outside", size: 0 };
  return stat ? { state: "there", size: stat.size } : { state: "missing", size: 0 };
}

function placeInside(root: string, path: string): string | null {
  try {
    return insideRoot(root, path);
  } catch {
    return null;
  }
}

function readFile(root: string, path: string): Fact<string> {
  const file = readText(insideRoot(root, path));
  return file.ok ? { ok: true, value: file.text } : { ok: false, why: file.detail ?? file.why };
}

const MOST_ARTEFACTS = 10_000;

function findMade(root: string, glob: string, since: string): Fact<string> {
  let count = 0;
  for (const path of new Bun.Glob(glob).scanSync({ cwd: root, onlyFiles: true, followSymlinks: false, dot: true })) {
    if (++count > MOST_ARTEFACTS) return { ok: false, why: `more than ${MOST_ARTEFACTS} files are like ${glob}` };
    const stat = lookAt(insideRoot(root, path));
    if (stat?.isFile() && stat.size > 0 && stat.mtimeMs >= Date.parse(since)) return { ok: true, value: path };
  }
  return { ok: true, value: "" };
}

/** The time of the last change of the inode is the kernel's: `touch` cannot set it back. */
function changedAfter(root: string, ms: number, notes?: string): Fact<string> {
  const args = ["ls-files", "-z", "-c", "-o", "--exclude-standard", "--deduplicate"];
  const { exitCode, stdout, stderr } = spawnGit(root, args);
  if (exitCode !== 0) return { ok: false, why: `git: ${stderr.toString().trim().split("\n")[0]}` };
  const { isOwned } = require("../store/owned.ts") as typeof import("../store/owned.ts");
  for (const path of stdout.toString().split("\0")) {
    if (path === "" || isOwned(path) || isAboutWork(path, notes)) continue;
    const stat = lookAt(`${root}/${path}`);
    if (stat ? stat.ctimeMs > ms : folderChanged(root, path, ms)) return { ok: true, value: path };
  }
  return { ok: true, value: "" };
}

/** A removed file shows in the nearest folder that is still there. */
function folderChanged(root: string, path: string, ms: number): boolean {
  for (let at = path; at !== ""; ) {
    at = at.slice(0, Math.max(0, at.lastIndexOf("/")));
    const stat = lookAt(at === "" ? root : `${root}/${at}`);
    if (stat) return stat.ctimeMs > ms;
  }
  return true;
}

// ── The tracker ─────────────────────────────────────────────────────────────

function readyTasks({ root, session }: GateSources): Fact<{ ready: string[]; own: string | null }> {
  const { openProjectTracker } =
    require("../trackers/project-tracker.ts") as typeof import("../trackers/project-tracker.ts");
  const opened = openProjectTracker(root);
  const ready = opened.kind === "ok" ? opened.value.ready({ labels: [] }) : opened;
  if (ready.kind !== "ok") return { ok: false, why: `the tracker does not answer (${ready.why})` };
  const listed = opened.kind === "ok" ? opened.value.list({ state: "claimed" }) : opened;
  const own = listed.kind === "ok" ? listed.value.find(({ owner }) => owner === actorOf(session)) : undefined;
  return { ok: true, value: { ready: ready.value.map(({ id }) => id), own: own?.id ?? null } };
}

function trackedTask(root: string, { task }: GateNeed): Fact<Tracked> {
  if (!task) return { ok: false, why: "this run has no task of a tracker" };
  const { gatherTask } = require("../trackers/next-task.ts") as typeof import("../trackers/next-task.ts");
  const found = gatherTask(root, task.scope, task.id);
  if (!found.ok) return { ok: false, why: `the tracker does not answer (${found.why})` };
  return { ok: true, value: { id: found.value.id, state: found.value.state } };
}
