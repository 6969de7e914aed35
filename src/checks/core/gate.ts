import { plain } from "../../kernel/text/safe-text.ts";
import type { Names } from "../../kernel/types/inference.ts";
import type { Facts, GateFact, GitFact, Need, Run, Verdict, VerdictWord, Weakening } from "../../kernel/types/run.ts";
import { childrenOf, type Gate, gatesOf, leavesOf, type Workflow } from "../../kernel/types/workflow.ts";
import { type Finding, fail, judgeBranch, judgeGit, pass, unproven } from "./gate-git.ts";
import { tellingLines } from "./relevant-lines.ts";

/** A check Pawl makes itself before a claim counts. `unproven` is never `pass`. */

export interface Judged extends Verdict {
  /** no proof yet, but it may come by itself, or from a person */
  open?: "running" | "person";
}

/** What a verdict is measured against. */
export interface Background {
  at: string;
  base: GitFact | null;
  entered_at: string;
  most_tests: Record<string, number>;
  /** what the agent said last */
  message?: string | null;
}

export const backgroundOf = (run: Run, at: string, message: string | null = null): Background => ({
  at,
  message,
  base: run.base,
  entered_at: run.entered_at,
  most_tests: run.most_tests ?? {},
});

// ── What has to be known ────────────────────────────────────────────────────

const usesGit = (gate: Gate) => gate.git !== undefined || gate.branch !== undefined;
/** Asked of git or of a person only: everything else has to be looked at for this one gate. */
export const isMeasured = (gate: Gate) => !usesGit(gate) && gate.person === undefined && gate.says === undefined;

/** Does anything here have to be compared with the tree at the beginning? */
export const comparesTrees = (workflow: Workflow) =>
  leavesOf(gatesOf(workflow)).some((gate) => gate.tests || gate.only || gate.when_changed);

/** What tool calls are read with: this project's names for things. */
export function namesFor({ task }: Pick<Run, "task">, { commands }: Workflow): Names {
  const reviewers = [commands?.review, commands?.reviewer].flatMap((name) => name?.replace(/^\//, "") ?? []);
  return { ...(task?.path !== undefined && { notes: task.path }), ...(reviewers.length > 0 && { reviewers }) };
}

export function needsOf(gates: Gate[], run: Run, workflow: Workflow, facts: Facts): Need[] {
  if (gates.length === 0) return [];
  const leaves = leavesOf(gates);
  const need: Need[] = [];
  if (facts.git === undefined && leaves.some(usesGit)) need.push({ kind: "git" });
  if (facts.message === undefined && leaves.some((gate) => gate.says !== undefined)) need.push({ kind: "message" });
  if (facts.definition === undefined && !run.formal) need.push({ kind: "definition", workflow });
  // A changed workflow runs nothing: that is to be known first.
  if (need.some(({ kind }) => kind === "definition")) return need;
  if (isChanged(facts)) return [];
  if (facts.tree === undefined && leaves.some((gate) => gate.person !== undefined)) need.push({ kind: "tree" });
  if (facts.gates === undefined && leaves.some(isMeasured)) {
    const { base_tree = "", entered_at, verdicts = {}, claim } = run;
    const resumed = claim?.open === "running";
    const task = run.task && workflow.tasks ? { task: { id: run.task.id, scope: workflow.tasks } } : {};
    const names = namesFor(run, workflow);
    const { entered = {} } = run;
    need.push({
      kind: "gates",
      gates,
      base_tree,
      since: entered_at,
      entered,
      names,
      known: verdicts,
      resumed,
      ...task,
    });
  }
  return need;
}

export const isChanged = (facts: Facts) => !facts.definition?.ok || facts.definition.value.length > 0;

// ── Judging ─────────────────────────────────────────────────────────────────

/** Every check by itself, in order. */
export const judgeAll = (gates: Gate[], background: Background, facts: Facts): Judged[] =>
  gates.map((gate) => judge(gate, background, facts));

export function judge(gate: Gate, background: Background, facts: Facts): Judged {
  const children = childrenOf(gate).map((child) => judge(child, background, facts));
  return children.length > 0 ? groupVerdict(gate, background, children) : judgeLeaf(gate, background, facts);
}

function groupVerdict(gate: Gate, background: Background, children: Judged[]): Judged {
  const chosen = gate.any ? bestOf(children) : worstOf(children);
  const tree = children.find((child) => child.tree !== "")?.tree ?? "";
  return { ...chosen, gate: gate.name, id: gate.id, tree, at: background.at, why: `${chosen.gate}: ${chosen.why}` };
}

const RANK: Record<VerdictWord, number> = { fail: 0, unproven: 1, pass: 2 };
const byRank = (verdicts: Judged[]) => verdicts.toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict]);
const worstOf = (verdicts: Judged[]) => byRank(verdicts)[0]!;
const bestOf = (verdicts: Judged[]) => byRank(verdicts).at(-1)!;

