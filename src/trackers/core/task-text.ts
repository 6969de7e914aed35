/** A task as a person types it: "fix login — `/plan x` | opus | restart #web p1", further lines are its text. */
import { type NewTask, parseBold, parseTaskLine, readFacts } from "./session-line.ts";

/** What is longer is a text, not a name. */
const LONGEST_TITLE = 200;
const SHORT_TITLE = 100;
/** No one writes fields after a name this long; looking for them takes ever longer. */
const LONGEST_NOTATION = 2_000;
const LABEL = "#[\\p{L}_][\\p{L}\\p{N}_.:/+-]*|#\\p{N}+[\\p{L}_.:/+-][\\p{L}\\p{N}_.:/+-]*";
const WORD = new RegExp(`^(?:${LABEL}|p[0-4])$`, "u");
const LAST_WORD = new RegExp(`^(.*\\S)[ \\t]+(${LABEL}|p[0-4])[ \\t]*$`, "su");
const UNSEEN = /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export function taskFromText(typed: string): NewTask {
  const [first = "", ...more] = typed.trim().split(/\r\n?|\n/);
  const { name, bold, tail } = cutTail(
    first
      .replace(UNSEEN, " ")
      .trim()
      .replace(/^[-*+][ \t]+\[.\][ \t]+/u, ""),
  );
  const { labels, priority, command, model, restart, epic, after } = readFacts(parseTaskLine(`- [ ] **x**${tail}`)!);
  const whole = cleanTitle(name);
  const title = bold ? whole : capitalised(whole);
  const text = cleanText([...(title.length > LONGEST_TITLE ? [whole] : []), ...more].join("\n"));
  return {
    title: title.length > LONGEST_TITLE ? shortened(title) : title,
    ...(text !== "" && { text }),
    ...(labels.length > 0 && { labels: [...new Set(labels)] }),
    ...(priority !== 2 && { priority }),
    ...(command !== undefined && { command }),
    ...(model !== undefined && { model }),
    ...(restart === true && { restart }),
    ...(epic !== null && { epic }),
    ...(after.length > 0 && { blocked_by: after }),
  };
}

/** One line, nothing that steers a terminal; all else as it was typed. */
export const cleanTitle = (text: string) => text.replace(UNSEEN, " ").trim();

const cleanText = (text: string) => text.replace(UNSEEN, (sign) => (/[\t\n]/.test(sign) ? sign : " ")).trimEnd();

function shortened(title: string): string {
  const cut = title.slice(0, SHORT_TITLE);
  const blank = cut.lastIndexOf(" ");
  return `${(blank > SHORT_TITLE / 2 ? cut.slice(0, blank) : cut).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A plain word only: `parseLine()`, `iOS` and `src/x` are written as they are. */
function capitalised(title: string): string {
  return /^\p{Ll}[\p{Ll}'’-]*(?=$|[\s,:;.!?])/u.test(title) ? title[0]!.toUpperCase() + title.slice(1) : title;
}

// ── Notation at the end ─────────────────────────────────────────────────────

interface TaskTail {
  name: string;
  /** the name was between stars: the person has chosen its letters */
  bold: boolean;
  /** from the dash or the first bar on, as parseTaskLine reads it */
  tail: string;
}

/** What is not notation to its end is part of the name: no word is lost. */
function cutTail(line: string): TaskTail {
  if (line.length > LONGEST_NOTATION) return { name: line, bold: false, tail: "" };
  const starred = parseBold(line);
  const after = line.slice(starred?.all.length);
  if (starred?.title && isTail(after)) return { name: starred.title, bold: true, tail: after };
  for (const { index } of line.matchAll(/[ \t]+(?=[—–|])/g)) {
    const tail = line.slice(index);
    if (index > 0 && isTail(tail)) return withWords(line.slice(0, index), tail);
  }
  return withWords(line, "");
}

/** Labels and a priority may follow the name directly. */
function withWords(line: string, tail: string): TaskTail {
  let name = line;
  const words: string[] = [];
  for (let last = LAST_WORD.exec(name); last !== null; last = LAST_WORD.exec(name)) {
    name = last[1]!;
    words.unshift(last[2]!);
  }
  if (words.length === 0) return { name, bold: false, tail };
  return { name, bold: false, tail: `${tail} ${tail === "" ? "—" : "|"} ${words.join(" ")}` };
}

function isTail(tail: string): boolean {
  const rest = tail.trim();
  if (rest === "") return true;
  const dashed = /^[—–][ \t]*(?:`(?=[^\s`])[^`]*(?<=[^\s`])`[ \t]*)?(.*)$/s.exec(rest);
  const [before = "", ...fields] = (dashed?.[1] ?? rest).split("|").map((field) => field.trim());
  if (!areWords(before) || (dashed !== null && rest.length === 1)) return false;
  return fields.every((field, at) => isField(field, dashed !== null && at === 0));
}

const areWords = (text: string) => withoutWords(text) === "";

const withoutWords = (text: string) =>
  text
    .split(/[ \t]+/)
    .filter((word) => !WORD.test(word))
    .join(" ");

/** After a dash the first field is the model, whatever its name. */
function isField(field: string, mayBeAnyModel: boolean): boolean {
  const said = withoutWords(field);
  if (/^(?:haiku|sonnet|opus|fable|(?:no )?restart|(?:epic|after):\s*\S.*)$/i.test(said)) return true;
  return mayBeAnyModel ? /^$|^[A-Za-z][\w.:/[\]-]*$/.test(said) : said === "" && field !== "";
}
