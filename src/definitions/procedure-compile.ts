/** YAML → a checked procedure with its fragments read and filled in, or every problem with its place. */
import { type Fragment, PHASES, type Phase, type Procedure } from "../kernel/types/procedure.ts";
import { FRAGMENTS } from "./builtin/fragments.ts";
import { readDocument } from "./document.ts";
import { checkGates, type DraftGate, finishGates, type NamedGates } from "./gates.ts";
import { type Problem, problemAt, quote, suggest, toTitle } from "./problem.ts";
import { type Draft as DraftOf, type Reading, reportAt } from "./read.ts";
import { PROCEDURE, type ProcedureFile } from "./schema/procedure.ts";

/** A fragment by its path; `file` is how people find it. */
export type FragmentReader = (path: string) => { text: string; file: string } | { why: string; hint: string };

export type CompiledProcedure = { procedure: Procedure } | { errors: Problem[] };

type Draft = DraftOf<ProcedureFile>;
type DraftFragment = NonNullable<NonNullable<NonNullable<Draft["phases"]>[Phase]>[number]>;

const BUILTIN = "builtin:";
/** `${x}` is shell, `@{u}` is git and `{{x}}` other people's templates: they mean themselves. */
const PLACEHOLDER = /(?<![$@{])\{([a-z][a-z0-9_]{0,47})\}(?!\})/g;
const MAX_PER_TEXT = 20;

export function compileProcedure(
  text: string,
  file: string,
  readFragment: FragmentReader,
  named: NamedGates,
): CompiledProcedure {
  const fragments = new Map<string, Fragment>();
  const read = readDocument(text, file, PROCEDURE, (reading, draft) =>
    check(reading, draft, readFragment, Object.keys(named), fragments),
  );
  return "errors" in read ? read : { procedure: assemble(read.value, file, named, fragments) };
}

/** Own folders first asked for what is built in: so that every procedure can use the fragments shipped. */
export function withBuiltins(read: FragmentReader): FragmentReader {
  return (path) => {
    if (!path.startsWith(BUILTIN)) return read(path);
    const text = FRAGMENTS.get(path.slice(BUILTIN.length));
    if (text !== undefined) return { text, file: path };
    return { why: "it is not built in", hint: suggest(path.slice(BUILTIN.length), [...FRAGMENTS.keys()], "built in") };
  };
}

function check(
  reading: Reading,
  draft: Draft,
  readFragment: FragmentReader,
  known: string[],
  fragments: Map<string, Fragment>,
): void {
  checkGates(reading, draft.gates ?? [], "gates", known);
  for (const [index, gate] of (draft.gates ?? []).entries()) locateCheck(reading, gate, `gates/${index}`);
  for (const phase of PHASES)
    for (const [index, entry] of (draft.phases?.[phase] ?? []).entries()) {
      const path = `phases/${phase}/${index}`;
      const fragment = entry && readOne(reading, entry, path, readFragment, alwaysThere(draft));
      if (fragment) fragments.set(path, fragment);
    }
  if (draft.phases && PHASES.every((phase) => (draft.phases?.[phase] ?? []).length === 0))
    reportAt(reading, "phases", "all phases are empty", "give one of observe, orient, decide and act a fragment");
}

/** A loop has no stages, and no one types a command into it. */
function locateCheck(reading: Reading, gate: DraftGate | undefined, path: string): void {
  if (gate?.typed) reportAt(reading, path, "no one types a command here", "name the command");
  if (gate?.from !== undefined) reportAt(reading, `${path}/from@key`, "a procedure has no stages", "remove it");
  for (const key of ["all", "any"] as const)
    for (const [index, one] of (gate?.[key] ?? []).entries()) locateCheck(reading, one, `${path}/${key}/${index}`);
}

const alwaysThere = ({ name = "", success = "", again = "", failure = "" }: Draft | Procedure) => ({
  procedure: name,
  success,
  again,
  failure,
});