function judgeLeaf(gate: Gate, background: Background, facts: Facts): Judged {
  const tree = facts.tree?.ok ? facts.tree.value : "";
  const start = { gate: gate.name, id: gate.id, tree, at: background.at };
  if (gate.git !== undefined) return { ...start, ...judgeGit(gate.git, background, facts) };
  if (gate.branch) return { ...start, ...judgeBranch(gate.branch, facts) };
  if (gate.person !== undefined) {
    return { ...start, verdict: "unproven", why: "nobody has approved it yet", open: "person" };
  }
  if (gate.says) return { ...start, ...judgeSaid(gate.says, background.message ?? null) };
  const fact = facts.gates?.[gate.id];
  if (!fact) return { ...start, verdict: "unproven", why: "it was not looked at" };
  return { ...start, tree: fact.tree, ...judgeFact(gate, background, fact) };
}

function judgeSaid(beginnings: string[], message: string | null): Finding {
  if (message === null) return unproven("no message of an agent is at hand");
  const found = message
    .split("\n")
    .some((line) => beginnings.some((beginning) => line.trimStart().startsWith(beginning)));
  return found ? pass("it was said") : fail("the last message does not hold it");
}

function judgeFact(gate: Gate, background: Background, fact: GateFact): Finding {
  switch (fact.kind) {
    case "known":
      return { ...fact.verdict, at: background.at };
    case "unknown":
      return unproven(fact.why);
    case "unchanged":
      return pass("nothing that it is about has changed");
    case "running":
      return { ...unproven(`it has been running since ${fact.since.slice(11, 19)} UTC`), open: "running" };
    case "outside":
      return fact.paths.length === 0
        ? pass("nothing was changed elsewhere")
        : fail(`changed outside ${gate.only!.join(", ")}: ${fact.paths.slice(0, 5).map(plain).join(", ")}`);
    case "file":
      return judgeFile(gate, fact);
    case "artefact":
      return fact.path === "" ? fail("nothing like it was made in this step") : pass(`${plain(fact.path)} was made`);
    case "evidence":
      return judgeEvidence(gate, fact);
    case "shown":
      return fact.shown ? pass(fact.why) : fail(fact.why);
    case "tracker":
      return fact.task.state === gate.tracker
        ? pass(`the tracker says ${fact.task.id} is ${fact.task.state}`)
        : fail(`the tracker says ${fact.task.id} is ${fact.task.state}, not ${gate.tracker}`);
    case "ran":
      return judgeRan(gate, background, fact);
  }
}

function judgeFile(gate: Gate, { state, size, holds }: Extract<GateFact, { kind: "file" }>): Finding {
  if (state !== "there") return fail(state === "missing" ? "it is not there" : "it is not a file inside the project");
  if (size === 0) return fail("it is empty");
  return holds ? pass("it is there") : fail(`it does not hold ${JSON.stringify(gate.contains)}`);
}

/** The agent's own runs: the last one counts, and only if nothing was touched since it began. */
function judgeEvidence(gate: Gate, { runs, edited }: Extract<GateFact, { kind: "evidence" }>): Finding {
  const last = runs.at(-1);
  if (!last) return fail("no test run is to be seen in this step");
  const what = `\`${plain(last.command)}\``;
  if (last.verdict !== "pass") return fail(`${what}: ${last.why}`);
  const { passed, skipped } = last.tally!;
  const short = tooFew(gate, passed, skipped);
  if (short) return { ...fail(`${what}: ${short}`), tests: last.tally! };
  if (edited !== "") return fail(`${plain(edited)} was changed after ${what} was green`);
  return { ...pass(`${what}: ${passed} passed`), tests: last.tally! };
}

