import { buildBackground, isChanged, type Judged, judge, judgeAll, listNeeds } from "../../checks/core/gate.ts";
import type { Answer, Event, OpenClaim, Step, Verdict } from "../../kernel/types/run.ts";
import { type Gate, leavesOf, type Move, type Stage, stageOf, type Workflow } from "../../kernel/types/workflow.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { header, MARK, signalList } from "./guide.ts";
import { dropPending, goOn, keepPending } from "./ledger.ts";

/** A claim before its gates: let through, sent back, kept for later, or put to the person. */

export interface Claim {
  /** "" for a stop that is checked without one */
  signal: string;
}

/** null: every gate has passed (or there is none), the move may be taken. */
export function guard(draft: Draft, all: Gate[], claim: Claim): Step | null {
  const { run, workflow, facts } = draft;
  const gates = all.filter((gate) => gate.from === undefined || run.plan.includes(gate.from));
  if (gates.length === 0) return null;
  const need = listNeeds(gates, run, workflow, facts);
  if (need.length > 0) return { need };
  if (!run.formal && isChanged(facts)) return pauseForChange(draft, claim);
  const judged = judgeAll(gates, buildBackground(run, draft.event.at, saidIn(draft)), facts);
  remember(draft, gates, claim);
  const open = judged.filter((one) => one.verdict !== "pass");
  if (open.length === 0) {
    draft.proof = judged.map(formatProof);
    delete run.checks.claim;
    return null;
  }
  return notYet(draft, claim, open);
}

/** A failure is for the agent to fix, but not what cannot be proved now. The person is asked when all else passed. */
function notYet(draft: Draft, claim: Claim, open: Judged[]): Step {
  const failed = open.filter((one) => one.verdict === "fail");
  if (failed.length > 0) return sendBack(draft, claim, failed);
  const stuck = open.filter((one) => one.open === undefined);
  if (stuck.length > 0) return leaveUnproven(draft, claim, stuck);
  const running = open.filter((one) => one.open === "running");
  return running.length > 0 ? leaveRunning(draft, claim, running) : askPerson(draft, claim, open);
}

/** What the agent said last; null: nothing is said at such an event. */
export const saidIn = ({ event, facts }: Draft): string | null =>
  facts.message?.ok ? facts.message.value : event.kind === "stop" ? event.message : null;

/** Every single check is kept with what it was about; the newest one of a gate counts. */
export function remember(draft: Draft, gates: Gate[], claim: Claim): void {
  const { run, event, facts } = draft;
  const { checks } = run;
  checks.verdicts ??= {};
  const background = buildBackground(run, event.at, saidIn(draft));
  for (const gate of leavesOf(gates)) {
    const { open, ask: _ask, ways: _ways, ...verdict } = judge(gate, background, facts);
    const again = facts.gates?.[gate.id]?.kind === "known";
    checks.verdicts[gate.id] = again ? checks.verdicts[gate.id]! : verdict;
    const { tests } = verdict;
    const count = tests ? tests.passed + tests.failed : 0;
    const most = Math.max(count, checks.most_tests?.[gate.id] ?? 0);
    if (count > 0) checks.most_tests = { ...checks.most_tests, [gate.id]: most };
    if (open !== "running") recordVerdict(draft, claim, verdict, again);
  }
}

/** The journal keeps everything but the output itself. */
function recordVerdict(draft: Draft, { signal }: Claim, checked: Verdict, again: boolean): void {
  const { id, gate, verdict, why, tree, command = null, cwd = null, exit = null, ms = null, digest = null } = checked;
  const tests = checked.tests ? { ...checked.tests } : null;
  const flaky = checked.flaky === true;
  const { proof = null, before = null } = checked;
  const old_tests = checked.old_tests?.slice(0, MOST_NAMED).map(({ name }) => name) ?? null;
  record(draft, "gated", {
    signal,
    gate,
    id,
    verdict,
    why,
    tree,
    command,
    cwd,
    exit,
    ms,
    digest,
    tests,
    flaky,
    again,
    proof,
    before,
    old_tests,
  });
}

const MOST_NAMED = 20;

export const reasons = (verdicts: Verdict[]) => verdicts.map(({ gate, why }) => `${gate}: ${why}`).join("; ");
const atTree = (tree: string) => (tree === "" ? "" : ` @ tree ${tree.slice(0, 10)}`);
export const formatProof = ({ gate, why, tree }: Verdict) => `${gate}: ${why}${atTree(tree)}`;

// ── Not let through ─────────────────────────────────────────────────────────

/** The claim stays open, about the tree that was checked. */
export function keepClaim(
  { run, event }: Draft,
  { signal }: Claim,
  checked: Judged[],
  more: Partial<OpenClaim> = {},
): string {
  const tree = checked.find((one) => one.tree !== "")?.tree ?? "";
  run.checks.claim = { signal, at: event.at, rounds: run.checks.claim?.rounds ?? 0, tree, ...more };
  return tree;
}

