/**
 * The words that file formats are declared with. One declaration gives the type, the check and the JSON Schema, so what
 * an editor underlines and what `pawl check` refuses is the same thing. Cold path: this loads valibot.
 */
import * as v from "valibot";
import type { Json } from "../../kernel/types/run.ts";
import { quote, suggest } from "../problem.ts";

export interface Rule {
  /** regular expression source, valid in JSON Schema too (no flags) */
  pattern: string;
  what: string;
  hint: string;
}

export const FILLED: Rule = { pattern: "\\S", what: "a text", hint: "write something here, or leave the key out" };

export type Shape<T> = v.GenericSchema<unknown, T>;
type Entry<T> = v.ExactOptionalSchema<Shape<T>, undefined>;

export const NAME: Rule = {
  pattern: "^[a-z][a-z0-9-]{0,47}$",
  what: "a name",
  hint: "use lower-case letters, digits and dashes, beginning with a letter, at most 48",
};
export const KEY: Rule = {
  pattern: "^[a-z][a-z0-9_]{0,47}$",
  what: "a key",
  hint: "use lower-case letters, digits and underscores, beginning with a letter, at most 48",
};
export const SIGNAL: Rule = {
  pattern: "^[A-Z][A-Z0-9_]{1,63}$",
  what: "a signal name",
  hint: "use capital letters, digits and underscores, beginning with a letter, 2 to 64",
};
const LINE: Rule = {
  pattern: "^[^\\r\\n]*\\S[^\\r\\n]*$",
  what: "one line of text",
  hint: "write it without line breaks",
};
const INSIDE: Rule = {
  pattern: "^(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000-\\u001f]*[^\\\\\\u0000-\\u001f/]$",
  what: "a relative path inside the project",
  hint: 'no leading or trailing "/", no ".." parts',
};
const GLOB: Rule = {
  pattern: "^!?(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000-\\u001f]+$",
  what: "a glob inside the project",
  hint: 'such as "src/**" or "packages/*/test"; no leading "/", no ".."',
};
const ARGUMENT: Rule = {
  pattern: "^[^\\u0000]*$",
  what: "one argument of a command",
  hint: "write each argument as an entry of its own",
};
const GATE_LINE: Rule = { ...LINE, pattern: "^[^\\r\\n\\u0000]*\\S[^\\r\\n\\u0000]*$" };

// ── What is said when a value does not fit: a line for what, a line for the hint ─────────────────────────────────

const mismatch = (wanted: string) => (issue: { input: unknown }) => {
  const { input } = issue;
  const needsQuotes = wanted === "text" && input !== null && typeof input !== "object";
  const asList = wanted === "a list" && typeof input === "string" ? listed(input) : "";
  const hint = needsQuotes ? "put it in quotes to make it text" : `write ${wanted} here${asList}`;
  return `expected ${wanted}, found ${found(input)}\n${hint}`;
};

/** `npm test` where words are wanted one by one. */
const listed = (text: string) =>
  /^[\w@./:=+-]+( [\w@./:=+-]+)*$/.test(text) ? `: [${text.split(" ").join(", ")}]` : "";

function found(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "a mapping";
  return typeof value === "string" ? `the text ${quote(value)}` : quote(String(value)).slice(1, -1);
}

/** {key} and {in} are filled in by the reader, which knows the place. */
export const EMPTY = "{key} is empty\nput at least one entry there, or leave the key out";
export const MISSING = "{key} is missing{in}\n";

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** How each kind of word is written, by what it is called: for the reference. */
export const RULES = new Map<string, string>();

export function text(rule?: Rule): Shape<string> {
  const plain = v.string(mismatch("text"));
  if (!rule) return plain;
  RULES.set(rule.what, rule.hint);
  const refuse = ({ input }: { input: string }) => `${quote(input)} is not ${rule.what}\n${rule.hint}`;
  return v.pipe(plain, v.regex(new RegExp(rule.pattern), refuse), v.title(rule.what));
}

export function word<const W extends string>(...values: W[]): Shape<W> {
  const wrong = mismatch(`one of ${values.join(", ")}`);
  return v.picklist(values, (issue) =>
    typeof issue.input === "string"
      ? `${quote(issue.input)} is not known here\n${suggest(issue.input, values, "known values")}`
      : wrong(issue),
  );
}

export function number(min: number, max: number): Shape<number> {
  const wrong = mismatch(`a number from ${min} to ${max}`);
  return v.pipe(v.number(wrong), v.minValue(min, wrong), v.maxValue(max, wrong));
}

const whole = (min: number, max: number) => `a whole number from ${min} to ${max}`;

export function integer(min: number, max: number, wanted = whole(min, max)): Shape<number> {
  const wrong = mismatch(wanted);
  return v.pipe(v.number(wrong), v.integer(wrong), v.minValue(min, wrong), v.maxValue(max, wrong));
}

/** A word, or a whole number in its place. */
export function integerOr<const W extends string>(other: W, min: number, max: number): Shape<number | W> {
  const wrong = mismatch(`${other}, or ${whole(min, max)}`);
  return v.union([v.literal(other, wrong), integer(min, max, `${other}, or ${whole(min, max)}`)], wrong);
}

export const yes: Shape<true> = v.literal(true, mismatch("true"));

/** Older files have it in quotes. */
export const flag: Shape<boolean> = flagOr<never>();

