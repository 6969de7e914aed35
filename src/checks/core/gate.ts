/** Gates before a claim: what has to be known, and what follows from it. `unproven` is never `pass`. */

import type { Names } from "../../kernel/types/inference.ts";
import type { Facts, GateFact, Need, Run, VerdictWord } from "../../kernel/types/run.ts";
import { childrenOf, type Gate, gatesOf, leavesOf, type Workflow } from "../../kernel/types/workflow.ts";
import { kindOf } from "./kinds/index.ts";
import { type Background, type Finding, type Judged, pass, unproven } from "./kinds/kind.ts";

export type { Judged } from "./kinds/kind.ts";

export const buildBackground = (run: Run, at: string, message: string | null = null): Background => ({
  at,
  message,
  base: run.checks.base,
  entered_at: run.entered_at,
  most_tests: run.checks.most_tests ?? {},
  earlier: { ...run.checks.verdicts },
  accepted: run.checks.accepted ?? [],
});

// ── What has to be known ────────────────────────────────────────────────────

/** Does anything here have to be compared with the tree at the beginning? */
export const comparesTrees = (workflow: Workflow) =>
  leavesOf(gatesOf(workflow)).some((gate) => kindOf(gate).compares?.(gate));

/** What tool calls are read with: this project's names for things. */
export function namesFor({ work: { task } }: Pick<Run, "work">, { commands }: Workflow): Names {
  const reviewers = [commands?.review, commands?.reviewer].flatMap((name) => name?.replace(/^\//, "") ?? []);
  return { ...(task?.path !== undefined && { notes: task.path }), ...(reviewers.length > 0 && { reviewers }) };
}

export function listNeeds(gates: Gate[], run: Run, workflow: Workflow, facts: Facts): Need[] {
  if (gates.length === 0) return [];
  const wanted = new Set(leavesOf(gates).map((gate) => kindOf(gate).needs));
  const need: Need[] = [];
  if (facts.git === undefined && wanted.has("git")) need.push({ kind: "git" });
  if (facts.message === undefined && wanted.has("message")) need.push({ kind: "message" });
  if (facts.definition === undefined && !run.formal) need.push({ kind: "definition", workflow });
  // A changed workflow runs nothing, so that is found out first.
  if (need.some(({ kind }) => kind === "definition")) return need;
  if (isChanged(facts)) return [];
  if (facts.tree === undefined && wanted.has("tree")) need.push({ kind: "tree" });
  if (facts.gates === undefined && wanted.has("measure")) need.push(measurement(gates, run, workflow));
  return need;
}

function measurement(gates: Gate[], run: Run, workflow: Workflow): Need {
  const { entered_at: since, entered = {} } = run;
  const { base_tree = "", verdicts: known = {}, claim } = run.checks;
  const task = run.work.task && workflow.tasks ? { task: { id: run.work.task.id, scope: workflow.tasks } } : {};
  const names = namesFor(run, workflow);
  return {
    kind: "gates",
    gates,
    base_tree,
    // The guard compares with a commit, which git keeps.
    ...(workflow.watch === "done" ? { worse: true as const } : { kept: true as const }),
    ...(workflow.limits.wait !== undefined && { wait: workflow.limits.wait }),
    since,
    entered,
    names,
    known,
    resumed: claim?.open === "running",
    ...task,
  };
}

export const isChanged = (facts: Facts) => !facts.definition?.ok || facts.definition.value.length > 0;

// ── Judging ─────────────────────────────────────────────────────────────────

/** Every check by itself, in order. */
export const judgeAll = (gates: Gate[], background: Background, facts: Facts): Judged[] =>
  gates.map((gate) => judge(gate, background, facts));

export function judge(gate: Gate, background: Background, facts: Facts): Judged {
  const children = childrenOf(gate).map((child) => judge(child, background, facts));
  if (children.length === 0) return judgeLeaf(gate, background, facts);
  const ranked = children.toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict]);
  const chosen = ranked.at(gate.any ? -1 : 0)!;
  const tree = children.find((child) => child.tree !== "")?.tree ?? "";
  return { ...chosen, gate: gate.name, id: gate.id, tree, at: background.at, why: `${chosen.gate}: ${chosen.why}` };
}

const RANK: Record<VerdictWord, number> = { fail: 0, unproven: 1, pass: 2 };

function judgeLeaf(gate: Gate, background: Background, facts: Facts): Judged {
  const tree = facts.tree?.ok ? facts.tree.value : "";
  const start = { gate: gate.name, id: gate.id, tree, at: background.at };
  const kind = kindOf(gate);
  if (kind.needs !== "measure") return { ...start, ...kind.judge(gate, background, facts, undefined) };
  const fact = facts.gates?.[gate.id];
  if (!fact) return { ...start, ...unproven("not checked") };
  return { ...start, tree: fact.tree, ...judgeFact(gate, background, facts, fact) };
}

function judgeFact(gate: Gate, background: Background, facts: Facts, fact: GateFact): Finding {
  switch (fact.kind) {
    case "known":
      return { ...fact.verdict, at: background.at };
    case "unknown":
      return unproven(fact.why);
    case "untrusted":
      return { ...unproven(fact.why), untrusted: true };
    case "unchanged":
      return pass("skipped: no matching files changed");
    case "running":
      return { ...unproven(`it has been running since ${fact.since.slice(11, 19)} UTC`), open: "running" };
    case "ran":
      return kindOf(gate).judge(gate, background, facts, fact);
    case "measured":
      return kindOf(gate).judge(gate, background, facts, fact.value);
  }
}
