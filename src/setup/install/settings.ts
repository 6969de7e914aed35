/** A settings file with our hooks and our status line, and without them again. Text in, text out. */
import type { Node } from "jsonc-parser";
import { isObject, parseJson } from "../../store/files.ts";
import { BINARY, EVENTS, groupFor, guarded, hookEntries, isOurs, PROGRAM, type Scope, wrongEntry } from "./hooks.ts";
import {
  append,
  BOM,
  canonical,
  endIndex,
  findPosition,
  firstLeniency,
  listProperties,
  parseDocument,
  parseRoot,
  removeChild,
  splitBom,
  valueAt,
} from "./jsonc.ts";

export type SettingsEdit = { ok: true; text: string } | { ok: false; why: string };

/** `before`: null where there is no file yet. */
export function withHooks(before: string | null, scope: Scope): SettingsEdit {
  const [bom, body] = splitBom(before ?? "");
  if (body.trim() === "") return { ok: true, text: `${bom}${JSON.stringify(freshSettings(scope), null, 2)}\n` };
  const wrong = findProblem(body);
  if (wrong) return { ok: false, why: wrong };
  if (isComplete(parseRoot(body), scope)) return { ok: true, text: bom + body };
  const after = addAll(strip(body, body), scope);
  assertSound(body, after, scope);
  return { ok: true, text: bom + after };
}

/** `before`: what was there before us; containers that were there then stay, even if they are empty now. */
export function withoutHooks(text: string, before: string | null): SettingsEdit {
  const [bom, body] = splitBom(text);
  if (body.trim() === "") return { ok: true, text };
  const wrong = findProblem(body, "ours only");
  return wrong ? { ok: false, why: wrong } : { ok: true, text: bom + strip(body, (before ?? "").replace(BOM, "")) };
}

/** The host reads strict JSON: with a comment in it, the whole file means nothing to it. */
export function ignoredByHost(text: string): string | null {
  const found = firstLeniency(text.replace(BOM, ""));
  return found && `line ${found.at.line}, column ${found.at.column}: ${found.why}`;
}

export const isEmptySettings = (text: string) => /^\uFEFF?\s*(\{\s*\}\s*)?$/.test(text);

function freshSettings(scope: Scope) {
  return { hooks: Object.fromEntries(EVENTS.map((event) => [event, [groupFor(event, scope)]])) };
}

// ── What cannot be edited ───────────────────────────────────────────────────

function findProblem(text: string, how: "whole" | "ours only" = "whole"): string | null {
  const parsed = parseDocument(text);
  if (!parsed.ok) return at(parsed.at, parsed.why);
  const { root } = parsed;
  const say = (node: Node, why: string) => at(findPosition(text, node.offset), why);
  if (root.type !== "object") return say(root, "the settings are not an object");
  const hooks = listProperties(root).filter(({ key }) => key === "hooks");
  if (hooks.length > 1) return say(hooks[1]!.node, '"hooks" comes twice');
  const value = hooks[0]?.value;
  if (!value) return null;
  if (value.type !== "object") return say(value, '"hooks" is not an object');
  const twice = listProperties(value).find(({ key, node }) => valueOwner(value, key) !== node);
  if (twice) return say(twice.node, `"hooks" has ${twice.key} twice`);
  const wrong = how === "whole" ? wrongEntry(value) : null;
  return wrong && say(wrong.node, `${wrong.why}; Claude Code may drop all hooks of such a file`);
}

const valueOwner = (object: Node, key: string) => listProperties(object).findLast((other) => other.key === key)?.node;
const at = ({ line, column }: { line: number; column: number }, why: string) =>
  `line ${line}, column ${column}: ${why}`;

// ── Adding ──────────────────────────────────────────────────────────────────

/** Each event calls us once, exactly as we would write it, and no other event does. */
function isComplete(root: Node, scope: Scope): boolean {
  const hooks = valueAt(root, "hooks");
  const ours = hooks ? listProperties(hooks).map(({ key, value }) => [key, ourGroups(value)] as const) : [];
  const called = ours.filter(([, groups]) => groups.length > 0);
  return called.length === EVENTS.length && called.every(([event, groups]) => isExact(event, groups, scope));
}

function isExact(event: string, groups: Node[], scope: Scope): boolean {
  if (!EVENTS.includes(event) || groups.length !== 1) return false;
  const mine = hookEntries(groups[0]!).filter(isOurs);
  const wanted = hookEntries(parseRoot(JSON.stringify(groupFor(event, scope))));
  const same = mine.length === wanted.length && mine.every((entry, i) => canonical(entry) === canonical(wanted[i]!));
  return same && valueAt(groups[0]!, "matcher") === undefined;
}

const ourGroups = (event: Node) => (event.children ?? []).filter((group) => hookEntries(group).some(isOurs));

