/** What the tests of now are compared with: the tests of the beginning, on the code of then (B) and of now (O). */

import type { BaselineFact, NamedReport, Ran, TestOutcome } from "../../kernel/types/verdict.ts";
import type { Gate } from "../../kernel/types/workflow.ts";
import { objectsFolder, readKnownFailures, readResult, writeKnownFailures, writeResult } from "../../store/bases.ts";
import type { Environment } from "../../store/environment.ts";
import { computeClosure } from "../closure/closure.ts";
import { compareTests, differentTests, failedTests, incompleteness } from "../core/compare.ts";
import { firstReason, relevantLines } from "../core/relevant-lines.ts";
import type { Measuring } from "../measuring.ts";
import {
  ignoredChanges,
  nothing,
  oldTests,
  pathsOf,
  type Restoring,
  showChanges,
  together,
  wholeBase,
} from "./changes.ts";
import { tryPerFile } from "./per-file.ts";
import type { PlaceSpec } from "./place.ts";

export interface BaselineCase {
  measuring: Measuring;
  gate: Gate;
  /** the tests of now */
  ran: Ran;
  tree: string;
  /** runs the gate's command in a private place; null: it is still running */
  runIn(name: string, place: PlaceSpec): Ran | null;
  /** waits for the run of the beginning that goes on in the background; false: it is still running */
  ahead(): boolean;
}

const NONE: BaselineFact = { base: null, old: null, changed: [], files: {}, unstable: [], known: [] };
const TAIL_LINES = 15;

/** null: a run that is needed for it has not ended yet. */
export function measureBaseline(found: BaselineCase): BaselineFact | null {
  const { measuring, gate, ran, tree } = found;
  const { root, run } = measuring.sources;
  const { base_tree, kept, worse } = measuring.need;
  // The command itself may have added some, such as snapshots of new tests.
  const changes = measuring.changes(tree);
  if (!changes.ok) return { ...NONE, why: changes.why };
  const ignored = kept ? ignoredChanges(root, run, base_tree) : oldTests([], new Set());
  if (ignored === null) return { ...NONE, why: "what was kept of the beginning is gone" };
  const environment = measuring.environment();
  const readBase = () => readResult(root, resultName(gate, base_tree, environment));
  const isGreen = ran.attempts.at(-1)?.exit === 0;
  const isNameless = isGreen && !ran.named && gate.proof !== "exit";
  let keptBase = readBase();
  if (keptBase === null && (isComplete(ran) || isNameless || gate.failing === "known" || worse)) {
    if (!found.ahead()) return null;
    keptBase = readBase();
  }
  const named = new Set([...(keptBase?.report?.files ?? []), ...(ran.named?.files ?? [])]);
  const tests = together(oldTests(changes.value, named), ignored);
  const changed = pathsOf(tests);
  if (isComplete(ran)) writeResult(root, resultName(gate, tree, environment), { exit: 0, report: ran.named! });
  if (!ran.named && !isNameless) return { ...NONE, base: keptBase?.report ?? null, changed };
  if (!isGreen && gate.failing !== "known" && !worse) return { ...NONE, changed };
  const place = placeOf(measuring);
  const closure = new Set(computeClosure(root, [gate]).items.flatMap(({ scripts }) => scripts.map(({ path }) => path)));
  const whole = together(wholeBase(changes.value, named, closure), ignored);
  const hadNone = keptBase?.report === null && !ran.named;
  const base = hadNone ? NO_NAMES : (keptBase?.report ?? baseReport(found, place(whole), "b"));
  if (base === null) return null;
  // What the beginning reached is demanded: a file in the runner's way takes the names away, and prints what it likes.
  if (!ran.named) return { ...NONE, base: asReport(base), changed };
  const old = changed.length === 0 ? undefined : found.runIn("o", place(tests));
  if (old === null) return null;
  const invalid = old?.copied ? copyFault(ran.named, found.runIn("c", place(nothing()))) : undefined;
  if (invalid === null) return null;
  if (invalid) return { ...NONE, changed, why: invalid };
  const before = asReport(base);
  const redBefore = worse && before ? failedTests(before) : [];
  const known = gate.failing === "known" ? knownFailures(root, gate, before, old?.named ?? ran.named) : redBefore;
  const start = typeof base === "string" ? { base: null, no_base: base } : { base };
  const fact = { ...NONE, ...start, old: old ? oldOutcome(old) : null, changed, known };
  return checked(found, fact, place(whole), place(tests));
}

/** Without a beginning to compare with: what an earlier check kept. */
export const onlyKnown = (root: string, gate: Gate): BaselineFact => ({
  ...NONE,
  known: readKnownFailures(root, gate.id) ?? [],
});

/** A copy counts only if the tests of now end there as they do in the project. null: it is not known yet; "": they do. */
function copyFault(now: NamedReport, again: Ran | null): string | null {
  if (again === null) return null;
  if (!again.named) return `a copy of the project does not name its tests${again.error ? ` (${again.error})` : ""}`;
  const other = differentTests(now, again.named);
  return other.length === 0
    ? ""
    : `${other.length} tests end differently in a copy of the project: ${other.slice(0, 3).join("; ")}`;
}

