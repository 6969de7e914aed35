/** A settings file with our hooks, and without them again. Text in, text out. */
import type { Node } from "jsonc-parser";
import { EVENTS, entriesOf, groupFor, isOurs, type Scope, wrongEntry } from "./hooks.ts";
import {
  append,
  canonical,
  firstLeniency,
  parseDocument,
  positionOf,
  propertiesOf,
  removeChild,
  valueAt,
} from "./jsonc.ts";

export type Edited = { ok: true; text: string } | { ok: false; why: string };

const BOM = "\uFEFF";

/** `before`: null where there is no file yet. */
export function withHooks(before: string | null, scope: Scope): Edited {
  const text = before ?? "";
  const bom = text.startsWith(BOM) ? BOM : "";
  const body = text.slice(bom.length);
  if (body.trim() === "") return { ok: true, text: `${bom}${JSON.stringify(freshSettings(scope), null, 2)}\n` };
  const wrong = problemOf(body);
  if (wrong) return { ok: false, why: wrong };
  if (isComplete(rootOf(body), scope)) return { ok: true, text };
  const after = addAll(strip(body, body), scope);
  assertSound(body, after, scope);
  return { ok: true, text: bom + after };
}

/** `before`: what was there before us; containers that were there then stay, even if they are empty now. */
export function withoutHooks(text: string, before: string | null): Edited {
  const bom = text.startsWith(BOM) ? BOM : "";
  const body = text.slice(bom.length);
  if (body.trim() === "") return { ok: true, text };
  const wrong = problemOf(body, "ours only");
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

function rootOf(text: string): Node {
  const parsed = parseDocument(text);
  if (!parsed.ok) throw new Error(`${parsed.why} at line ${parsed.at.line}`);
  return parsed.root;
}

// ── What cannot be edited ───────────────────────────────────────────────────

function problemOf(text: string, how: "whole" | "ours only" = "whole"): string | null {
  const parsed = parseDocument(text);
  if (!parsed.ok) return at(parsed.at, parsed.why);
  const { root } = parsed;
  const say = (node: Node, why: string) => at(positionOf(text, node.offset), why);
  if (root.type !== "object") return say(root, "the settings are not an object");
  const hooks = propertiesOf(root).filter(({ key }) => key === "hooks");
  if (hooks.length > 1) return say(hooks[1]!.node, '"hooks" comes twice');
  const value = hooks[0]?.value;
  if (!value) return null;
  if (value.type !== "object") return say(value, '"hooks" is not an object');
  const twice = propertiesOf(value).find(({ key, node }) => valueOwner(value, key) !== node);
  if (twice) return say(twice.node, `"hooks" has ${twice.key} twice`);
  const wrong = how === "whole" ? wrongEntry(value) : null;
  return wrong && say(wrong.node, wrong.why);
}

const valueOwner = (object: Node, key: string) => propertiesOf(object).findLast((other) => other.key === key)?.node;
const at = ({ line, column }: { line: number; column: number }, why: string) =>
  `line ${line}, column ${column}: ${why}`;

// ── Adding ──────────────────────────────────────────────────────────────────

/** Each event calls us once, exactly as we would write it, and no other event does. */
function isComplete(root: Node, scope: Scope): boolean {
  const hooks = valueAt(root, "hooks");
  const ours = hooks ? propertiesOf(hooks).map(({ key, value }) => [key, ourGroups(value)] as const) : [];
  const called = ours.filter(([, groups]) => groups.length > 0);
  return called.length === EVENTS.length && called.every(([event, groups]) => isExact(event, groups, scope));
}

function isExact(event: string, groups: Node[], scope: Scope): boolean {
  if (!EVENTS.includes(event) || groups.length !== 1) return false;
  const mine = entriesOf(groups[0]!).filter(isOurs);
  const wanted = entriesOf(rootOf(JSON.stringify(groupFor(event, scope))));
  const same = mine.length === wanted.length && mine.every((entry, i) => canonical(entry) === canonical(wanted[i]!));
  return same && valueAt(groups[0]!, "matcher") === undefined;
}

const ourGroups = (event: Node) => (event.children ?? []).filter((group) => entriesOf(group).some(isOurs));

function addAll(text: string, scope: Scope): string {
  const root = rootOf(text);
  if (!valueAt(root, "hooks")) return append(text, root, root, { key: "hooks", value: freshSettings(scope).hooks });
  return EVENTS.reduce((sofar, event) => addOne(sofar, event, scope), text);
}

function addOne(text: string, event: string, scope: Scope): string {
  const root = rootOf(text);
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
  const root = rootOf(text);
  const hooks = root.type === "object" ? valueAt(root, "hooks") : undefined;
  if (hooks?.type !== "object") return null;
  const lists = propertiesOf(hooks).filter(({ value }) => value.type === "array" && ourGroups(value).length > 0);
  const [first] = lists;
  if (!first) return null;
  const had = keysBefore(before);
  const onlyOurs = ({ key, value }: { key: string; value: Node }) => !had.events.includes(key) && allOurs(value);
  if (!had.hooks && lists.length === hooks.children?.length && lists.every(onlyOurs))
    return removeChild(text, root, hooks.parent!);
  if (onlyOurs(first)) return removeChild(text, hooks, first.node);
  return stripGroup(text, first.value, ourGroups(first.value)[0]!);
}

function stripGroup(text: string, list: Node, group: Node): string {
  const entries = entriesOf(group);
  if (entries.every(isOurs)) return removeChild(text, list, group);
  return removeChild(text, valueAt(group, "hooks")!, entries.find(isOurs)!);
}

function keysBefore(before: string): { hooks: boolean; events: string[] } {
  const parsed = parseDocument(before);
  const root = parsed.ok && parsed.root.type === "object" ? parsed.root : null;
  const hooks = root ? valueAt(root, "hooks") : undefined;
  if (hooks?.type !== "object") return { hooks: false, events: [] };
  // An event that holds nothing but ours was ours before, too.
  const others = propertiesOf(hooks).filter(({ value }) => ourGroups(value).length === 0 || !allOurs(value));
  return { hooks: others.length > 0 || hooks.children?.length === 0, events: others.map(({ key }) => key) };
}

const allOurs = (list: Node) =>
  (list.children ?? []).every((group) => entriesOf(group).length > 0 && entriesOf(group).every(isOurs));

// ── Proof ───────────────────────────────────────────────────────────────────

/** Reads back what was made: valid, complete, and nothing else means anything else. */
function assertSound(before: string, after: string, scope: Scope): void {
  const problem = problemOf(after);
  const same = () => canonical(rootOf(strip(after, before))) === canonical(rootOf(strip(before, before)));
  if (problem === null && isComplete(rootOf(after), scope) && same()) return;
  throw new Error(`the settings would not be what they should (${problem ?? "something else would change"})`);
}