function tooFew(gate: Gate, passed: number, skipped: number): string | null {
  const { min = 1, max_skipped } = gate;
  if (passed < min) return `${passed} tests passed, at least ${min} have to`;
  if (max_skipped !== undefined && skipped > max_skipped)
    return `${skipped} tests were skipped, at most ${max_skipped} may be`;
  return null;
}

// ── Commands ────────────────────────────────────────────────────────────────

const TAIL_LINES = 15;
/** What /bin/sh says when a command is not there or cannot be run. */
const NOT_RUN = [126, 127];

function judgeRan(gate: Gate, background: Background, fact: Extract<GateFact, { kind: "ran" }>): Finding {
  const { ran, wrote } = fact;
  const last = ran.attempts.at(-1);
  if (ran.error !== undefined || !last) return unproven(`it could not be run: ${plain(ran.error ?? "no attempt")}`);
  const measured = {
    command: commandOf(gate),
    cwd: gate.cwd ?? ".",
    exit: last.exit,
    ms: last.ms,
    digest: ran.digest,
    tail: tellingLines(ran.output, TAIL_LINES),
  };
  if (last.timed_out) return { ...measured, ...unproven(`it took longer than ${gate.timeout ?? 600} s and was ended`) };
  const found = gate.tests ? judgeSuite(gate, background, fact) : judgeExit(gate, last.exit, last.signal);
  if (found.verdict !== "pass") return { ...measured, ...found };
  if (wrote.length > 0) {
    const names = wrote.slice(0, 3).map(plain).join(", ");
    return {
      ...measured,
      ...found,
      ...unproven(`it changes the tree each time it runs (${names}); ignore these files`),
    };
  }
  const flaky = ran.attempts.length > 1;
  if (!flaky) return { ...measured, ...found };
  return { ...measured, ...found, flaky: true, why: `${found.why}, at attempt ${ran.attempts.length} only (flaky)` };
}

export const commandOf = (gate: Gate) => gate.shell ?? (gate.run ?? gate.tests ?? []).join(" ");

function judgeExit(gate: Gate, exit: number | null, signal: string | null): Finding {
  if (exit === 0) return pass("exit 0");
  if (exit === null) return fail(`it was ended by ${signal ?? "a signal"}`);
  if (gate.shell !== undefined && NOT_RUN.includes(exit)) return unproven(`it could not be run (exit ${exit})`);
  return fail(`exit ${exit}`);
}

function judgeSuite(gate: Gate, background: Background, fact: Extract<GateFact, { kind: "ran" }>): Finding {
  const { weakened } = fact;
  const { verdict, why, tally } = fact.suite ?? { verdict: "none", why: "its output was not read", tally: null };
  const tests = tally ? { tests: tally } : {};
  const reasons = [
    verdict === "fail" ? why : null,
    tally && fewerTests(gate, background, tally.passed + tally.failed),
    gate.weakened === "allow" ? null : weakenedWords(weakened),
    verdict === "pass" && tally ? tooFew(gate, tally.passed, tally.skipped) : null,
  ].filter((reason) => reason !== null);
  if (reasons.length > 0) return { ...tests, ...fail(reasons.join("; ")) };
  if (verdict !== "pass") return { ...tests, ...unproven(why) };
  return { ...tests, ...pass(why) };
}

function fewerTests(gate: Gate, background: Background, count: number): string | null {
  const before = background.most_tests[gate.id] ?? 0;
  return gate.fewer !== "allow" && count < before ? `${count} tests, were ${before}` : null;
}

function weakenedWords(weakened: Weakening[]): string | null {
  if (weakened.length === 0) return null;
  const named = weakened.slice(0, 3).map(({ kind, path, what }) => `${KINDS[kind]} ${plain(path)}: ${plain(what)}`);
  const more = weakened.length > 3 ? ` and ${weakened.length - 3} more` : "";
  return `tests prove less than before (${named.join("; ")}${more})`;
}

const KINDS = { removed: "removed from", skipped: "skipped in", focused: "focused in", assertions: "weaker in" };
