/** YAML nodes + shapes → plain values. Every problem is collected; what is well formed is kept for the later checks. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { type Problem, problemAt, quote, suggest } from "./problem.ts";
import type { Rule } from "./rules.ts";
import type { RecordShape, Shape } from "./schema/shape.ts";
import { type PromptReader, readTemplate } from "./template.ts";

const MAX_ALIASES = 64;
/** nobody reads more, and a hostile file must not cost more */
const MAX_PROBLEMS = 100;

export interface Reading {
  file: string;
  text: string;
  document: Document;
  readPrompt: PromptReader;
  problems: Problem[];
  /** path → offset of the value; `path@key` → offset of the key */
  places: Map<string, number>;
  aliases: number;
  /** something structural is missing, so that proofs about the whole would only repeat it */
  broken: boolean;
}

export function report(reading: Reading, offset: number, message: string, hint: string): void {
  if (reading.problems.length >= MAX_PROBLEMS) return;
  reading.problems.push(problemAt(reading.file, reading.text, offset, message, hint));
}

export function reportAt(reading: Reading, path: string, message: string, hint: string): void {
  report(reading, reading.places.get(path) ?? 0, message, hint);
}

export function readShape(reading: Reading, raw: unknown, shape: Shape, path: string, fallback: number): unknown {
  const offset = offsetOf(raw) ?? fallback;
  reading.places.set(path, offset);
  const node = resolve(reading, raw, offset);
  if (node === undefined) return undefined;
  switch (shape.kind) {
    case "record":
      return isMap(node) ? readRecord(reading, node, shape, path, offset) : mismatch(reading, node, shape, offset);
    case "map":
      return isMap(node) ? readMap(reading, node, shape, path, offset) : mismatch(reading, node, shape, offset);
    case "list":
      return isSeq(node) ? readList(reading, node, shape, path, offset) : mismatch(reading, node, shape, offset);
    case "off-or":
      if (!isScalar(node)) return readShape(reading, node, shape.of, path, offset);
      if (node.value === "off" || (shape.on && node.value === "on")) return node.value;
      return mismatch(reading, node, shape, offset);
    default:
      return readScalar(reading, node, shape, offset);
  }
}

function resolve(reading: Reading, raw: unknown, offset: number): unknown {
  if (!isAlias(raw)) return raw ?? null;
  reading.aliases += 1;
  const target = reading.aliases <= MAX_ALIASES ? raw.resolve(reading.document) : undefined;
  if (target) return target;
  reading.broken = true;
  const tooMany = reading.aliases > MAX_ALIASES;
  if (tooMany && reading.aliases > MAX_ALIASES + 1) return undefined;
  const message = tooMany ? `more than ${MAX_ALIASES} aliases` : `nothing is anchored as ${quote(`&${raw.source}`)}`;
  report(reading, offset, message, "write the value out in place");
  return undefined;
}

function readScalar(reading: Reading, node: unknown, shape: Shape, offset: number): unknown {
  const value = isScalar(node) ? node.value : undefined;
  if (shape.kind === "text" && typeof value === "string") return readText(reading, node as Node, value, shape, offset);
  if (shape.kind === "word" && typeof value === "string") return readWord(reading, value, shape.values, offset);
  if (shape.kind === "true" && value === true) return true;
  if (shape.kind === "integer" && isWhole(value, shape.min, shape.max)) return value;
  if (shape.kind === "integer" && shape.or !== undefined && value === shape.or) return value;
  if (shape.kind === "number" && isWithin(value, shape.min, shape.max)) return value;
  return mismatch(reading, node, shape, offset);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return Number.isFinite(value) && (value as number) >= min && (value as number) <= max;
}

const isWhole = (value: unknown, min: number, max: number) => Number.isInteger(value) && isWithin(value, min, max);

/** A badly formed text is reported and kept: what refers to it must not look wrong as well. */
function readText(
  reading: Reading,
  node: Node,
  value: string,
  shape: Extract<Shape, { kind: "text" }>,
  offset: number,
): string {
  const fits = !shape.rule || checkRule(reading, value, shape.rule, offset);
  if (!fits || !shape.role) return value;
  const end = node.range?.[1] ?? offset;
  const place = { file: reading.file, text: reading.text, offset, end };
  return readTemplate(value, shape.role, place, reading.readPrompt, reading.problems);
}

function checkRule(reading: Reading, value: string, rule: Rule, offset: number): boolean {
  const fits = new RegExp(rule.pattern).test(value);
  if (!fits) report(reading, offset, `${quote(value)} is not ${rule.what}`, rule.hint);
  return fits;
}

function readWord(reading: Reading, value: string, values: readonly string[], offset: number): unknown {
  if (values.includes(value)) return value;
  reading.broken = true;
  report(reading, offset, `${quote(value)} is not known here`, suggest(value, values, "known values"));
  return undefined;
}

function readList(
  reading: Reading,
  node: YAMLSeq,
  shape: Extract<Shape, { kind: "list" }>,
  path: string,
  offset: number,
): unknown[] {
  if (node.items.length < shape.min) tooFew(reading, path, offset);
  return node.items.map((item, index) => readShape(reading, item, shape.of, `${path}/${index}`, offset));
}

