/**
 * Measures what the gates of a claim ask for. Nothing is judged here. Loaded only where there is a gate to measure;
 * what one kind of gate alone needs is loaded with it.
 */

import { attempt } from "../kernel/attempt.ts";
import type { Fact, FileState, GateFact, GateNeed } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import type { Tracked, Verdict } from "../kernel/types/verdict.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { objectsFolder } from "../store/bases.ts";
import { type Environment, environmentFor } from "../store/environment.ts";
import { insideRoot, lookAt, messageOf, readText } from "../store/files.ts";
import { isAround, measureCommand } from "./command.ts";
import { commandOf, kindOf } from "./core/kinds/index.ts";
import { isTestClass } from "./core/test-class.ts";
import { hasTestPart } from "./core/test-parts.ts";
import { isAboutWork } from "./evidence/infer-task.ts";
import { spawnGit } from "./git.ts";
import type { GateSources, Measuring } from "./measuring.ts";
import { changesSince, type TreeChange, treeHash } from "./tree/tree.ts";

export function gatherGates(
  need: GateNeed,
  sources: GateSources,
): { gates: Record<string, GateFact>; tree: Fact<string> } {
  const tree = treeHash(sources.root, objectsFolder(sources.root, sources.run));
  const measuring = startMeasuring(need, sources, tree.ok ? tree.value : "");
  const fact = (gate: Gate): GateFact =>
    tree.ok ? measure(measuring, gate) : { tree: "", kind: "unknown", why: `the tree could not be read (${tree.why})` };
  const measured = leavesOf(need.gates).filter((gate) => kindOf(gate).needs === "measure");
  return { gates: Object.fromEntries(measured.map((gate) => [gate.id, fact(gate)])), tree };
}

function measure(measuring: Measuring, gate: Gate): GateFact {
  const { tree, need } = measuring;
  const kind = kindOf(gate);
  const known = need.known[gate.id];
  const isSame = () => known?.environment === (commandOf(gate) ? measuring.environment().hash : undefined);
  const isHeld = known?.verdict === "pass" && known.tree === tree && tree !== "" && kind.keep;
  if (isHeld && isFresh(measuring, known) && isSame()) return { tree, kind: "known", verdict: known };
  try {
    const found = kind.measure?.(measuring, gate) ?? { ok: true, value: undefined };
    if ("kind" in found) return { tree, ...found };
    return found.ok ? { tree, kind: "measured", value: found.value } : { tree, kind: "unknown", why: found.why };
  } catch (error) {
    return { tree, kind: "unknown", why: `it could not be checked (${messageOf(error)})` };
  }
}

/** A command's answer also depends on what git ignores. */
const isFresh = ({ sources }: Measuring, { command, around }: Verdict) =>
  command === undefined || isAround(sources.root, around);

function startMeasuring(need: GateNeed, sources: GateSources, tree: string): Measuring {
  const { root } = sources;
  const changes = new Map<string, Fact<TreeChange[]>>();
  let environment: Environment | undefined;
  const measuring: Measuring = {
    sources,
    need,
    began: Bun.nanoseconds() / 1e6,
    tree,
    busy: false,
    environment: () => (environment ??= environmentFor(root)),
    changes: (now = tree) => {
      if (!changes.has(now)) changes.set(now, changesUntil(measuring, now));
      return changes.get(now)!;
    },
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

function changesUntil({ sources, need }: Measuring, tree: string): Fact<TreeChange[]> {
  if (need.base_tree === "") return { ok: false, why: "the tree at the beginning is not known" };
  const isWanted = (path: string) => hasTestPart(path) || isTestClass(path, new Set());
  return changesSince(sources.root, need.base_tree, tree, objectsFolder(sources.root, sources.run), isWanted);
}

// ── Files ───────────────────────────────────────────────────────────────────

function inspectFile(root: string, path: string): { state: FileState; size: number } {
  const place = attempt(() => insideRoot(root, path), null);
  const stat = place === null ? undefined : lookAt(place);
  if (place === null || (stat && !stat.isFile())) return { state: "outside", size: 0 };
  return stat ? { state: "there", size: stat.size } : { state: "missing", size: 0 };
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
  const listed = opened.kind === "ok" ? opened.value.list({ state: "claimed" }) : opened;
  if (ready.kind !== "ok") return { ok: false, why: `the tracker does not answer (${ready.why})` };
  if (listed.kind !== "ok") return { ok: false, why: `the tracker does not answer (${listed.why})` };
  const own = listed.value.find(({ owner }) => owner === actorOf(session));
  return { ok: true, value: { ready: ready.value.map(({ id }) => id), own: own?.id ?? null } };
}

function trackedTask(root: string, { task }: GateNeed): Fact<Tracked> {
  if (!task) return { ok: false, why: "this run has no task of a tracker" };
  const { gatherTask } = require("../trackers/next-task.ts") as typeof import("../trackers/next-task.ts");
  const found = gatherTask(root, task.scope, task.id);
  if (!found.ok) return { ok: false, why: `the tracker does not answer (${found.why})` };
  return { ok: true, value: { id: found.value.id, state: found.value.state } };
}