/** Another environment may give other results on the same tree. */
export const resultName = (gate: Gate, tree: string, { hash }: Environment) => `${gate.id}-${tree}-${hash}`;

const placeOf =
  ({ sources, need }: Measuring) =>
  (restoring: Restoring): PlaceSpec => ({
    tree: need.base_tree,
    objects: objectsFolder(sources.root, sources.run)!,
    ...restoring,
  });

const outcome = (ran: Ran): TestOutcome => ({
  exit: ran.attempts.at(-1)?.exit ?? null,
  report: ran.error === undefined ? (ran.named ?? null) : null,
  tail: relevantLines(ran.error ?? ran.output, TAIL_LINES),
  ...(ran.error !== undefined && { error: ran.error }),
});

/** Where not one of them can be compiled, no runner is heard: they cannot be run, which is a result. */
function oldOutcome(ran: Ran): TestOutcome {
  const reason = firstReason(ran.output);
  const found = { ...outcome(ran), ...(reason !== null && { reason }) };
  const isBroken = found.error === undefined && found.report === null && (found.exit ?? 0) !== 0;
  return isBroken ? { ...found, report: { runners: [], ended: 0, tests: {}, files: [] } } : found;
}

const isComplete = ({ named, attempts, error }: Ran) =>
  error === undefined && named !== undefined && attempts.at(-1)?.exit === 0 && incompleteness(named, 0, null) === null;

const NO_NAMES = "no test could be run then";
const asReport = (base: NamedReport | string) => (typeof base === "string" ? null : base);

/** A text: why there are no names. A beginning that could not be compiled has none: then only what fails now counts. */
function baseReport({ measuring, gate, runIn }: BaselineCase, place: PlaceSpec, name: string) {
  const ran = runIn(name, place);
  if (ran === null) return null;
  const { exit, report, error } = outcome(ran);
  const missing = report && incompleteness(report, exit, null);
  if (missing) return missing;
  const kept = resultName(gate, measuring.need.base_tree, measuring.environment());
  // A suite without names is run once for each beginning, not for each claim.
  const isWorthKeeping = report !== null || (error === undefined && exit === 0);
  if (name === "b" && isWorthKeeping) writeResult(measuring.sources.root, kept, { exit, report });
  return report ?? error ?? NO_NAMES;
}

/** They can only become fewer. A changed test has passed if it did as it was. */
function knownFailures(root: string, gate: Gate, base: NamedReport | null, now: NamedReport): string[] {
  const names = readKnownFailures(root, gate.id) ?? (base ? failedTests(base) : []);
  const left = names.filter((name) => now.tests[name] !== "passed");
  writeKnownFailures(root, gate.id, left);
  return left;
}

/** Before anyone is accused: names that end differently on the same tree drop out, and the files are shown. */
function checked(found: BaselineCase, fact: BaselineFact, whole: PlaceSpec, tests: PlaceSpec): BaselineFact | null {
  const { measuring, ran, tree } = found;
  const isListed = (one: BaselineFact) => compareTests(ran.named!, one).listed.length > 0;
  if (!isListed(fact)) return fact;
  const again = withoutLuck(fact, (name) => found.runIn(name, tests));
  if (again === null || again.why !== undefined || !isListed(again)) return again;
  const steady = again.base === null ? again : withoutUnsteady(again, again.base, baseReport(found, whole, "b2"));
  if (steady === null || steady.why !== undefined || !isListed(steady)) return steady;
  const single = tryPerFile(steady, ran.named!, tests, found.runIn);
  if (single === null) return null;
  const { root } = measuring.sources;
  return { ...single, files: showChanges(root, measuring.need.base_tree, tree, whole.objects, fact.changed) };
}

/** A test that fails as it was, and passes when it is run again. */
function withoutLuck(fact: BaselineFact, runOld: (name: string) => Ran | null): BaselineFact | null {
  const failed = fact.old?.report ? failedTests(fact.old.report) : [];
  const again = failed.length === 0 ? undefined : runOld("o2");
  if (again === null) return null;
  return tooUnsteady({ ...fact, unstable: failed.filter((name) => again?.named?.tests[name] === "passed") });
}

function withoutUnsteady(fact: BaselineFact, base: NamedReport, again: NamedReport | string | null) {
  if (again === null) return null;
  if (typeof again === "string")
    return { ...fact, why: "the tests of the beginning cannot be run on the code of the beginning any more" };
  const names = differentTests(base, again).filter((name) => name in base.tests);
  return tooUnsteady({ ...fact, unstable: [...new Set([...fact.unstable, ...names])] });
}

function tooUnsteady(fact: BaselineFact): BaselineFact {
  const [all, count] = [Object.keys(fact.base?.tests ?? {}).length, fact.unstable.length];
  if (count <= Math.max(5, all / 10)) return fact;
  return { ...fact, why: `${count} tests of the beginning end differently when they are run again` };
}
