/** The history as a screen of plain lines. */

import { counted } from "../../kernel/text/counted.ts";
import type { TurnVerdict } from "../core/turns.ts";
import { type Counts, countTurns, type Example, type History } from "./count.ts";

const BAR = 24;
const MOST_PROJECTS = 12;
const MEANING: Record<TurnVerdict, string> = {
  verified: "the tests passed after the last change",
  stale: "changed again after the last green run",
  failed: "the last run failed",
  never: "no run of all tests in that turn",
};
const VERDICTS = Object.keys(MEANING) as TurnVerdict[];

/** `home`: shown as ~. */
export function showHistory(history: History, home: string): string[] {
  const turns = countTurns(history.total);
  const when = history.since === null ? "" : ` since ${history.since.slice(0, 10)}`;
  const tilde = (path: string) => (path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  return [
    ...headline(history, turns, when, tilde),
    ...(turns === 0
      ? []
      : [...bars(history.total), ...table(history.projects, tilde), ...worst(history.examples, tilde)]),
    "",
    ...history.unread.slice(0, 5).map(({ path, why }) => `not read: ${tilde(path)}: ${why}`),
    ...(history.unread.length > 5 ? [`not read: ${history.unread.length - 5} more`] : []),
    `Read ${sizeInWords(history.bytes)} in ${counted(history.sessions, "session")}, on this machine only: nothing was sent anywhere, nothing was written.`,
  ];
}

function headline({ there, folder, total }: History, turns: number, when: string, tilde: (path: string) => string) {
  if (!there) return [`There are no transcripts: ${tilde(folder)} does not exist.`];
  if (turns === 0) return [`No turn${when} changed files and then said that the work is done.`];
  return [
    `${counted(turns, "turn")}${when} changed files and then said that the work is done.`,
    `${total.verified} of them ${total.verified === 1 ? "was" : "were"} verified.`,
  ];
}

function bars(total: Counts): string[] {
  const all = countTurns(total);
  const lines = VERDICTS.map((verdict) => {
    const share = total[verdict] / all;
    const full = total[verdict] === 0 ? 0 : Math.max(1, Math.round(share * BAR));
    const bar = "█".repeat(full).padEnd(BAR, "·");
    return `  ${verdict.padEnd(9)}${String(total[verdict]).padStart(6)}  ${`${Math.round(share * 100)} %`.padStart(5)}  ${bar}  ${MEANING[verdict]}`;
  });
  return ["", ...lines];
}

function table(projects: History["projects"], tilde: (path: string) => string): string[] {
  const shown = projects.slice(0, MOST_PROJECTS);
  const rest = projects.slice(MOST_PROJECTS);
  const names = shown.map(({ project }) => tilde(project));
  const width = Math.max(7, ...names.map((name) => name.length));
  const row = (name: string, cells: (string | number)[]) =>
    `  ${name.padEnd(width)}  ${cells.map((cell) => String(cell).padStart(8)).join("  ")}`;
  return [
    "",
    row("project", ["turns", ...VERDICTS]),
    ...shown.map(({ counts }, index) =>
      row(names[index]!, [countTurns(counts), ...VERDICTS.map((verdict) => counts[verdict])]),
    ),
    ...(rest.length > 0 ? [`  … and ${counted(rest.length, "more project")}`] : []),
  ];
}

function worst(examples: Example[], tilde: (path: string) => string): string[] {
  return examples.flatMap(({ at, project, verdict, claim, why }) => [
    "",
    `  ${at.slice(0, 16).replace("T", " ")}  ${tilde(project)}  ${verdict}`,
    `    said: ${claim.length > 80 ? `${claim.slice(0, 79)}…` : claim}`,
    `    but:  ${why}`,
  ]);
}

export function sizeInWords(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  if (bytes < 1_000_000_000) return `${Math.round(bytes / 1_000_000)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
