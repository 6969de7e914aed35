/**
 * Sub-agents work in the background: what a claim rests on may still be under way, and a review is what its reviewer
 * reported, not what the main agent says of it.
 */
import type { Move, Report, Step } from "../../kernel/types/run.ts";
import { stageOf } from "../../kernel/types/workflow.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { isFirstTime } from "./ledger.ts";
import { AGENTS_MINUTES, minutesBetween } from "./run-view.ts";

/** Such a move rests on no one's work. */
const restsOnNothing = ({ stay, end }: Move) => stay === true || end === "aborted";

/** null: no sub-agent that was started in this stage is running, so the claim may be judged. */
export function holdForAgents(draft: Draft, signal: string, move: Move): Step | null {
  const { run, event, facts } = draft;
  if (event.kind !== "stop" || event.agents.length === 0 || restsOnNothing(move)) return null;
  const { agents } = facts;
  if (agents === undefined)
    return { need: [{ kind: "agents", since: run.entered_at, ids: event.agents.map(({ id }) => id) }] };
  const running = event.agents.filter(({ id }) => !agents.ok || agents.value.includes(id));
  return running.length === 0 ? null : hold(draft, signal, [...new Set(running.map(({ name }) => name))]);
}

/** The stop is let go: the host gives the agent another turn when they end. Without end, the person decides. */
function hold(draft: Draft, signal: string, agents: string[]): Step {
  const { run, event } = draft;
  const { claim } = run.checks;
  const at = claim?.open === "agents" ? claim.at : event.at;
  run.checks.claim = { signal, at, rounds: claim?.rounds ?? 0, tree: "", open: "agents" };
  record(draft, "held", { signal, agents });
  const names = agents.join(", ");
  if (minutesBetween(at, event.at) >= AGENTS_MINUTES) {
    const ways = `/pawl:approve accepts ${signal} without waiting, \`pawl runs abort\` ends the run.`;
    const person = `Pawl: ${names} has been running for over ${AGENTS_MINUTES} minutes. ${ways}`;
    return closeDraft(draft, isFirstTime(draft, "held too long") ? { turn: "end", person } : { turn: "end" });
  }
  const person = `Pawl: ${signal} is not checked yet: ${names} is still running.`;
  return closeDraft(draft, isFirstTime(draft, "held") ? { turn: "none", person } : { turn: "none" });
}

/** What a sub-agent reported last in this stage. */
export const newestReport = ({ run }: Draft): Report | undefined =>
  run.reports.findLast(({ agent, stage, at }) => agent !== "" && stage === run.stage && at >= run.entered_at);

/** The question that the newest report puts to the person, which no retelling passes over; null: none. */
export function askedByReport(draft: Draft, move: Move): { signal: string; move: Move; agent: string } | null {
  const { run, workflow } = draft;
  const report = newestReport(draft);
  const reported = stageOf(workflow, run.stage).on[report?.signal ?? ""];
  if (run.question || !report || reported?.ask === undefined || reported === move || restsOnNothing(move)) return null;
  return { signal: report.signal!, move: reported, agent: report.agent };
}
