/** What deserves a notification, and its text. Pure: no clock, no disk. */

import { short, spanText, stageOf, viewRun, type WaitKind } from "../engine/core/run-view.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Commit, JournalRecord, Run } from "../kernel/types/run.ts";
import { basename } from "../store/names.ts";

export type What =
  | "question"
  | "permission"
  | "idle"
  | "halted"
  | "stalled"
  | "completed"
  | "failed"
  | "loop"
  | "silent"
  | "test";

export interface Notice {
  what: What;
  /** one line, nothing hidden in it */
  text: string;
  root: string;
  /** "" where there is none */
  run: string;
  session: string;
  at: string;
  /** no hook's answer could ring the session's terminal */
  unrung?: true;
}

export const projectOf = (root: string) => short(basename(root), 40) || "/";

// ── Of a run ────────────────────────────────────────────────────────────────

/** null: no notification. What the person did themselves they know already. */
export function noticeOf(root: string, { run, event, records }: Commit): Notice | null {
  const byThemselves = event.kind === "prompt" || event.kind === "start" || event.kind === "ended";
  if (byThemselves || (event.kind === "command" && event.via !== "rewake")) return null;
  for (const record of records.toReversed()) {
    const what = whatOf(record);
    if (what === null) continue;
    const text = `${projectOf(root)}: ${wordsFor(what, run)}`;
    const unrung = event.via === "rewake" && { unrung: true as const };
    return { what, text, root, run: run.id, session: event.session, at: event.at, ...unrung };
  }
  return null;
}

function whatOf({ kind, stalled, outcome }: JournalRecord): What | null {
  if (kind === "asked") return "question";
  if (kind === "halted") return stalled === true ? "stalled" : "halted";
  if (kind === "ended") return outcome === "completed" || outcome === "failed" ? outcome : null;
  return null;
}

function wordsFor(what: What, run: Run): string {
  const name = short(run.workflow, 40);
  const stage = stageOf(run);
  const because = run.why ? `: ${excerptOf(run.why)}` : "";
  switch (what) {
    case "question":
      return `${name} ${NEEDS[waitKind(run)] ?? "needs you"}${because}`;
    case "stalled":
      return `${name} does not get on at ${stage}${because}`;
    case "halted":
      return `${name} stopped at ${stage}${because}`;
    case "failed":
      return `${name} failed${because}`;
    default:
      return `${name} is done`;
  }
}

const NEEDS: Partial<Record<WaitKind, string>> = { approval: "needs your approval" };

/** The session is alive: it has just sent the event. */
const waitKind = (run: Run) =>
  viewRun(run, { at: run.updated_at, workflow: null, ownerGone: false }).waits?.kind ?? "question";

export const silentText = (root: string, run: Run, minutes: number) =>
  `${projectOf(root)}: ${short(run.workflow, 40)} has been silent for ${spanText(minutes)} at ${stageOf(run)}`;

export const loopText = (root: string, procedure: string, outcome: string, why: string) =>
  `${projectOf(root)}: the loop ${short(procedure, 40)} ended, ${outcome}${why === "" ? "" : `: ${excerptOf(why)}`}`;

// ── Texts of others ─────────────────────────────────────────────────────────

const LONGEST = 100;

/** It may go to a service far away: short, and without what looks like a key or a password. */
export const excerptOf = (text: string) => short(withoutSecrets(plain(text.slice(0, 4_000))), LONGEST);

const SECRETS = [
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\b[\w-]*(?:key|token|secret|passw(?:or)?d|pwd|credentials?)["']?\s*[=:]\s*["']?[^\s"',;]+/gi,
  /:\/\/[^\s/:@]+:[^\s/@]+@/g,
  /\b(?:sk|pk|rk|gh[opsur]|github_pat|glpat|xox[abprs]|AKIA|AIza|eyJ)[\w-]{12,}[\w.-]*/g,
  /\b(?=[A-Za-z0-9_+/-]*\d)(?=[A-Za-z0-9_+/-]*[A-Za-z])[A-Za-z0-9_+/-]{32,}={0,2}/g,
];

function withoutSecrets(text: string): string {
  let safe = text;
  for (const secret of SECRETS) safe = safe.replace(secret, "[hidden]");
  return safe;
}

// ── Several at once ─────────────────────────────────────────────────────────

export interface Message {
  title: string;
  text: string;
  what: What | "several";
  project: string;
  notices: Notice[];
}

const MOST_LINES = 10;

/** Written by another process: nothing in it is taken for clean. */
export function messageOf(notices: Notice[]): Message {
  const items = notices.map((notice) => ({ ...notice, text: short(notice.text, 240) }));
  const lines = items.slice(0, MOST_LINES).map(({ text }) => text);
  if (items.length > MOST_LINES) lines.push(`and ${items.length - MOST_LINES} more`);
  const projects = [...new Set(items.map(({ root }) => projectOf(root)))];
  const [first] = items;
  return {
    title: items.length === 1 ? titleOf(first!) : `Pawl: ${items.length} things to look at`,
    text: lines.join("\n"),
    what: items.length === 1 ? first!.what : "several",
    project: projects.length === 1 ? projects[0]! : "",
    notices: items,
  };
}

/** Short enough for the title of a window. */
export function titleOf({ what, root }: Notice): string {
  const project = projectOf(root);
  if (what === "test") return "Pawl: a test";
  if (what === "completed" || what === "failed")
    return `Pawl: ${project} ${what === "completed" ? "is done" : "failed"}`;
  return what === "loop" ? `Pawl: a loop of ${project} ended` : `Pawl: ${project} needs you`;
}
