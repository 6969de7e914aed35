/** Command, model and restart of a task line: changed in their place, everything else kept as it was. */

const CODE = /`[^`]*`/g;
/** As long as before, so that places stay. */
const withoutCode = (text: string) => text.replace(CODE, (code) => "`".repeat(code.length));

export interface Fields {
  /** "": none */
  command?: string;
  model?: string;
  restart?: boolean;
}

/** `pieces`: what follows the name, cut at its bars. `known`: what they say now. */
export function changeFields(pieces: string[], known: Fields, wanted: Fields): string[] {
  let next = pieces;
  if (wanted.command !== undefined && wanted.command !== (known.command ?? "")) next = setCommand(next, wanted.command);
  if (wanted.model !== undefined && wanted.model !== known.model) next = setModel(next, known.model, wanted.model);
  if (wanted.restart !== undefined && wanted.restart !== (known.restart ?? false))
    next = setRestart(next, wanted.model ?? known.model, wanted.restart);
  return next;
}

function setCommand(pieces: string[], command: string): string[] {
  const first = pieces[0]!;
  const dash = /[—–]|(?<!\S)--?(?=\s)/.exec(withoutCode(first));
  const code = command === "" ? "" : `\`${command}\``;
  if (dash === null) return pieces.with(0, ` — ${code}${first === "" && pieces.length > 1 ? " " : first}`);
  const from = dash.index + dash[0].length;
  const [head, tail] = [first.slice(0, from), first.slice(from)];
  if (/`[^`]+`/.test(tail))
    return pieces.with(0, head + tail.replace(/`[^`]+`([ \t]?)/, (_all, gap) => (code === "" ? "" : code + gap)));
  return pieces.with(0, `${head} ${code}${tail === "" && pieces.length > 1 ? " " : tail}`);
}

function setModel(pieces: string[], known: string | undefined, model: string): string[] {
  const at = known === undefined ? -1 : pieces.findLastIndex((piece, index) => index > 0 && hasWord(piece, known));
  return at < 0 ? insertField(pieces, 1, model) : pieces.with(at, replaceWord(pieces[at]!, known!, model));
}

function setRestart(pieces: string[], model: string | undefined, restart: boolean): string[] {
  const at = pieces.findLastIndex((piece, index) => index > 0 && /(^|\s)restart(?=\s|$)/i.test(withoutCode(piece)));
  if (at < 0) return insertField(pieces, placeAfter(pieces, model), "restart");
  const said = /(?:no[ \t]+)?restart/i;
  if (restart) return pieces.with(at, pieces[at]!.replace(said, "restart"));
  const left = pieces[at]!.replace(said, "");
  return left.trim() !== "" ? pieces.with(at, left) : withoutPiece(pieces, at);
}

function placeAfter(pieces: string[], model: string | undefined): number {
  const at = model === undefined ? -1 : pieces.findLastIndex((piece, index) => index > 0 && hasWord(piece, model));
  return at < 0 ? 1 : at + 1;
}

/** Without its last piece the line must not keep the blank that stood before the bar. */
function withoutPiece(pieces: string[], at: number): string[] {
  const left = pieces.toSpliced(at, 1);
  return at === pieces.length - 1 ? left.with(-1, left.at(-1)!.trimEnd()) : left;
}

function insertField(pieces: string[], at: number, field: string): string[] {
  if (at < pieces.length) return pieces.toSpliced(at, 0, ` ${field} `);
  const last = pieces.at(-1)!;
  const dash = pieces.length === 1 && !/[—–]/.test(withoutCode(last)) ? " —" : "";
  return [...pieces.slice(0, -1), `${last.trimEnd()}${dash} `, ` ${field}`];
}

const wordPattern = (word: string) => new RegExp(`(^|[ \\t])${word.replace(/[^\w]/g, "\\$&")}(?=[ \\t]|$)`);
const hasWord = (piece: string, word: string) => wordPattern(word).test(withoutCode(piece));

function replaceWord(piece: string, word: string, by: string): string {
  const found = wordPattern(word).exec(withoutCode(piece))!;
  const from = found.index + found[1]!.length;
  return piece.slice(0, from) + by + piece.slice(from + word.length);
}