function readOne(
  reading: Reading,
  { path, content, parameters = {} }: DraftFragment,
  at: string,
  readFragment: FragmentReader,
  always: Record<string, string>,
): Fragment | null {
  const found = path === undefined ? { text: content ?? "", file: "content" } : readFragment(path);
  if ("why" in found) {
    reportAt(reading, `${at}/path`, `the fragment ${quote(path ?? "")} cannot be read: ${found.why}`, found.hint);
    return null;
  }
  const filled = fill(found.text, { ...always, ...parameters });
  for (const open of filled.open) reading.problems.push(openPlaceholder(reading, found, at, open, parameters));
  for (const name of Object.keys(parameters).filter((one) => !filled.used.has(one))) {
    const hint = suggest(name, [...filled.used, ...filled.open.map((open) => open.name)], "placeholders in the text");
    reportAt(reading, `${at}/parameters/${name}@key`, `the fragment has no {${name}}`, hint);
  }
  if (found.text.trim() === "") reportAt(reading, at, "the fragment is empty", "write there what the agent should do");
  return { source: found.file, text: filled.text };
}

function openPlaceholder(
  reading: Reading,
  found: { text: string; file: string },
  at: string,
  { name, offset }: OpenPlaceholder,
  parameters: Record<string, string>,
): Problem {
  const known = [...Object.keys(parameters), ...Object.keys(alwaysThere({}))];
  const hint = `add parameters: { ${name}: … } to the fragment; ${suggest(name, known, "given")}`;
  const message = `nothing is given for {${name}}`;
  if (found.file !== "content" && !found.file.startsWith(BUILTIN))
    return problemAt(found.file, found.text, offset, message, hint);
  const place = reading.places.get(`${at}/${found.file === "content" ? "content" : "path"}`)?.offset ?? 0;
  return problemAt(reading.file, reading.text, place, message, hint);
}

interface OpenPlaceholder {
  name: string;
  offset: number;
}

/** In one pass: what a parameter brings in is not read again. */
function fill(
  text: string,
  values: Record<string, string>,
): { text: string; used: Set<string>; open: OpenPlaceholder[] } {
  const used = new Set<string>();
  const open: OpenPlaceholder[] = [];
  const filled = text.replaceAll("\r\n", "\n").replace(PLACEHOLDER, (written, name: string, offset: number) => {
    if (Object.hasOwn(values, name)) {
      used.add(name);
      return values[name]!;
    }
    if (open.length < MAX_PER_TEXT) open.push({ name, offset });
    return written;
  });
  return { text: filled.trim(), used, open };
}

function assemble(read: ProcedureFile, file: string, named: NamedGates, fragments: Map<string, Fragment>): Procedure {
  const { name, title, gates = [], phases, ...rest } = read;
  const phaseTexts = (phase: Phase) =>
    (phases[phase] ?? []).flatMap((_, index) => fragments.get(`phases/${phase}/${index}`) ?? []);
  return {
    name,
    title: title ?? toTitle(name),
    ...rest,
    phases: Object.fromEntries(PHASES.map((phase) => [phase, phaseTexts(phase)])) as Procedure["phases"],
    gates: finishGates(gates, named),
    source: file,
  };
}

/** A phase's text replaced for one loop: a fragment by its path, or the text itself. */
export function withPhase(
  procedure: Procedure,
  phase: Phase,
  given: { text: string; source: string }[],
): { procedure: Procedure } | { what: string; hint: string } {
  const filled = given.map(({ text, source }) => ({ source, ...fill(text, alwaysThere(procedure)) }));
  const wrong = filled.find((one) => one.open.length > 0);
  if (wrong)
    return {
      what: `--${phase}: nothing is given for {${wrong.open[0]!.name}} in ${wrong.source}`,
      hint: "write the text out, or make a procedure of your own with parameters",
    };
  const fragments = filled.map(({ source, text }) => ({ source, text }));
  return { procedure: { ...procedure, phases: { ...procedure.phases, [phase]: fragments } } };
}