function addAll(text: string, scope: Scope): string {
  const root = parseRoot(text);
  if (!valueAt(root, "hooks")) return append(text, root, root, { key: "hooks", value: freshSettings(scope).hooks });
  return EVENTS.reduce((sofar, event) => addOne(sofar, event, scope), text);
}

function addOne(text: string, event: string, scope: Scope): string {
  const root = parseRoot(text);
  const hooks = valueAt(root, "hooks")!;
  const list = valueAt(hooks, event);
  const value = groupFor(event, scope);
  return list ? append(text, root, list, { value }) : append(text, root, hooks, { key: event, value: [value] });
}

// ── Removing ────────────────────────────────────────────────────────────────

function strip(text: string, before: string): string {
  let left = text;
  for (let next = stripOne(left, before); next !== null; next = stripOne(left, before)) left = next;
  return left;
}

/** Takes one thing of ours away, the largest that is nothing but ours; null: there is none left. */
function stripOne(text: string, before: string): string | null {
  const root = parseRoot(text);
  const hooks = root.type === "object" ? valueAt(root, "hooks") : undefined;
  if (hooks?.type !== "object") return null;
  const lists = listProperties(hooks).filter(({ value }) => value.type === "array" && ourGroups(value).length > 0);
  const [first] = lists;
  if (!first) return null;
  const had = keysBefore(before);
  const onlyOurs = ({ key, value }: { key: string; value: Node }) => !had.events.includes(key) && allOurs(value);
  if (!had.hooks && lists.length === hooks.children?.length && lists.every(onlyOurs))
    return removeChild(text, root, hooks.parent!);
  if (onlyOurs(first)) return removeChild(text, hooks, first.node);
  const group = ourGroups(first.value)[0]!;
  const entries = hookEntries(group);
  if (entries.every(isOurs)) return removeChild(text, first.value, group);
  return removeChild(text, valueAt(group, "hooks")!, entries.find(isOurs)!);
}

function keysBefore(before: string): { hooks: boolean; events: string[] } {
  const parsed = parseDocument(before);
  const root = parsed.ok && parsed.root.type === "object" ? parsed.root : null;
  const hooks = root ? valueAt(root, "hooks") : undefined;
  if (hooks?.type !== "object") return { hooks: false, events: [] };
  // An event that holds nothing but ours was ours before, too.
  const others = listProperties(hooks).filter(({ value }) => ourGroups(value).length === 0 || !allOurs(value));
  return { hooks: others.length > 0 || hooks.children?.length === 0, events: others.map(({ key }) => key) };
}

const allOurs = (list: Node) =>
  (list.children ?? []).every((group) => hookEntries(group).length > 0 && hookEntries(group).every(isOurs));

// ── Proof ───────────────────────────────────────────────────────────────────

/** Reads back what was made: valid, complete, and nothing else means anything else. */
function assertSound(before: string, after: string, scope: Scope): void {
  const problem = findProblem(after);
  const same = () => canonical(parseRoot(strip(after, before))) === canonical(parseRoot(strip(before, before)));
  if (problem === null && isComplete(parseRoot(after), scope) && same()) return;
  throw new Error(`the settings would not be what they should (${problem ?? "something else would change"})`);
}

// ── The status line: the host has room for one, so ours shows the person's own first, and gives it back ─

const KEY = "statusLine";

interface WrappedCommand {
  command: string;
  /** the settings file it is in; null: it was where ours is now */
  from: string | null;
}

/** A status line in another settings file, which ours would hide. */
export interface OtherStatusLine extends WrappedCommand {
  /** its other fields, as padding */
  rest: Record<string, unknown>;
}

// ── The command ─────────────────────────────────────────────────────────────

const FROM = " # runs that of ";