function sendBack(draft: Draft, claim: Claim, failed: Judged[]): Step {
  const { run, workflow } = draft;
  const before = run.checks.claim;
  const rounds = Math.min(before?.rounds ?? 0, workflow.limits.rounds) + 1;
  const tree = keepClaim(draft, claim, failed, { rounds });
  draft.log.push(`NOT BELIEVED: ${claim.signal || "stop"}`);
  if (rounds > workflow.limits.rounds) return giveUp(draft, claim, failed);
  const text = [
    [header(run, workflow), `${refusal(claim)}: ${reasons(failed)}.`, ...failed.flatMap(({ ways = [] }) => ways)].join(
      "\n",
    ),
    ...failed.flatMap(renderTail),
    whatNow(draft, rounds),
  ].join("\n\n");
  return sendOn(draft, text, { progress: before !== undefined && tree !== "" && tree !== before.tree });
}

const refusal = ({ signal }: Claim) => (signal === "" ? "Not done yet" : `${signal} was not believed`);

/** Indented, so that nothing in it can be taken for a signal when the agent repeats it. */
export function renderTail({ command, cwd, tail }: Judged): string[] {
  if (!tail) return [];
  const where = cwd && cwd !== "." ? ` (in ${cwd})` : "";
  return [`From the output of \`${command}\`${where}:\n${tail.replace(/^/gm, "    ")}`];
}

function whatNow(draft: Draft, rounds: number): string {
  const { run, workflow } = draft;
  const signals = signalList(workflow, stageOf(workflow, run.stage));
  const left = workflow.limits.rounds - rounds;
  const inLoop = workflow.procedure !== undefined;
  const bound = left === 0 && !inLoop ? "This was the last round before the person is asked." : "";
  if (signals === "")
    return ["Fix it; do not weaken or remove the check. You are checked again when you stop.", bound].join(" ").trim();
  if (inLoop)
    return `Fix it without weakening the check, then claim again; or end your turn without a signal: the next iteration continues.\n${signals}`;
  const fix = `Fix it without weakening the check, then claim again; or say with the failing signal why it cannot be done. ${bound}`;
  return `${fix.trim()}\n${signals}`;
}

function giveUp(draft: Draft, claim: Claim, failed: Judged[]): Step {
  const { run, workflow } = draft;
  run.status = "halted";
  run.why = `${failed[0]!.gate}: ${failed[0]!.why} (sent back ${workflow.limits.rounds} times)`;
  dropPending(draft);
  record(draft, "halted", { why: run.why, stalled: true, signal: claim.signal });
  draft.log.push(`BLOCKING: ${run.why}`);
  return closeDraft(draft, {
    turn: "end",
    person: [
      `Pawl: the agent was sent back ${workflow.limits.rounds} times and the check still fails: ${run.why}.`,
      `/pawl:go lets it try again, /pawl:approve accepts it without proof, \`pawl explain ${run.id}\` shows each round.`,
    ].join("\n"),
  });
}

function leaveUnproven(draft: Draft, claim: Claim, stuck: Judged[]): Step {
  keepClaim(draft, claim, stuck);
  draft.log.push(`UNPROVEN: ${claim.signal || "stop"}`);
  const why = reasons(stuck);
  const first = stuck.some(({ untrusted }) => untrusted) ? "then /pawl:go has it checked, " : "";
  const ways = `The run ${draft.run.id} stays open; ${first}/pawl:approve accepts it without proof, \`pawl runs abort\` ends it.`;
  return closeDraft(draft, { turn: "end", person: `Pawl: ${claim.signal || "done"} is unproven: ${why}. ${ways}` });
}

/** The check continues without us. Another process wakes the agent, or the agent has to wait for it. */
function leaveRunning(draft: Draft, claim: Claim, running: Judged[]): Step {
  const { event, facts } = draft;
  keepClaim(draft, claim, running, { open: "running" });
  const gates = running.map((one) => one.gate);
  record(draft, "checking", { signal: claim.signal, gates });
  const names = gates.join(", ");
  const fact = facts.gates?.[running[0]!.id];
  if (fact?.kind !== "running" || fact.wakes || event.kind !== "stop") {
    const person = `Pawl: ${names} is still running; the agent gets the result when it ends. \`pawl verify --wait\` shows it.`;
    return closeDraft(draft, { turn: "end", person });
  }
  const text = `${MARK} ${names} is still running, longer than a stop can wait. Run \`pawl verify --wait\` in your shell (again, if it says so), change nothing meanwhile, and then end your turn as before.`;
  return goOn(draft, text, { progress: false });
}

