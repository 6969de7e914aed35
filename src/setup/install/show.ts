/** How changes are told to a person. */
import { homeDir } from "../../store/home.ts";
import type { Change } from "./target.ts";

const pickVerb = ({ before, after }: Change) => (before === null ? "create" : after === null ? "remove" : "edit");

/** Paths as a person would write them: below the project, below home, else whole. */
export function shortPath(path: string, base: string): string {
  const home = `${homeDir()}/`;
  if (base !== homeDir() && path.startsWith(`${base}/`)) return path.slice(base.length + 1);
  return path.startsWith(home) ? `~/${path.slice(home.length)}` : path;
}

export const listed = (changes: Change[], base: string) =>
  changes.map((change) => ({ action: pickVerb(change), path: shortPath(change.path, base), why: change.why }));

type Row = ReturnType<typeof listed>[number];

const WIDEST = 100;
const NARROWEST = 70;

/** Files that go together make one row, which still names each of them. */
export function listText(changes: Change[], base: string): string {
  const rows = gathered(listed(changes, base));
  const width = Math.max(0, ...rows.map(({ path }) => path.length));
  const columns = Math.max(NARROWEST, Math.min(WIDEST, process.stdout.columns || WIDEST));
  return rows
    .map(({ action, path, why }) => rowText(`  ${action.padEnd(7)} ${path.padEnd(width)}  `, why, columns))
    .join("");
}

function rowText(head: string, why: string, columns: number): string {
  const wrapped = Bun.wrapAnsi(why, Math.max(1, columns - head.length), { hard: false });
  return `${head}${wrapped.replaceAll("\n", `\n${" ".repeat(head.length)}`)}\n`;
}

const FEW = 2;

function gathered(rows: Row[]): Row[] {
  const groups = [...Map.groupBy(rows, groupName).values()];
  return groups.flatMap((group) => (group.length > FEW ? [together(group)] : group));
}

/** Commands, skills or agents of which the same is said; anything else is a group of its own. */
function groupName({ action, path, why }: Row): string {
  const folder = /^(?:~\/)?\.claude\/(commands|skills|agents)\//.exec(path)?.[0];
  return folder === undefined ? path : `${action} ${folder} ${plainWhy(why)}`;
}

/** Without what the name says already. */
const plainWhy = (why: string) => why.replace(/^the (command|skill|sub-agent) \S+$/, "");

function together(group: Row[]): Row {
  const { action, path, why } = group[0]!;
  const folder = /^.*?\.claude\/\w+\//.exec(path)![0];
  const names = group.map((row) => shortName(row.path.slice(folder.length), folder.endsWith("agents/"))).join(", ");
  return { action, path: `${folder} (${group.length} files)`, why: [plainWhy(why), names].filter(Boolean).join(": ") };
}

const shortName = (file: string, agent: boolean) =>
  `${agent ? "" : "/"}${file.replace(/(\/SKILL)?\.md$/, "").replace("/", ":")}`;

/** New files whole, edited ones as a difference. */
export function contentsText(changes: Change[], base: string): string {
  return changes
    .map((change) => `\n── ${pickVerb(change)} ${shortPath(change.path, base)}\n${renderDiff(change)}`)
    .join("");
}

function renderDiff({ before, after }: Change): string {
  if (before === null) return ended(after ?? "");
  return ended(differences(splitLines(before), splitLines(after ?? "")).join("\n"));
}

const splitLines = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** Enough for an edit that adds and removes whole lines: what both begin and end with is left out, save three lines. */
function differences(before: string[], after: string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const around = (lines: string[]) => lines.map((line) => `  ${line}`);
  return [
    ...around(before.slice(Math.max(0, head - 3), head)),
    ...before.slice(head, before.length - tail).map((line) => `- ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+ ${line}`),
    ...around(before.slice(before.length - tail, before.length - tail + 3)),
  ];
}
