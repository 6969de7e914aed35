/** Edits of a JSON text that leave every other byte alone, comments and odd spacing included. */
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** jsonc-parser's SyntaxKind is a const enum, which cannot be imported one file at a time. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const SPACE = 15;
const isTrivia = (kind: number) => kind >= LINE_COMMENT && kind <= SPACE;

export interface Position {
  line: number;
  column: number;
}

export type ParsedJson = { ok: true; root: Node } | { ok: false; why: string; at: Position };

export function parseDocument(text: string): ParsedJson {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) return { ok: false, why: describeError(first), at: findPosition(text, first.offset) };
  return root ? { ok: true, root } : { ok: false, why: "it is empty", at: { line: 1, column: 1 } };
}

/** For texts that were parsed before. */
export function parseRoot(text: string): Node {
  const parsed = parseDocument(text);
  if (!parsed.ok) throw new Error(`${parsed.why} at line ${parsed.at.line}`);
  return parsed.root;
}

export const BOM = "\uFEFF";
export const splitBom = (text: string) =>
  text.startsWith(BOM) ? ([BOM, text.slice(1)] as const) : (["", text] as const);

/** What strict JSON does not allow: a comment, a comma too many. */
export function firstLeniency(text: string): { why: string; at: Position } | null {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (!first) return null;
  const why = text[first.offset] === "/" ? "a comment" : "a comma too many";
  return { why, at: findPosition(text, first.offset) };
}

/** "CommaExpected" → "comma expected" */
const describeError = ({ error }: ParseError) =>
  printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();

export function findPosition(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The same text for the same meaning, also where a key comes twice or is called __proto__. */
export function canonical(node: Node): string {
  const children = node.children ?? [];
  if (node.type === "array") return `[${children.map(canonical).join(",")}]`;
  if (node.type === "object") return `{${children.map(canonical).join(",")}}`;
  if (node.type === "property") return children.map(canonical).join(":");
  return JSON.stringify(node.value);
}

// ── Looking into a tree ─────────────────────────────────────────────────────

export const endIndex = (node: Node) => node.offset + node.length;

export function listProperties(object: Node): { key: string; value: Node; node: Node }[] {
  return (object.children ?? []).flatMap((node) => {
    const [key, value] = node.children ?? [];
    return key && value ? [{ key: key.value as string, value, node }] : [];
  });
}

export const valueAt = (object: Node, key: string) =>
  listProperties(object).findLast((property) => property.key === key)?.value;

// ── Style ───────────────────────────────────────────────────────────────────

type Style = ReturnType<typeof detectStyle>;

/** `spread`: new text in an empty place gets lines of its own. */
function detectStyle(text: string, root: Node) {
  const first = root.children?.[0];
  const spread = first === undefined || startsLine(text, first.offset);
  const indent = first && spread ? indentAt(text, first.offset).slice(indentAt(text, root.offset).length) : "";
  return { eol: /\r?\n/.exec(text)?.[0] ?? "\n", unit: indent || "  ", spread };
}

const lineStart = (text: string, offset: number) => text.lastIndexOf("\n", offset - 1) + 1;
const indentAt = (text: string, offset: number) => /^[ \t]*/.exec(text.slice(lineStart(text, offset)))![0];
const startsLine = (text: string, offset: number) =>
  lineStart(text, offset) > 0 && /^[ \t]*$/.test(text.slice(lineStart(text, offset), offset));

// ── Inserting ───────────────────────────────────────────────────────────────

/** `key` is left out for an element of a list. */
type Piece = { key?: string; value: unknown };

/** `container` belongs to the tree of `text` with this `root`. */
export function append(text: string, root: Node, container: Node, piece: Piece): string {
  const style = detectStyle(text, root);
  const children = container.children ?? [];
  const [first, last] = [children[0], children.at(-1)];
  if (!first || !last) return fill(text, container, piece, style);
  const comma = commaAfter(text, endIndex(last));
  const after = comma === null ? endIndex(last) : comma + 1;
  const separator = comma === null ? "," : "";
  if (!startsLine(text, first.offset)) return splice(text, after, separator + render(piece, "", style, false));
  const indent = indentAt(text, first.offset);
  const whole = splice(text, afterComments(text, after), style.eol + indent + render(piece, indent, style, true));
  return splice(whole, endIndex(last), separator);
}

function fill(text: string, container: Node, piece: Piece, style: Style): string {
  const open = container.offset + 1;
  if (!style.spread) return splice(text, open, render(piece, "", style, false));
  const outer = indentAt(text, container.offset);
  const indent = outer + style.unit;
  const closesHere = !text.slice(open, endIndex(container) - 1).includes("\n");
  const rest = closesHere ? style.eol + outer : "";
  return splice(text, open, style.eol + indent + render(piece, indent, style, true) + rest);
}

function render({ key, value }: Piece, indent: string, { unit, eol }: Style, spread: boolean): string {
  const name = key === undefined ? "" : `${JSON.stringify(key)}:${spread ? " " : ""}`;
  const body = spread ? JSON.stringify(value, null, unit).replaceAll("\n", eol + indent) : JSON.stringify(value);
  return name + body;
}

const splice = (text: string, at: number, piece: string) => text.slice(0, at) + piece + text.slice(at);

function commaAfter(text: string, from: number): number | null {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let kind = scanner.scan() as number;
  while (isTrivia(kind)) kind = scanner.scan();
  return kind === COMMA ? scanner.getTokenOffset() : null;
}

/** A comment at the end of a line belongs to what comes before it. */
function afterComments(text: string, from: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  for (let at = from; ; ) {
    const kind = scanner.scan() as number;
    const end = scanner.getTokenOffset() + scanner.getTokenLength();
    const comment = kind === LINE_COMMENT || (kind === BLOCK_COMMENT && !text.slice(from, end).includes("\n"));
    if (comment) at = end;
    else if (kind !== SPACE) return at;
  }
}

// ── Removing ────────────────────────────────────────────────────────────────

export function removeChild(text: string, container: Node, child: Node): string {
  const children = container.children ?? [];
  const before = children[children.indexOf(child) - 1];
  const own = commaAfter(text, endIndex(child));
  const comma = own ?? (before ? commaAfter(text, endIndex(before)) : null);
  const start = leadingStart(text, child.offset, own === null ? endIndex(child) : own + 1);
  const cuts: [number, number][] = [[start, endIndex(child)]];
  if (comma !== null) cuts.push([comma, comma + 1]);
  const cut = cuts
    .toSorted((a, b) => b[0] - a[0])
    .reduce((left, [from, to]) => left.slice(0, from) + left.slice(to), text);
  return children.length === 1 ? closeUp(cut, container.offset) : cut;
}

/** A line that held nothing else goes with its line break; else only the words go. */
function leadingStart(text: string, start: number, end: number): number {
  const blankAfter = /^[ \t]*(\r?\n|$)/.test(text.slice(end));
  const lead = /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, start))![0];
  return blankAfter ? start - lead.length : start;
}

/** What is left of an emptied container: nothing but space is no content. */
function closeUp(text: string, open: number): string {
  const space = /^\s*/.exec(text.slice(open + 1))![0];
  const close = open + 1 + space.length;
  return /[}\]]/.test(text[close] ?? "") ? text.slice(0, open + 1) + text.slice(close) : text;
}