function readMap(
  reading: Reading,
  node: YAMLMap,
  shape: Extract<Shape, { kind: "map" }>,
  path: string,
  offset: number,
): object {
  if (node.items.length < shape.min) tooFew(reading, path, offset);
  const entries = node.items.map((pair) => {
    const key = keyOf(reading, pair, path, offset);
    checkRule(reading, key.text, shape.key, key.offset);
    return [key.text, readShape(reading, pair.value, shape.of, `${path}/${key.text}`, key.offset)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function tooFew(reading: Reading, path: string, offset: number): void {
  reading.broken = true;
  report(reading, offset, `${quote(lastOf(path))} is empty`, "put at least one entry there, or leave the key out");
}

function readRecord(reading: Reading, node: YAMLMap, shape: RecordShape, path: string, offset: number): object {
  const entries: [string, unknown][] = [];
  const known = Object.keys(shape.fields);
  for (const pair of node.items) {
    const key = keyOf(reading, pair, path, offset);
    const field = Object.hasOwn(shape.fields, key.text) ? shape.fields[key.text] : undefined;
    if (field) {
      entries.push([key.text, readShape(reading, pair.value, field.shape, inside(path, key.text), key.offset)]);
    } else unknownKey(reading, key, known);
  }
  const present = node.items.map((pair) => keyText(pair));
  checkRequired(reading, shape, present, path, offset);
  checkOneOf(reading, shape, present, path, offset);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** What only the person's own file may say. */
const PERSONS: Record<string, string> = {
  notify: "notifications are set in ~/.config/pawl/config.yaml, never from a repository's file",
};

function unknownKey(reading: Reading, key: { text: string; offset: number }, known: readonly string[]): void {
  reading.broken = true;
  const hint = Object.hasOwn(PERSONS, key.text) ? PERSONS[key.text]! : suggest(key.text, known, "known keys");
  report(reading, key.offset, `unknown key ${quote(key.text)}`, hint);
}

function checkRequired(reading: Reading, shape: RecordShape, present: string[], path: string, offset: number): void {
  const missing = Object.keys(shape.fields).filter((key) => shape.fields[key]!.required && !present.includes(key));
  for (const key of missing) {
    reading.broken = true;
    const where = path ? ` in ${quote(path.replaceAll("/", "."))}` : "";
    report(reading, offset, `${quote(key)} is missing${where}`, `${key}: ${shape.fields[key]!.about}`);
  }
}

function checkOneOf(reading: Reading, shape: RecordShape, present: string[], path: string, offset: number): void {
  const verbs = shape.oneOf;
  const found = [...new Set(present.filter((key) => verbs?.includes(key)))];
  const misspelt = found.length === 0 && present.some((key) => !Object.hasOwn(shape.fields, key));
  if (!verbs || found.length === 1 || misspelt) return;
  reading.broken = true;
  const hint = `use exactly one of ${verbs.join(", ")}`;
  const second = found[1];
  if (!second) report(reading, offset, NONE_OF[shape.id ?? ""] ?? "this leads nowhere", hint);
  else report(reading, reading.places.get(`${inside(path, second)}@key`)!, `both ${found.join(" and ")}`, hint);
}

const NONE_OF: Record<string, string> = { gate: "this checks nothing", fragment: "this says nothing" };

function keyOf(reading: Reading, pair: Pair, path: string, fallback: number): { text: string; offset: number } {
  const text = keyText(pair);
  const offset = offsetOf(pair.key) ?? fallback;
  reading.places.set(`${inside(path, text)}@key`, offset);
  return { text, offset };
}

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value ?? "") : "";
}

function mismatch(reading: Reading, node: unknown, shape: Shape, offset: number): undefined {
  reading.broken = true;
  const needsQuotes = shape.kind === "text" && isScalar(node) && node.value !== null;
  const asList = shape.kind === "list" && isScalar(node) && typeof node.value === "string" ? listed(node.value) : "";
  const hint = needsQuotes ? "put it in quotes to make it text" : `write ${wanted(shape)} here${asList}`;
  report(reading, offset, `expected ${wanted(shape)}, found ${found(node)}`, hint);
  return undefined;
}

/** `npm test` where words are wanted one by one. */
const listed = (text: string) =>
  /^[\w@./:=+-]+( [\w@./:=+-]+)*$/.test(text) ? `: [${text.split(" ").join(", ")}]` : "";

function wanted(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "text";
    case "word":
      return `one of ${shape.values.join(", ")}`;
    case "integer":
      return `${shape.or === undefined ? "" : `${shape.or}, or `}a whole number from ${shape.min} to ${shape.max}`;
    case "number":
      return `a number from ${shape.min} to ${shape.max}`;
    case "true":
      return "true";
    case "list":
      return "a list";
    case "off-or":
      return `${shape.on ? "on, " : ""}off, or ${wanted(shape.of)}`;
    default:
      return "a mapping (key: value)";
  }
}

function found(node: unknown): string {
  if (isMap(node)) return "a mapping";
  if (isSeq(node)) return "a list";
  const value = isScalar(node) ? node.value : null;
  if (value === null || value === undefined) return "nothing";
  return typeof value === "string" ? `the text ${quote(value)}` : quote(String(value)).slice(1, -1);
}

function inside(path: string, key: string): string {
  return path ? `${path}/${key}` : key;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