export function askPerson(draft: Draft, claim: Claim, asked: Judged[]): Step {
  const { run } = draft;
  const tree = keepClaim(draft, claim, asked, { open: "person" });
  run.status = "waiting";
  run.why = asked.map((one) => (one.ask === undefined ? one.gate : `${one.gate}: ${one.why}`)).join("; ");
  record(draft, "asked", { ask: run.why, tree });
  const person = `Pawl: ${asked.map((one) => one.ask ?? one.gate).join("\n")}\nType /pawl:approve, or run \`pawl approve\` in a terminal. Anything else you type goes to the agent as usual.`;
  return closeDraft(draft, { turn: "end", person });
}

/** What the person agreed to is no longer what would be run. */
function pauseForChange(draft: Draft, claim: Claim): Step {
  const { run, facts } = draft;
  const changes = facts.definition?.ok ? facts.definition.value : [facts.definition?.why ?? "it could not be read"];
  run.status = "halted";
  run.why = "its workflow was changed while it ran";
  dropPending(draft);
  record(draft, "changed", { signal: claim.signal, changes });
  draft.log.push(`BLOCKING: ${run.why}`);
  const person = [
    `Pawl: the run ${run.id} is paused: ${run.why}.`,
    ...changes.slice(0, 20).map((line) => `  ${line}`),
    `Undo the change and type /pawl:go, or accept it with \`pawl runs resume --accept ${run.id}\` in a terminal.`,
  ].join("\n");
  return closeDraft(draft, { turn: "end", person });
}

/** For an agent that has forgotten: what was found wrong with its last claim. "" if nothing is open. */
export function openRefusal({ run, workflow }: Draft): string {
  const { claim, verdicts } = run.checks;
  const move = claim && claimedMove(claim.signal, stageOf(workflow, run.stage), workflow);
  const found = leavesOf(move?.gates ?? []).flatMap((gate) => verdicts?.[gate.id] ?? []);
  const failed = found.filter(({ verdict }) => verdict === "fail");
  return failed.length === 0 ? "" : `${refusal(claim!)}: ${reasons(failed)}.`;
}

export const claimedMove = (signal: string, { on, stop }: Stage, { anywhere }: Workflow): Move | undefined =>
  signal === "" ? stop : (on[signal] ?? anywhere[signal]);

// ── Sent ────────────────────────────────────────────────────────────────────

/**
 * At a stop the agent goes on; at a prompt the text rides along; after a check it is what the agent is woken with. What the
 * person commands from outside reaches the agent only with a later prompt.
 */
export function sendOn(draft: Draft, text: string, how: { progress: boolean; person?: string }): Step {
  if (draft.event.kind === "stop") return goOn(draft, text, how);
  keepPending(draft, text, chooseWay(draft.event));
  const answer: Answer = { turn: "none", agent: text };
  if (how.person) answer.person = how.person;
  return closeDraft(draft, answer);
}

function chooseWay(event: Event): "prompt" | "start" | "nothing" {
  if (event.kind === "command" && event.name !== "checked") return "nothing";
  return event.kind === "prompt" ? "prompt" : "start";
}

/** The person accepts the claim without proof. null: it may move now. */
export function approve(draft: Draft, gates: Gate[], who: string, how: string): Step | null {
  const { run, event, facts } = draft;
  const claim = run.checks.claim!;
  if (claim.tree !== "" && facts.tree === undefined) return { need: [{ kind: "tree" }] };
  const now = facts.tree?.ok ? facts.tree.value : "";
  if (claim.tree !== "" && now !== claim.tree) {
    const why = "files changed since the check; let the agent claim again first (/pawl:go)";
    record(draft, "ignored", { signal: claim.signal, why });
    return closeDraft(draft, { turn: "none", reason: "refused", person: `Pawl: not approved: ${why}.` });
  }
  for (const gate of leavesOf(gates)) {
    const { id, name } = gate;
    const unchecked = { gate: name, id, verdict: "unproven" as const, why: "not checked", tree: now, at: event.at };
    const verdict: Verdict = run.checks.verdicts?.[id] ?? unchecked;
    const was = verdict.verdict;
    if (was === "pass") continue;
    run.checks.verdicts = { ...run.checks.verdicts, [id]: { ...verdict, approved_by: who } };
    const signs = verdict.old_tests?.map(({ sign }) => sign) ?? [];
    if (signs.length > 0) run.checks.accepted = [...(run.checks.accepted ?? []), ...signs];
    record(draft, "approved", { signal: claim.signal, gate: name, id, tree: claim.tree, who, how, was });
    draft.proof.push(`${name}: approved by ${who} (was ${was}: ${verdict.why})${atTree(claim.tree)}`);
  }
  draft.log.push(`APPROVED by ${who}: ${claim.signal || "stop"}`);
  delete run.checks.claim;
  if (run.status !== "active") {
    run.status = "active";
    delete run.why;
  }
  return null;
}

export function nothingToApprove(draft: Draft): Step {
  const { id, status } = draft.run;
  const more = status === "active" ? " The agent has not claimed anything that was not let through." : "";
  const person = `Pawl: nothing waits for an approval in run ${id}.${more}`;
  return closeDraft(draft, { turn: "none", reason: "refused", person });
}
