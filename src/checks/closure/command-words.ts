/** The simple commands in a shell line, as words. Nothing is expanded: what cannot be read plainly names no file. */

/** Ends a word and a command; command substitutions count as commands of their own. */
const BETWEEN_COMMANDS = new Set([..."\n;&|()`{}"]);
const BLANK = new Set([..." \t\r<"]);

interface Cursor {
  text: string;
  at: number;
  /** null: between words */
  word: string | null;
  words: string[];
  /** the next word is where output goes: nothing is run from there */
  target: boolean;
  commands: string[][];
}

export function commandsIn(line: string): string[][] {
  const cursor: Cursor = { text: line, at: 0, word: null, words: [], target: false, commands: [] };
  while (cursor.at < line.length) step(cursor);
  endCommand(cursor);
  return cursor.commands;
}

function step(cursor: Cursor): void {
  const sign = cursor.text[cursor.at++]!;
  if (BLANK.has(sign)) endWord(cursor);
  else if (sign === ">") redirect(cursor);
  else if (BETWEEN_COMMANDS.has(sign)) endCommand(cursor);
  else if (sign === "'" || sign === '"') add(cursor, quoted(cursor, sign));
  else if (sign === "\\") add(cursor, escaped(cursor));
  else add(cursor, sign);
}

function add(cursor: Cursor, text: string): void {
  cursor.word = (cursor.word ?? "") + text;
}

/** A backslash before the line's end joins the lines. */
function escaped(cursor: Cursor): string {
  const sign = cursor.text[cursor.at++] ?? "";
  return sign === "\n" ? "" : sign;
}

function quoted(cursor: Cursor, quote: string): string {
  let inside = "";
  while (cursor.at < cursor.text.length) {
    const sign = cursor.text[cursor.at++]!;
    if (sign === quote) return inside;
    const isEscape = sign === "\\" && quote === '"' && /["\\$`\n]/.test(cursor.text[cursor.at] ?? "");
    inside += isEscape ? escaped(cursor) : sign;
  }
  return inside;
}

/** `>`, `>>`, `>&`, `>|`. */
function redirect(cursor: Cursor): void {
  endWord(cursor);
  while (/[>&|]/.test(cursor.text[cursor.at] ?? "")) cursor.at++;
  cursor.target = true;
}

function endWord(cursor: Cursor): void {
  if (cursor.word === null) return;
  if (!cursor.target) cursor.words.push(cursor.word);
  cursor.word = null;
  cursor.target = false;
}

function endCommand(cursor: Cursor): void {
  endWord(cursor);
  if (cursor.words.length > 0) cursor.commands.push(cursor.words);
  cursor.words = [];
  cursor.target = false;
}
