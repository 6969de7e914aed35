/** YAML nodes → plain values, checked by their shape. Every problem is collected; what fits is kept for later checks. */
import { type GenericIssue, safeParse } from "valibot";
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import { type Problem, problemAt, quote } from "./problem.ts";
import type { Shape } from "./schema/words.ts";
import type { PromptReader } from "./template.ts";

const MAX_ALIASES = 64;
/** no one reads more, and a hostile file must not cost more */
const MAX_PROBLEMS = 100;

export interface Reading {
  file: string;
  text: string;
  document: Document;
  readPrompt: PromptReader;
  problems: Problem[];
  /** path → where the value begins and ends; `path@key` → where the key begins */
  places: Map<string, { offset: number; end: number }>;
  /** paths of values that were refused or could not be resolved */
  refused: Set<string>;
  /** paths of texts that break their rule and are kept nevertheless */
  badTexts: Set<string>;
  aliases: number;
  /** something structural is missing, so that proofs about the whole would only repeat it */
  broken: boolean;
}

/** What was read, where any part may be missing: each such gap is already a problem. */
export type Draft<T> = T extends (infer One)[]
  ? (Draft<One> | undefined)[]
  : T extends object
    ? string extends keyof T
      ? Record<string, Draft<T[keyof T]>>
      : { [K in keyof T]?: Draft<T[K]> }
    : T;

export function report(reading: Reading, offset: number, message: string, hint: string): void {
  if (reading.problems.length >= MAX_PROBLEMS) return;
  reading.problems.push(problemAt(reading.file, reading.text, offset, message, hint));
}

export function reportAt(reading: Reading, path: string, message: string, hint: string): void {
  report(reading, reading.places.get(path)?.offset ?? 0, message, hint);
}

/** undefined: it is not even a mapping. */
export function readShape<T>(reading: Reading, node: unknown, shape: Shape<T>): Draft<T> | undefined {
  const result = safeParse(shape, toValue(reading, node, "", 0));
  for (const issue of (result.issues ?? []).flatMap((one) => inner(one))) refuse(reading, issue);
  if (reading.refused.has("")) return undefined;
  const draft = result.output as Draft<T>;
  for (const path of reading.refused) remove(draft, path);
  return draft;
}

// ── YAML → values ────────────────────────────────────────────────────────────────────────────────────────────────

/** Names that no object of JavaScript can hold safely. */
const FORBIDDEN = ["__proto__", "constructor", "prototype"];

function toValue(reading: Reading, raw: unknown, path: string, fallback: number): unknown {
  const range = (raw as Node | null | undefined)?.range;
  const offset = range?.[0] ?? fallback;
  reading.places.set(path, { offset, end: range?.[1] ?? offset });
  const node = isAlias(raw) ? resolve(reading, raw, offset) : raw;
  if (node === undefined && isAlias(raw)) {
    reading.refused.add(path);
    return null;
  }
  if (isSeq(node)) return node.items.map((item, index) => toValue(reading, item, inside(path, String(index)), offset));
  if (isMap(node)) return Object.fromEntries(node.items.flatMap((pair) => readEntry(reading, pair, path, offset)));
  return isScalar(node) ? (node.value ?? null) : null;
}

function readEntry(reading: Reading, pair: Pair, path: string, fallback: number): [string, unknown][] {
  const key = isScalar(pair.key) ? String(pair.key.value ?? "") : "";
  const at = inside(path, key);
  const offset = (pair.key as Node | null)?.range?.[0] ?? fallback;
  reading.places.set(`${at}@key`, { offset, end: offset });
  if (!FORBIDDEN.includes(key)) return [[key, toValue(reading, pair.value, at, offset)]];
  reading.broken = true;
  report(reading, offset, `unknown key ${quote(key)}`, "no key can have this name");
  return [];
}

function resolve(reading: Reading, raw: { source: string; resolve(doc: Document): unknown }, offset: number): unknown {
  reading.aliases += 1;
  const tooMany = reading.aliases > MAX_ALIASES;
  const target = tooMany ? undefined : raw.resolve(reading.document);
  if (target) return target;
  reading.broken = true;
  if (reading.aliases > MAX_ALIASES + 1) return undefined;
  const message = tooMany ? `more than ${MAX_ALIASES} aliases` : `nothing is anchored as ${quote(`&${raw.source}`)}`;
  report(reading, offset, message, "write the value out in place");
  return undefined;
}

const inside = (path: string, key: string) => (path ? `${path}/${key}` : key);

// ── Issues → problems ────────────────────────────────────────────────────────────────────────────────────────────

/** Of alternatives, the one that was meant: a mapping is wrong where its parts are. */
function inner(issue: GenericIssue): GenericIssue[] {
  if (issue.type !== "union" || typeof issue.input !== "object" || issue.input === null) return [issue];
  const parts = (issue.issues ?? []).filter((part) => part.type !== "literal");
  return parts.map((part) => ({ ...part, path: [...(issue.path ?? []), ...(part.path ?? [])] }) as GenericIssue);
}

function refuse(reading: Reading, issue: GenericIssue): void {
  const keys = (issue.path ?? []).map(({ key }) => String(key));
  const path = keys.join("/");
  if (reading.refused.has(path) && issue.kind === "schema") return;
  const isKey = issue.path?.at(-1)?.origin === "key";
  const isMissing = isKey && issue.kind === "schema";
  const above = keys.slice(0, -1);
  const [message = "", hint = ""] = issue.message.split("\n", 2);
  const where = above.length > 0 ? ` in ${quote(above.join("."))}` : "";
  const filled = message.replace("{key}", quote(keys.at(-1) ?? "")).replace("{in}", where);
  const place = isMissing ? above.join("/") : isKey ? `${path}@key` : path;
  reportAt(reading, place, filled, hint);
  // A badly written text is kept: what refers to it must not look wrong as well.
  if (issue.type !== "regex") reading.broken = true;
  if (!isKey && (issue.kind === "schema" || NUMBERS.has(issue.type))) reading.refused.add(path);
  if (issue.type === "regex" && !isKey) reading.badTexts.add(path);
}

const NUMBERS = new Set(["integer", "min_value", "max_value"]);

/** Keys are looked for in the path, which is not split: a key may have a slash in it. */
function remove(value: unknown, path: string): void {
  if (typeof value !== "object" || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) {
    if (path.startsWith(`${key}/`)) remove(holder[key], path.slice(key.length + 1));
    if (path !== key) continue;
    if (Array.isArray(value)) holder[key] = undefined;
    else delete holder[key];
  }
}
