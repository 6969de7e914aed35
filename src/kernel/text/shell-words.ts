/** Just enough of the shell's grammar to see which commands a line runs, and how they hang together. */

export type Token =
  | { kind: "word"; text: string; quoted: boolean }
  /** && || | ; & ( ) and the end of a line */
  | { kind: "op"; text: string }
  | { kind: "redirect"; fd: string; op: string; target: string };

const OPERATORS = ["&&", "||", "|&", ";;", "|", ";", "&", "(", ")", "\n"];
const REDIRECT = /(?:\d+|&)?(?:<<<|<<-?|>>|>\||>&|<&|<>|>|<)/y;

interface Reader {
  text: string;
  at: number;
  tokens: Token[];
  /** here-documents whose text begins at the next line */
  waiting: string[];
}

export function tokensOf(line: string): Token[] {
  const reader: Reader = { text: line, at: 0, tokens: [], waiting: [] };
  while (reader.at < line.length) step(reader);
  return reader.tokens;
}

function step(reader: Reader): void {
  const { text, at } = reader;
  const char = text[at]!;
  if (char === " " || char === "\t" || char === "\r") reader.at++;
  else if (char === "\\" && text[at + 1] === "\n") reader.at += 2;
  else if (char === "#") reader.at = endOfLine(text, at);
  else if (!takeRedirect(reader) && !takeOperator(reader)) takeWord(reader);
}

function takeOperator(reader: Reader): boolean {
  const found = OPERATORS.find((operator) => reader.text.startsWith(operator, reader.at));
  if (found === undefined) return false;
  reader.at += found.length;
  reader.tokens.push({ kind: "op", text: found === "|&" ? "|" : found });
  if (found === "\n") skipHereDocuments(reader);
  return true;
}

function takeRedirect(reader: Reader): boolean {
  REDIRECT.lastIndex = reader.at;
  const found = REDIRECT.exec(reader.text)?.[0];
  // <(…) and >(…) are words
  if (found === undefined || (/[<>]$/.test(found) && reader.text[reader.at + found.length] === "(")) return false;
  reader.at += found.length;
  while (/[ \t]/.test(reader.text[reader.at] ?? "")) reader.at++;
  const target = readWord(reader).text;
  const [, fd, op] = /^(\d+|&)?(.*)$/.exec(found)!;
  if (op === "<<" || op === "<<-") reader.waiting.push(target);
  else reader.tokens.push({ kind: "redirect", fd: fd ?? "", op: op!, target });
  return true;
}

/** The text of a here-document is not a command. */
function skipHereDocuments(reader: Reader): void {
  for (const end of reader.waiting.splice(0)) {
    while (reader.at < reader.text.length) {
      const stop = endOfLine(reader.text, reader.at);
      const line = reader.text.slice(reader.at, stop);
      reader.at = stop + 1;
      if (line.replace(/^\t+/, "") === end) break;
    }
  }
}

function takeWord(reader: Reader): void {
  const before = reader.at;
  const word = readWord(reader);
  if (reader.at === before) reader.at++;
  else reader.tokens.push({ kind: "word", ...word });
}

/** Quotes are taken off; $(…), `…` and ${…} stay as they are written. */
function readWord(reader: Reader): { text: string; quoted: boolean } {
  const { text } = reader;
  let word = "";
  let quoted = false;
  while (reader.at < text.length) {
    const char = text[reader.at]!;
    if (/[\s;|)]/.test(char) || char === "&" || ((char === "<" || char === ">") && text[reader.at + 1] !== "(")) break;
    if (char === "(" && word === "") break;
    const end = endOfPiece(text, reader.at);
    const piece = text.slice(reader.at, end);
    if (char === "'" || char === '"') {
      word += unquote(piece);
      quoted = true;
    } else if (char === "\\") word += piece === "\\\n" ? "" : piece.slice(1);
    else word += piece;
    reader.at = end;
  }
  return { text: word, quoted };
}

function unquote(piece: string): string {
  const inner = piece.endsWith(piece[0]!) && piece.length > 1 ? piece.slice(1, -1) : piece.slice(1);
  return piece[0] === "'" ? inner : inner.replace(/\\(["\\$`\n])/g, (_, char) => (char === "\n" ? "" : char));
}

/** Where the piece of a word that begins here ends: a quotation, a substitution, or one character. */
function endOfPiece(text: string, at: number): number {
  const char = text[at]!;
  if (char === "\\") return Math.min(text.length, at + 2);
  if (char === "'") return after(text.indexOf("'", at + 1), text);
  if (char === "`") return after(text.indexOf("`", at + 1), text);
  if (char === '"') return endOfDouble(text, at + 1);
  if (char === "$" && text[at + 1] === "{") return after(text.indexOf("}", at + 2), text);
  if ((char === "$" || char === "<" || char === ">") && text[at + 1] === "(") return endOfParenthesis(text, at + 2);
  if (char === "(") return endOfParenthesis(text, at + 1);
  return at + 1;
}

function endOfDouble(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"') {
    if (text[at] === "\\") at += 2;
    else if (text[at] === "$" && text[at + 1] === "(") at = endOfParenthesis(text, at + 2);
    else at++;
  }
  return Math.min(text.length, at + 1);
}

/** Counts parentheses; quotes inside are stepped over. Without recursion: the text may be anyone's. */
function endOfParenthesis(text: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < text.length && depth > 0) {
    const char = text[at]!;
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === "'") at = after(text.indexOf("'", at + 1), text);
    else if (char === "\\") at += 2;
    else at++;
  }
  return Math.min(text.length, at);
}

function after(found: number, text: string): number {
  return found < 0 ? text.length : found + 1;
}

function endOfLine(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found;
}