/** Without Pawl the person's own line is shown, in its own folder; else Pawl runs it. */
export function statusCommand(wrapped: WrappedCommand | null): string {
  if (wrapped === null) return guarded("statusline");
  const from = wrapped.from === null ? "" : FROM + wrapped.from;
  return (
    `w=${quoted(wrapped.command)}; p="${BINARY}"; [ -x "$p" ] || exec /bin/sh -c "$w"; ` +
    `[ -d "$PWD" ] || cd /; unset BUN_OPTIONS BUN_BE_BUN; exec "$p" statusline --wrap "$w"${from}`
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export const isOurLine = (command: string) => command.includes(PROGRAM) && / statusline\b/.test(command);

/** What ours runs; null: nothing. undefined: it was edited so that this cannot be told. */
function wrappedIn(command: string): WrappedCommand | null | undefined {
  if (!/ --wrap\b/.test(command)) return null;
  const found = /^w='((?:[^']|'\\'')*)'; (.*)$/s.exec(command);
  if (!found) return undefined;
  const from = / # runs that of (\S+)$/.exec(found[2]!)?.[1] ?? null;
  return { command: found[1]!.replaceAll(`'\\''`, "'"), from };
}

/** As the host understands that file. */
export function lineIn(text: string | null, from: string): OtherStatusLine | null {
  const settings = parseJson((text ?? "").replace(BOM, ""));
  const line = isObject(settings) ? settings[KEY] : undefined;
  if (!isObject(line) || typeof line.command !== "string") return null;
  const { type: _type, command, ...rest } = line;
  return { command, rest, from };
}

// ── In a settings file ──────────────────────────────────────────────────────

export type StatusLineEdit = { text: string; note?: string };

/** `text`: settings that can be edited. */
export function withStatusLine(text: string, elsewhere: OtherStatusLine | null): StatusLineEdit {
  return inBody(text, (body) => {
    const found = find(body);
    if (found === null)
      return { text: append(body, parseRoot(body), parseRoot(body), { key: KEY, value: fresh(elsewhere) }) };
    if (found.command === null) return { text: body, note: "its statusLine is not a command: unchanged" };
    const command = found.command.value as string;
    if (!isOurLine(command) && /\bpawl\b.*\bstatusline\b/s.test(command))
      return { text: body, note: "its statusLine calls `pawl statusline` itself: unchanged" };
    const wrapped = isOurLine(command) ? wrappedIn(command) : { command, from: null };
    if (wrapped === undefined) return { text: body, note: "its statusLine calls Pawl in your own way: unchanged" };
    if (wrapped?.from === null) return { text: refreshed(replaced(body, found.command, statusCommand(wrapped))) };
    if (canonical(found.value) === canonical(parseRoot(JSON.stringify(fresh(elsewhere))))) return { text: body };
    return withStatusLine(removeChild(body, found.root, found.property), elsewhere);
  });
}

/** `before`: what was there before us, for the person's own way of writing. */
export function withoutStatusLine(text: string, before: string | null): StatusLineEdit {
  return inBody(text, (body) => {
    const found = find(body);
    const original = (before ?? "").replace(BOM, "");
    const old = find(original);
    const command = found?.command?.value as string | undefined;
    if (!found?.command || command === undefined || !isOurLine(command)) {
      const changed = found !== null && (old === null || canonical(found.value) !== canonical(old.value));
      const text = changed && found.command && old?.command ? unrefreshed(body, old) : body;
      return { text, ...(changed && { note: "its statusLine was changed since: unchanged" }) };
    }
    const wrapped = wrappedIn(command);
    if (wrapped === undefined)
      return { text: body, note: "its statusLine was edited since: take Pawl out of it by hand" };
    if (wrapped === null || wrapped.from !== null) return { text: removeChild(body, found.root, found.property) };
    if (old?.command?.value === wrapped.command)
      return {
        text: unrefreshed(spliced(body, found.command, original.slice(old.command.offset, endIndex(old.command))), old),
      };
    const text = unrefreshed(replaced(body, found.command, wrapped.command), old);
    const note = "the command below Pawl's status line was changed since: kept as it is now";
    return old?.command && !isOurLine(old.command.value as string) ? { text, note } : { text };
  });
}

function inBody(text: string, edit: (body: string) => StatusLineEdit): StatusLineEdit {
  const [bom, body] = splitBom(text);
  const edited = edit(body);
  return { ...edited, text: bom + edited.text };
}

/** In seconds: without it the client asks again only when something happens in the session. */
const REFRESH = { key: "refreshInterval", value: 5 };

function fresh(elsewhere: OtherStatusLine | null) {
  return { type: "command", command: statusCommand(elsewhere), [REFRESH.key]: REFRESH.value, ...elsewhere?.rest };
}

/** The person's own interval stays. */
function refreshed(body: string): string {
  const { root, value } = find(body)!;
  return valueAt(value, REFRESH.key) ? body : append(body, root, value, REFRESH);
}

function unrefreshed(body: string, old: ReturnType<typeof find>): string {
  const { value } = find(body)!;
  const found = valueAt(value, REFRESH.key);
  const wasThere = old?.command && !isOurLine(old.command.value) && valueAt(old.value, REFRESH.key);
  return found?.value === REFRESH.value && !wasThere ? removeChild(body, value, found.parent!) : body;
}

export const hasStatusLine = (text: string) => find(text.replace(BOM, "")) !== null;

/** `command` is null where the line is none. */
function find(body: string) {
  const parsed = parseDocument(body);
  if (!parsed.ok || parsed.root.type !== "object") return null;
  const property = listProperties(parsed.root).findLast(({ key }) => key === KEY);
  if (!property) return null;
  const { value, node } = property;
  const command = value.type === "object" ? valueAt(value, "command") : undefined;
  return { root: parsed.root, property: node, value, command: command?.type === "string" ? command : null };
}

const replaced = (text: string, node: Node, value: string) =>
  node.value === value ? text : spliced(text, node, JSON.stringify(value));
const spliced = (text: string, node: Node, piece: string) =>
  text.slice(0, node.offset) + piece + text.slice(endIndex(node));
