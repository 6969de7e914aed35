import { excerpt } from "../../kernel/text/safe-text.ts";
import { parseSignals } from "../../kernel/text/signal.ts";
import type { EventOf, Report } from "../../kernel/types/run.ts";
import { isRegistered, stageOf } from "../../kernel/types/workflow.ts";
import { type Draft, record } from "./draft.ts";

/** Reports: what a sub-agent said at its end, kept in the folder of the run. */

const KEPT = 8;

/** `pawl:deep-reviewer` and `deep-reviewer` are the same agent. */
const isAgent = (wanted: string | undefined, actual: string) =>
  wanted !== undefined && (actual === wanted || actual.endsWith(`:${wanted}`));

export function keepSubAgentReport(draft: Draft, event: EventOf<"sub_stop">): boolean {
  const stage = stageOf(draft.workflow, draft.run.stage);
  const claimed = parseSignals(event.message, draft.workflow.signals).found.filter((name) =>
    isRegistered(draft.workflow, name),
  );
  if (!isAgent(stage.agent, event.agent) && claimed.length === 0) return false;
  keepReport(draft, event.agent, event.message, claimed.at(-1) ?? null);
  return true;
}

export function keepReport(draft: Draft, agent: string, text: string, signal: string | null): Report {
  const { run, event } = draft;
  const seq = run.seq + 1;
  const file = `${String(seq).padStart(6, "0")}-${run.stage}.md`;
  const report: Report = { agent, at: event.at, seq, stage: run.stage, file, signal, critical: criticalIssues(text) };
  run.reports = [...run.reports, report].slice(-KEPT);
  draft.effects.push({ kind: "report", file, text });
  record(draft, "reported", { agent, file, signal, said: excerpt(text) });
  return report;
}

export const reportsSince = (draft: Draft, seq: number) =>
  draft.run.reports.filter((report) => report.seq > seq && report.stage === draft.run.stage);

/** The list items under the first line that speaks of critical issues. */
export function criticalIssues(text: string): string[] {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => /critical/i.test(line) && !/\bno critical\b/i.test(line));
  if (start < 0) return [];
  const issues: string[] = [];
  for (const line of lines.slice(start + 1)) {
    const item = /^\s*(?:[-*+•]|\d+[.)])\s+(.+)$/.exec(line);
    if (item) issues.push(excerpt(item[1]!, 200));
    else if (/^\s*#/.test(line) || (issues.length > 0 && /^\S/.test(line))) break;
  }
  return issues;
}
