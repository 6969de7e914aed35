/** Which gates of this project can be checked without a run, and which cannot. */

import { kindOf } from "../checks/core/kinds/index.ts";
import type { Problem } from "../definitions/problem.ts";
import { readProject } from "../definitions/project.ts";
import { listWorkflows, problemsOf } from "../definitions/registry.ts";
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
  return { gates: [...Object.values(gates), ...added, ...ofWorkflows], problems: own.flatMap(problemsOf) };
}

/** No names: all of them. The first name of a gate counts. */
export function selectGates(all: Gate[], names: string[], hasBase: boolean): Selection {
  const wanted = names.length === 0 ? all : all.filter((gate) => names.includes(gate.name));
  const parts = unique(wanted).map((gate) => divide(gate, hasBase));
  const left = parts.flatMap((part) => part.left);
  return {
    gates: unique(parts.flatMap((part) => part.gates)),
    left: left.filter(({ gate }, at) => left.findIndex((other) => other.gate === gate) === at),
  };
}

function unique(gates: Gate[]): Gate[] {
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
