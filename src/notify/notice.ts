/** What deserves a notification, and its text. Pure: no clock, no disk. */

import { short, spanText, stageLabel, viewRun, type Waiting } from "../engine/core/run-view.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Commit, JournalRecord, Run } from "../kernel/types/run.ts";
import { basename } from "../store/names.ts";

/** What a run, its host, a loop or a look for silent runs has to say. */
export type NoticeKind = OfRun | "permission" | "idle" | "loop" | "silent" | "test";
type OfRun = "question" | "stalled" | "halted" | "failed" | "completed";

export interface Notice {
  what: NoticeKind;
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

export const projectName = (root: string) => short(basename(root), 40) || "/";

// ── Of a run ────────────────────────────────────────────────────────────────

/** null: no notification. What the person did themselves they know already. */
export function buildNotice(root: string, { run, event, records }: Commit): Notice | null {
  const byThemselves = event.kind === "prompt" || event.kind === "start" || event.kind === "ended";
  if (byThemselves || (event.kind === "command" && event.via !== "rewake")) return null;
  const what =
    records.map(classifyNotice).findLast((one) => one !== null) ?? (isUnproven(run, records) ? "question" : null);
  if (!what) return null;
  const text = `${projectName(root)}: ${wordsFor(what, run)}`;
  const unrung = event.via === "rewake" && { unrung: true as const };
  return { what, text, root, run: run.id, session: event.session, at: event.at, ...unrung };
}

function classifyNotice({ kind, stalled, outcome }: JournalRecord): OfRun | null {
  if (kind === "asked") return "question";
  if (kind === "halted") return stalled === true ? "stalled" : "halted";
  if (kind === "ended") return outcome === "completed" || outcome === "failed" ? outcome : null;
  return null;
}

const isUnproven = (run: Run, records: JournalRecord[]) =>
  records.some(({ kind, verdict }) => kind === "gated" && verdict === "unproven") && approvalFor(run) !== null;

function wordsFor(what: OfRun, run: Run): string {
  const approval = what === "question" ? approvalFor(run) : null;
  // The reason of an earlier halt may still be there.
  const why = run.status === "active" ? approval?.what : run.why;
  const because = why ? `: ${safeExcerpt(why)}` : "";
  const wanted = approval ? "your approval" : "you";
  const words: Record<OfRun, string> = {
    question: `needs ${wanted}${because}`,
    stalled: `does not get on at ${stageLabel(run)}${because}`,
    halted: `stopped at ${stageLabel(run)}${because}`,
    failed: `failed${because}`,
    completed: "is done",
  };
  return `${short(run.workflow, 40)} ${words[what]}`;
}

/** The session is alive: it has just sent the event. */
function approvalFor(run: Run): Waiting | null {
  const { waits } = viewRun(run, { at: run.updated_at, workflow: null, ownerGone: false });
  return waits?.kind === "approval" ? waits : null;
}

export const silentText = (root: string, run: Run, minutes: number) =>
  `${projectName(root)}: ${short(run.workflow, 40)} has been silent for ${spanText(minutes)} at ${stageLabel(run)}`;

export const loopText = (root: string, procedure: string, outcome: string, why: string) =>
  `${projectName(root)}: the loop ${short(procedure, 40)} ended, ${outcome}${why === "" ? "" : `: ${safeExcerpt(why)}`}`;

// ── Texts of others ─────────────────────────────────────────────────────────

const LONGEST = 100;

/** It may go to a service far away: short, and without what looks like a key or a password. */
export const safeExcerpt = (text: string) => short(withoutSecrets(safeText(text.slice(0, 4_000))), LONGEST);

const SECRETS = [
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\b[\w-]*(?:key|token|secret|passw(?:or)?d|pwd|credentials?)["']?\s*[=:]\s*["']?[^\s"',;]+/gi,
  /:\/\/[^\s/:@]+:[^\s/@]+@/g,
  /\b(?:sk|pk|rk|gh[opsur]|github_pat|glpat|xox[abprs]|AKIA|AIza|eyJ)[\w-]{12,}[\w.-]*/g,
  /\b(?=[A-Za-z0-9_+/-]*\d)(?=[A-Za-z0-9_+/-]*[A-Za-z])[A-Za-z0-9_+/-]{32,}={0,2}/g,
];

const withoutSecrets = (text: string) => SECRETS.reduce((safe, secret) => safe.replace(secret, "[hidden]"), text);

// ── Several at once ─────────────────────────────────────────────────────────

export interface Message {
  title: string;
  text: string;
  what: NoticeKind | "several";
  project: string;
  notices: Notice[];
}

const MOST_LINES = 10;

/** Written by another process: nothing in it is taken for clean. */
export function buildMessage(notices: Notice[]): Message {
  const items = notices.map((notice) => ({ ...notice, text: short(notice.text, 240) }));
  const lines = items.slice(0, MOST_LINES).map(({ text }) => text);
  if (items.length > MOST_LINES) lines.push(`and ${items.length - MOST_LINES} more`);
  const projects = [...new Set(items.map(({ root }) => projectName(root)))];
  const [first] = items;
  return {
    title: items.length === 1 ? formatTitle(first!) : `Pawl: ${items.length} things to look at`,
    text: lines.join("\n"),
    what: items.length === 1 ? first!.what : "several",
    project: projects.length === 1 ? projects[0]! : "",
    notices: items,
  };
}

/** Short enough for the title of a window. */
export function formatTitle({ what, root }: Notice): string {
  const project = projectName(root);
  if (what === "test") return "Pawl: a test";
  if (what === "completed" || what === "failed")
    return `Pawl: ${project} ${what === "completed" ? "is done" : "failed"}`;
  return what === "loop" ? `Pawl: a loop of ${project} ended` : `Pawl: ${project} needs you`;
}
