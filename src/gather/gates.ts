/**
 * Measures what the gates of a claim ask for. Nothing is judged here. Loaded only where there is a gate to measure;
 * what one kind of gate alone needs is loaded with it.
 */

import { testRuns } from "../core/evidence.ts";
import { isMeasured, leavesOf, matchesGlob } from "../core/gate.ts";
import type { Fact, GateFact, GateNeed } from "../core/types.ts";
import type { Gate } from "../core/workflow.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { measureCommand } from "./gate-command.ts";
import { spawnGit } from "./git.ts";
import type { GateSources, Looked, Measuring } from "./measuring.ts";
import { objectsOf } from "./objects.ts";
import { changesSince, type TreeChange, treeHash } from "./tree.ts";

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
  const { isTestFile } = require("../core/weakened.ts") as typeof import("../core/weakened.ts");
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
  if (gate.evidence !== undefined) return lookForEvidence(sources, need.since);
  if (gate.tracker !== undefined) return { kind: "unknown", why: "no tracker is set up for this run" };
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

function lookForEvidence({ root, tools }: GateSources, since: string): Looked {
  const calls = tools(since);
  if (!calls.ok) return { kind: "unknown", why: `the tool calls could not be read (${calls.why})` };
  const runs = testRuns(calls.value);
  const last = runs.at(-1);
  if (last?.verdict !== "pass") return { kind: "evidence", runs, edited: "" };
  const edited = changedAfter(root, Date.parse(last.at));
  return edited.ok ? { kind: "evidence", runs, edited: edited.value } : { kind: "unknown", why: edited.why };
}

/**
 * A file that was touched after that moment, "" if none was. The time of the last change of the inode is the kernel's:
 * `touch` cannot set it back. A removed file is seen by its folder.
 */
function changedAfter(root: string, ms: number): Fact<string> {
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
    if (path === "" || isOwned(path)) continue;
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
