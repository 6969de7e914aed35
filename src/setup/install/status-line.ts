/** The host has room for one status line: ours shows the person's own first, and gives it back. Text in, text out. */
import type { Node } from "jsonc-parser";
import { isObject, parseJson } from "../../store/files.ts";
import { BINARY, guarded } from "./hooks.ts";
import { append, canonical, endOf, parseDocument, propertiesOf, removeChild, valueAt } from "./jsonc.ts";

const KEY = "statusLine";
const BOM = "\uFEFF";

interface Wrapped {
  command: string;
  /** the settings file it stands in; null: it stood where ours stands now */
  from: string | null;
}

/** A status line in another settings file, which ours would hide. */
export interface Elsewhere extends Wrapped {
  /** its other fields, as padding */
  rest: Record<string, unknown>;
}

// ── The command ─────────────────────────────────────────────────────────────

const FROM = " # runs that of ";

/** Without Pawl the person's own line is shown, in its own folder; else Pawl runs it. */
export function statusCommand(wrapped: Wrapped | null): string {
  if (wrapped === null) return guarded("statusline");
  const from = wrapped.from === null ? "" : FROM + wrapped.from;
  return (
    `w=${quoted(wrapped.command)}; p="${BINARY}"; [ -x "$p" ] || exec /bin/sh -c "$w"; ` +
    `[ -d "$PWD" ] || cd /; unset BUN_OPTIONS BUN_BE_BUN; exec "$p" statusline --wrap "$w"${from}`
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export const isOurLine = (command: string) =>
  command.includes(".local/share/pawl/bin/pawl") && / statusline\b/.test(command);

/** What ours runs; null: nothing. undefined: it was edited so that this cannot be told. */
function wrappedIn(command: string): Wrapped | null | undefined {
  if (!/ --wrap\b/.test(command)) return null;
  const found = /^w='((?:[^']|'\\'')*)'; (.*)$/s.exec(command);
  if (!found) return undefined;
  const from = / # runs that of (\S+)$/.exec(found[2]!)?.[1] ?? null;
  return { command: found[1]!.replaceAll(`'\\''`, "'"), from };
}

/** As the host understands that file. */
export function lineIn(text: string | null, from: string): Elsewhere | null {
  const settings = parseJson((text ?? "").replace(BOM, ""));
  const line = isObject(settings) ? settings[KEY] : undefined;
  if (!isObject(line) || typeof line.command !== "string") return null;
  const { type: _type, command, ...rest } = line;
  return { command, rest, from };
}

// ── In a settings file ──────────────────────────────────────────────────────

export type Lined = { text: string; note?: string };

/** `text`: settings that can be edited. */
export function withStatusLine(text: string, elsewhere: Elsewhere | null): Lined {
  return inBody(text, (body) => {
    const found = find(body);
    if (found === null)
      return { text: append(body, rootOf(body), rootOf(body), { key: KEY, value: fresh(elsewhere) }) };
    if (found.command === null) return { text: body, note: "its statusLine is not a command: unchanged" };
    const said = found.command.value as string;
    if (!isOurLine(said)) return wrapOwn(body, found.command, said);
    const wrapped = wrappedIn(said);
    if (wrapped === undefined) return { text: body, note: "its statusLine calls Pawl in your own way: unchanged" };
    if (wrapped?.from === null) return { text: replaced(body, found.command, statusCommand(wrapped)) };
    if (canonical(found.value) === canonical(rootOf(JSON.stringify(fresh(elsewhere))))) return { text: body };
    return withStatusLine(removeChild(body, found.root, found.property), elsewhere);
  });
}

function wrapOwn(body: string, node: Node, command: string): Lined {
  if (/\bpawl\b.*\bstatusline\b/s.test(command))
    return { text: body, note: "its statusLine calls `pawl statusline` itself: unchanged" };
  return { text: replaced(body, node, statusCommand({ command, from: null })) };
}

/** `before`: what was there before us, for the person's own way of writing. */
export function withoutStatusLine(text: string, before: string | null): Lined {
  return inBody(text, (body) => {
    const found = find(body);
    const old = find((before ?? "").replace(BOM, ""));
    const said = found?.command?.value as string | undefined;
    if (!found?.command || said === undefined || !isOurLine(said))
      return {
        text: body,
        ...(changedSince(found, old) && { note: "its statusLine was changed since: unchanged" }),
      };
    const wrapped = wrappedIn(said);
    if (wrapped === undefined)
      return { text: body, note: "its statusLine was edited since: take Pawl out of it by hand" };
    if (wrapped === null || wrapped.from !== null) return { text: removeChild(body, found.root, found.property) };
    if (old?.command?.value === wrapped.command)
      return { text: spliced(body, found.command, literal(before, old.command)) };
    const text = replaced(body, found.command, wrapped.command);
    const note = "the command below Pawl's status line was changed since: kept as it is now";
    return old?.command && !isOurLine(old.command.value as string) ? { text, note } : { text };
  });
}

const changedSince = (now: Found | null, old: Found | null) =>
  now !== null && (old === null || canonical(now.value) !== canonical(old.value));

const literal = (before: string | null, { offset, length }: Node) =>
  (before ?? "").replace(BOM, "").slice(offset, offset + length);

function inBody(text: string, edit: (body: string) => Lined): Lined {
  const bom = text.startsWith(BOM) ? BOM : "";
  const edited = edit(text.slice(bom.length));
  return { ...edited, text: bom + edited.text };
}

function fresh(elsewhere: Elsewhere | null) {
  return { type: "command", command: statusCommand(elsewhere), ...elsewhere?.rest };
}

export const hasStatusLine = (text: string) => find(text.replace(BOM, "")) !== null;

interface Found {
  root: Node;
  property: Node;
  value: Node;
  /** null: it is no command */
  command: Node | null;
}

function find(body: string): Found | null {
  const parsed = parseDocument(body);
  if (!parsed.ok || parsed.root.type !== "object") return null;
  const property = propertiesOf(parsed.root).findLast(({ key }) => key === KEY);
  if (!property) return null;
  const { value, node } = property;
  const command = value.type === "object" ? valueAt(value, "command") : undefined;
  return { root: parsed.root, property: node, value, command: command?.type === "string" ? command : null };
}

function rootOf(text: string): Node {
  const parsed = parseDocument(text);
  if (!parsed.ok) throw new Error(`${parsed.why} at line ${parsed.at.line}`);
  return parsed.root;
}

const replaced = (text: string, node: Node, value: string) =>
  node.value === value ? text : spliced(text, node, JSON.stringify(value));
const spliced = (text: string, node: Node, piece: string) =>
  text.slice(0, node.offset) + piece + text.slice(endOf(node));