/** true, false, or one of these words. */
export function flagOr<W extends string>(...words: W[]): Shape<boolean | W> {
  const what = ["true", "false", ...words].join(" or ").replace(/ or (?=.* or )/g, ", ");
  return v.pipe(
    v.union([v.boolean(), v.picklist(["true", "false", ...words])], mismatch(what)),
    v.transform((given) => (words.includes(given as W) ? (given as W) : given === true || given === "true")),
  ) as Shape<boolean | W>;
}

export function list<T>(of: Shape<T>, min = 1): Shape<T[]> {
  const any = v.array(of, mismatch("a list"));
  return min > 0 ? v.pipe(any, v.minLength(min, EMPTY)) : any;
}

const MAPPING = "a mapping (key: value)";

export function map<T>(key: Rule, of: Shape<T>, min = 1): Shape<Record<string, T>> {
  const any = noList(v.record(text(key) as Shape<string> & v.GenericSchema<string, string>, of, mismatch(MAPPING)));
  return min > 0 ? v.pipe(any, v.minEntries(min, EMPTY)) : any;
}

/** Some words, or what is said in more detail. */
export function wordOr<const W extends string, T>(words: W[], of: Shape<T>): Shape<W | T> {
  const wrong = mismatch(`${words.join(", ")}, or ${MAPPING}`);
  return v.union([...words.map((one) => v.literal(one, wrong)), of], wrong) as Shape<W | T>;
}

/** Valibot takes a list for an object, and reports one unknown key only. */
function noList<S extends v.GenericSchema>(shape: S): S {
  const run = shape["~run"].bind(shape);
  return {
    ...shape,
    "~run": (dataset: { value: unknown }, config: never) => {
      if (!Array.isArray(dataset.value)) return run(dataset as never, config);
      const issue = { ...shape, input: dataset.value } as never;
      const message = (shape as unknown as { message(one: unknown): string }).message(issue);
      const input = dataset.value;
      return { typed: false, value: input, issues: [{ kind: "schema", type: shape.type, input, message }] };
    },
  } as S;
}

interface RecordOptions {
  /** exactly one of these keys must be there */
  oneOf?: readonly string[];
  /** what is said where none of them is */
  none?: string;
}

export function record<E extends v.ObjectEntries>(
  entries: E,
  { oneOf, none = "this leads nowhere" }: RecordOptions = {},
): Shape<v.InferOutput<v.ObjectSchema<E, undefined>>> & { entries: E } {
  const wrong = mismatch(MAPPING);
  const shape = noList(
    v.looseObject(entries, (issue) => {
      const missing = issue.path?.at(-1)?.key as string | undefined;
      return missing === undefined ? wrong(issue) : `${MISSING}${missing}: ${buildAbout(entries[missing])}`;
    }),
  );
  const keys = v.rawCheck<object>(({ dataset, addIssue }) => {
    if (typeof dataset.value !== "object" || dataset.value === null || Array.isArray(dataset.value)) return;
    const present = Object.keys(dataset.value);
    const unknown = present.filter((key) => !Object.hasOwn(entries, key));
    const at = (key: string) => [{ type: "object", origin: "key", input: {}, key, value: null }] as const;
    for (const key of unknown)
      addIssue({
        message: `unknown key ${quote(key)}\n${unknownHint(key, Object.keys(entries))}`,
        path: at(key) as never,
      });
    const verbs = present.filter((key) => oneOf?.includes(key));
    if (!oneOf || verbs.length === 1 || (verbs.length === 0 && unknown.length > 0)) return;
    const hint = `use exactly one of ${oneOf.join(", ")}`;
    if (verbs[1] === undefined) addIssue({ message: `${none}\n${hint}` });
    else addIssue({ message: `both ${verbs.join(" and ")}\n${hint}`, path: at(verbs[1]) as never });
  });
  const inSchema = { additionalProperties: false, ...(oneOf && { oneOf: oneOf.map((key) => ({ required: [key] })) }) };
  return Object.assign(v.pipe(shape as unknown as Shape<object>, keys, v.metadata(inSchema)), { entries }) as never;
}

/** What only the person's own file may say. */
const PERSONS: Record<string, string> = {
  notify: "notifications are set in ~/.config/pawl/config.yaml, never from a repository's file",
};
const unknownHint = (key: string, known: string[]) =>
  Object.hasOwn(PERSONS, key) ? PERSONS[key]! : suggest(key, known, "known keys");

const buildAbout = (entry: v.ObjectEntries[string] | undefined) =>
  (entry && v.getDescription(entry as v.GenericSchema)) ?? "";

export function optional<T>(shape: Shape<T>, description: string, standard?: Json): Entry<T> {
  const metadata = standard === undefined ? { description } : { description, default: standard };
  return v.exactOptional(v.pipe(shape, v.metadata(metadata)) as Shape<T>);
}

export const required = <T>(shape: Shape<T>, about: string): Shape<T> => v.pipe(shape, v.description(about));

/** A shape that has its own place under $defs, or holds itself. */
export const named = <T>(shape: () => Shape<T>): Shape<T> => v.lazy(shape);

// ── Words that more than one format needs ────────────────────────────────────────────────────────────────────────

export const name = text(NAME);
export const line = text(LINE);
export const path = text(INSIDE);
const glob = text(GLOB);
const gateLine = text(GATE_LINE);

/** What the kinds of gates are declared with. */
export const GATE_WORDS = {
  argv: list(text(ARGUMENT)),
  gateLine,
  gateLines: list(gateLine),
  glob,
  globs: list(glob),
  integer,
  map,
  name,
  optional,
  path,
  testCount: integer(0, 1_000_000),
  text,
  word,
  yes,
};
