/** Which gates of this project can be checked without a run, and the commit that this tree is compared with. */

import { kindOf } from "../checks/core/kinds/index.ts";
import { spawnGit } from "../checks/git.ts";
import { DONE } from "../definitions/gates.ts";
import type { Problem } from "../definitions/problem.ts";
import { readProject } from "../definitions/project.ts";
import { listProblems, listWorkflows } from "../definitions/registry.ts";
import type { Gate } from "../kernel/types/run.ts";
import { childrenOf, gatesOf, leavesOf } from "../kernel/types/workflow.ts";

/** A gate that was not checked, and what it would need. */
export interface Left {
  gate: string;
  needs: string;
}

export interface Selection {
  gates: Gate[];
  left: Left[];
}

/** Of pawl.yaml, and of the workflows in the project's own folder. A gate may be in it more than once. */
export function gatesHere(root: string, home?: string): { gates: Gate[]; problems: Problem[] } {
  const read = readProject(root);
  if ("errors" in read) return { gates: [], problems: read.errors };
  const { gates, workflows } = read.project;
  const own = listWorkflows(root, home).filter(({ origin }) => origin === "project");
  const added = Object.values(workflows).flatMap((entry) => Object.values(entry.gates).flat());
  const ofWorkflows = own.flatMap((found) => ("workflow" in found ? gatesOf(found.workflow) : []));
  return { gates: [...Object.values(gates), ...added, ...ofWorkflows], problems: own.flatMap(listProblems) };
}

/** No names: all of them. The first name of a gate counts. */
export function selectGates(all: Gate[], names: string[], hasBase: boolean): Selection {
  const wanted = names.length === 0 ? all : all.filter((gate) => names.includes(gate.name));
  const each = wanted.flatMap((gate) => (gate.name === DONE ? (gate.all ?? []) : [gate]));
  const parts = uniqueGates(each).map((gate) => divide(gate, hasBase));
  const left = parts.flatMap((part) => part.left);
  return {
    gates: uniqueGates(parts.flatMap((part) => part.gates)),
    left: left.filter(({ gate }, at) => left.findIndex((other) => other.gate === gate) === at),
  };
}

export function uniqueGates(gates: Gate[]): Gate[] {
  const byId = new Map<string, Gate>();
  for (const gate of gates) if (!byId.has(gate.id)) byId.set(gate.id, gate);
  return [...byId.values()];
}

/** Of gates that all have to pass, those that can be checked are. Of alternatives one may be out of reach: none is. */
function divide(gate: Gate, hasBase: boolean): Selection {
  const needs = leavesOf([gate]).map((leaf) => kindOf(leaf).outsideRun?.(leaf, hasBase) ?? null);
  const need = needs.find((one) => one !== null);
  if (need === undefined) return { gates: [gate], left: [] };
  if (!gate.all) return { gates: [], left: [{ gate: gate.name, needs: need! }] };
  const parts = childrenOf(gate).map((child) => divide(child, hasBase));
  return { gates: parts.flatMap((part) => part.gates), left: parts.flatMap((part) => part.left) };
}

// ── The base ────────────────────────────────────────────────────────────────

export interface Base {
  /** as it was named */
  ref: string;
  commit: string;
}

/** Where this branch left REF: what others did there since is not our change. */
export function findBase(root: string, ref: string): { base: Base } | { why: string; hint: string } {
  const named = resolve(root, ref);
  if (named === null) {
    const hint = "name a branch, tag or commit that is here; in CI, fetch it first (actions/checkout: fetch-depth: 0)";
    return { why: `git knows no commit ${JSON.stringify(ref.slice(0, 100))}`, hint };
  }
  const { exitCode, stdout } = spawnGit(root, ["merge-base", named, "HEAD"]);
  const commit = stdout.toString().trim();
  if (exitCode === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return { base: { ref, commit } };
  return {
    why: `${JSON.stringify(ref.slice(0, 100))} and HEAD have no commit in common`,
    hint: "a shallow clone ends too early: fetch all of it (git fetch --unshallow; actions/checkout: fetch-depth: 0)",
  };
}

function resolve(root: string, ref: string): string | null {
  if (ref === "" || ref.startsWith("-") || /[\0\n]/.test(ref)) return null;
  const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "-q", "--end-of-options", `${ref}^{commit}`]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}
