/** What would run, as a person reads it; and what is different from what they approved last. */

import { visible, visibleLines } from "../../kernel/text/safe-text.ts";
import { type ClosureItem, type ClosureScript, itemHash } from "../../store/closure.ts";
import { basename } from "../../store/names.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

export function itemLines({ gate, kind, text, cwd, env, scripts }: ClosureItem): string[] {
  const [first = "", ...more] = kind === "command" ? [argvLine(text)] : visibleLines(text);
  return [
    visible(gate),
    `  ${kind === "command" ? "runs " : "shell"}  ${first}`,
    ...more.map((line) => `         ${line}`),
    ...(cwd === "." ? [] : [`  in     ${visible(cwd)}`]),
    ...Object.entries(env).map(([name, value]) => `  with   ${visible(`${name}=${value}`)}`),
    ...scripts.flatMap(scriptLines),
  ];
}

/** Words that a shell would read otherwise are in quotes. */
function argvLine(text: string): string {
  const argv = JSON.parse(text) as string[];
  return argv.map((word) => (PLAIN_WORD.test(word) ? word : `"${visible(word).replaceAll('"', '\\"')}"`)).join(" ");
}

function scriptLines({ path, what, sha256, text }: ClosureScript): string[] {
  const name = what === "file" ? visible(path) : `${visible(path)}${renderTitle(path, what)}`;
  const mark =
    sha256 === "" ? "" : `  (${sha256.slice(0, 12)}${text === undefined ? ", not shown: read it yourself" : ""})`;
  const lines = text === undefined ? [] : visibleLines(text);
  return [`  reads  ${name}${mark}`, ...lines.map((line) => `         | ${line}`)];
}

/** "package.json scripts.test" after the path of that package.json: the file is named once. */
function renderTitle(path: string, what: string): string {
  const file = `${basename(path)} `;
  return what.startsWith(file) ? ` ${visible(what.slice(file.length))}` : `: ${visible(what)}`;
}

export interface Change {
  sign: "+" | "-" | " ";
  line: string;
}

/** Only what is not the same any more: commands by their gate, then line by line. */
export function changesBetween(before: ClosureItem[], now: ClosureItem[]): Change[] {
  const known = new Set(before.map(itemHash));
  const present = new Set(now.map(itemHash));
  const gone = before.filter((item) => !present.has(itemHash(item)));
  const changes = now
    .filter((item) => !known.has(itemHash(item)))
    .flatMap((item) => {
      const at = gone.findIndex(({ gate, kind }) => gate === item.gate && kind === item.kind);
      const [old] = at < 0 ? [] : gone.splice(at, 1);
      return lineChanges(old ? itemLines(old) : [], itemLines(item));
    });
  return [...changes, ...gone.flatMap((item) => lineChanges(itemLines(item), []))];
}

/** What the gate runs and the lines around a change are kept; the rest is as it was. */
function lineChanges(before: string[], now: string[]): Change[] {
  const all = merged(before, now);
  const isNear = (at: number) => all.slice(Math.max(0, at - 2), at + 3).some(({ sign }) => sign !== " ");
  return all.filter(({ line }, at) => isNear(at) || !/^ {2}(reads| {7})/.test(line));
}

/** The longest common part stays; everything else goes or comes. */
function merged(before: string[], now: string[]): Change[] {
  // rows[i][j]: how many lines are common to `before` from i on and `now` from j on
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const longer = Math.max(rows[i + 1]![j]!, rows[i]![j + 1]!);
      rows[i]![j] = before[i] === now[j] ? rows[i + 1]![j + 1]! + 1 : longer;
    }
  }
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < now.length) {
    const [without, withNew] = [rows[i + 1]?.[j] ?? -1, rows[i]![j + 1] ?? -1];
    if (before[i] === now[j]) {
      changes.push({ sign: " ", line: before[i++]! });
      j++;
    } else if (without >= withNew) changes.push({ sign: "-", line: before[i++]! });
    else changes.push({ sign: "+", line: now[j++]! });
  }
  return changes;
}
