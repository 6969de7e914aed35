/** What a file must prove beyond its form: names that exist, one meaning per signal, answers that can be told apart. */
import { checkGates } from "./gates.ts";
import { quote, suggest } from "./problem.ts";
import { type Draft as DraftOf, type Reading, reportAt } from "./read.ts";
import type { WorkflowFile } from "./schema/workflow.ts";
import { readTemplate } from "./template.ts";

type Draft = DraftOf<WorkflowFile>;
type DraftStage = DraftOf<WorkflowFile["stages"][number]>;
type DraftMove = NonNullable<DraftStage["stop"]>;
type DraftAsk = NonNullable<Draft["asks"]>[string];

/** `named`: the gates that `use` may mean. */
export function checkWorkflow(reading: Reading, draft: Draft, named: string[]): void {
  readTexts(reading, draft);
  checkStageIds(reading, draft);
  checkTargets(reading, draft);
  checkSignals(reading, draft);
  for (const { move, path } of allMoves(draft)) {
    const gates = move.gates ?? [];
    checkGates(reading, gates, `${path}/gates`, named);
    for (const [at, gate] of gates.entries())
      isKnown(reading, gate?.from, `${path}/gates/${at}/from`, "stage", listIds(draft));
  }
  checkStops(reading, draft);
  checkTasks(reading, draft);
  checkFiles(reading, draft);
  checkDocument(reading, draft);
  const words = (draft.arm ?? []).map((word) => word && armKey(word));
  for (const [index, word] of words.entries()) {
    if (word === undefined || words.indexOf(word) === index) continue;
    reportAt(reading, `arm/${index}`, `${quote(word)} is listed twice`, 'keep one; "/pawl:x" and "/x" are the same');
  }
  for (const [name, ask] of Object.entries(draft.asks ?? {})) checkAnswers(reading, name, ask);
  if (!reading.broken) checkWays(reading, draft);
}

/** Prompts are read from their files, and placeholders are checked, in every text that is given to agent or person. */
function readTexts(reading: Reading, draft: Draft): void {
  readText(reading, draft, "say", "", "prompt");
  readText(reading, draft, "person", "", "template");
  for (const { stage, path } of listStages(draft)) readText(reading, stage, "say", `${path}/`, "prompt");
  for (const [name, ask] of Object.entries(draft.asks ?? {})) {
    readText(reading, ask, "text", `asks/${name}/`, "prompt");
    readText(reading, ask, "person", `asks/${name}/`, "template");
  }
  for (const { move, path } of allMoves(draft)) {
    readText(reading, move, "person", `${path}/`, "template");
    for (const index of (move.log ?? []).keys())
      readText(reading, move.log!, String(index), `${path}/log/`, "template");
  }
}

function readText(reading: Reading, holder: object, key: string, path: string, role: "template" | "prompt"): void {
  const texts = holder as Record<string, string | undefined>;
  const value = texts[key];
  const place = reading.places.get(`${path}${key}`);
  if (value === undefined || !place || reading.badTexts.has(`${path}${key}`)) return;
  const { file, text, readPrompt, problems } = reading;
  texts[key] = readTemplate(value, role, { file, text, ...place }, readPrompt, problems);
}

/** Every stage of the file with its path. */
const listStages = ({ stages = [] }: Draft): { stage: DraftStage; path: string }[] =>
  stages.map((stage, index) => ({ stage: stage ?? {}, path: `stages/${index}` }));
const listIds = ({ stages = [] }: Draft) => stages.flatMap((stage) => stage?.id ?? []);

function checkStageIds(reading: Reading, draft: Draft): void {
  const seen = new Set<string>();
  for (const { stage, path } of listStages(draft)) {
    if (!stage.id) continue;
    if (seen.has(stage.id)) {
      reading.broken = true;
      reportAt(reading, `${path}/id`, `a second stage ${quote(stage.id)}`, "give every stage its own id");
    }
    seen.add(stage.id);
  }
}

/** Every move of the file with its path. */
function allMoves(draft: Draft): { move: DraftMove; path: string }[] {
  const stages = listStages(draft).flatMap(({ stage: { on, stop }, path }) => [
    ...movesIn(on, `${path}/on`),
    ...(stop ? [{ move: stop, path: `${path}/stop` }] : []),
  ]);
  const asks = Object.entries(draft.asks ?? {}).flatMap(([name, ask]) => movesIn(ask.choices, `asks/${name}/choices`));
  return [...stages, ...asks, ...movesIn(draft.anywhere, "anywhere")];
}

function movesIn(moves: Record<string, DraftMove> | undefined, path: string): { move: DraftMove; path: string }[] {
  return Object.entries(moves ?? {}).map(([key, move]) => ({ move, path: `${path}/${key}` }));
}

function checkTargets(reading: Reading, draft: Draft): void {
  const stages = listIds(draft);
  const asks = Object.keys(draft.asks ?? {});
  for (const { move, path } of allMoves(draft)) {
    checkTarget(reading, move.to, `${path}/to`, "stage", stages);
    checkTarget(reading, move.next, `${path}/next`, "stage", stages);
    checkTarget(reading, move.ask, `${path}/ask`, "question", asks);
  }
  for (const [flag, stage] of Object.entries(draft.document?.flags ?? {})) {
    checkTarget(reading, stage, `document/flags/${flag}`, "stage", stages);
  }
}

function checkTarget(reading: Reading, target: string | undefined, path: string, what: string, known: string[]): void {
  if (!isKnown(reading, target, path, what, known)) reading.broken = true;
}

function isKnown(reading: Reading, word: string | undefined, path: string, what: string, known: string[]): boolean {
  if (word === undefined || known.includes(word)) return true;
  reportAt(reading, path, `there is no ${what} ${quote(word)}`, suggest(word, known, `${what}s`));
  return false;
}

/** The same signal may be used in several stages (each stage reads its own), but not there and in `anywhere`. */
function checkSignals(reading: Reading, draft: Draft): void {
  const common = new Set(Object.keys(draft.anywhere ?? {}));
  if (draft.signals === "none") refuseSignals(reading, draft);
  for (const { stage, path } of listStages(draft)) {
    for (const signal of Object.keys(stage.on ?? {}).filter((name) => common.has(name))) {
      const message = `${signal} has two meanings: here and under "anywhere"`;
      reportAt(reading, `${path}/on/${signal}@key`, message, "keep one of the two, or give this one another name");
    }
  }
}

function refuseSignals(reading: Reading, draft: Draft): void {
  const stages = listStages(draft).flatMap(({ stage, path }) => (stage.on ? [`${path}/on`] : []));
  const paths = Object.keys(draft.anywhere ?? {}).length > 0 ? [...stages, "anywhere"] : stages;
  for (const path of paths) {
    const hint = 'remove them, or use "signals: promise"';
    reportAt(reading, `${path}@key`, 'signals are listed here, but the file says "signals: none"', hint);
  }
}

/** What is inferred must be a signal of its stage, and sequences must name stages. */
function checkTasks(reading: Reading, draft: Draft): void {
  for (const { stage, path } of listStages(draft)) {
    const known = Object.keys(stage.on ?? {});
    for (const signal of Object.keys(stage.infer ?? {}).filter((one) => !known.includes(one))) {
      const hint = suggest(signal, known, "signals");
      reportAt(reading, `${path}/infer/${signal}@key`, `the stage has no signal ${quote(signal)}`, hint);
    }
  }
  const ids = listIds(draft);
  for (const [words, chain] of Object.entries(draft.chains ?? {}))
    for (const [index, id] of chain.entries()) checkTarget(reading, id, `chains/${words}/${index}`, "stage", ids);
  const names = listStages(draft).flatMap(({ stage }) => [stage.id ?? "", stage.title ?? ""]);
  for (const [label, words] of Object.entries(draft.sequences ?? {}))
    for (const [index, word] of words.entries()) isKnown(reading, word, `sequences/${label}/${index}`, "stage", names);
  for (const { move, path } of allMoves(draft)) {
    if (move.next === undefined || draft.tasks) continue;
    const hint = "add `tasks: { labels: […] }`";
    reportAt(reading, `${path}/next`, "there is no next task: the workflow has no tasks", hint);
  }
}

/** Without a gate a plain stop would let every stage pass; a question needs a report, which only a claim brings. */
function checkStops(reading: Reading, draft: Draft): void {
  for (const { stage, path } of listStages(draft)) {
    if (!stage.stop) continue;
    const at = `${path}/stop@key`;
    if (draft.signals === "none")
      reportAt(reading, at, 'the file says "signals: none": phases move by command', "remove it");
    if (!stage.stop.gates?.length && !draft.watch)
      reportAt(reading, at, "every stop would count as done", "give it gates, or let a signal lead on");
  }
}

function checkFiles(reading: Reading, draft: Draft): void {
  if (draft.log === undefined || draft.log !== draft.document?.path) return;
  reportAt(reading, "log", "the log and the document are the same file", "give each its own path");
}

const PATH_PLACEHOLDERS = ["{slug}", "{time}"];

/** A JSON document belongs to phases moved by command, and each run has its own file; a front matter has one place. */
function checkDocument(reading: Reading, draft: Draft): void {
  const { document } = draft;
  if (draft.reading !== undefined && document?.format !== "json") {
    const hint = "remove it, or give the workflow a document with format: json";
    reportAt(reading, "reading@key", "required reading is kept in a json document, and there is none", hint);
  }
  if (document?.format === "json") checkJsonDocument(reading, draft);
  const used = document?.format === "frontmatter" ? listPlaceholders(document.path) : [];
  if (used.length > 0) {
    const hint = "write a path without {…}, or use format: json";
    reportAt(reading, "document/path", `${used[0]} means nothing in the path of a front-matter document`, hint);
  }
}

function checkJsonDocument(reading: Reading, { signals, document }: Draft): void {
  if (signals !== undefined && signals !== "none") {
    const message = `a json document needs "signals: none", the file says "signals: ${signals}"`;
    reportAt(reading, "document/format", message, "use format: frontmatter, or let commands move the phases");
  }
  if (document?.flags !== undefined) {
    reportAt(reading, "document/flags@key", "flags belong to a front-matter document", "remove them");
  }
  if (document?.path === undefined) return;
  const used = listPlaceholders(document.path);
  for (const missing of PATH_PLACEHOLDERS.filter((wanted) => !used.includes(wanted))) {
    const hint = 'such as "untracked/workflow-state/{slug}/state-{slug}-{time}.json"';
    reportAt(reading, "document/path", `the path does not hold ${missing}, so runs would share a file`, hint);
  }
  for (const unknown of used.filter((name) => !PATH_PLACEHOLDERS.includes(name))) {
    reportAt(reading, "document/path", `unknown placeholder ${unknown}`, "a path may hold {slug} and {time}");
  }
}

const listPlaceholders = (path = ""): string[] => [...new Set(path.match(/\{[^{}]*\}/g))];

/** "/pawl:complete-work" and "/complete-work" arm the same workflow. */
export const armKey = (word: string): string => word.replace(/^\/pawl:/, "/");

function checkAnswers(reading: Reading, name: string, ask: DraftAsk): void {
  const owners = new Map<string, string>();
  const choices = Object.entries(ask.choices ?? {});
  for (const [choice, { words }] of choices) {
    for (const [index, word] of (words ?? [choice]).entries()) {
      const key = word?.toLowerCase();
      const owner = key === undefined ? undefined : owners.get(key);
      const base = `asks/${name}/choices/${choice}`;
      const path = words ? `${base}/words/${index}` : `${base}@key`;
      if (owner) reportAt(reading, path, `${quote(word!)} already means ${quote(owner)}`, "use another word");
      if (key !== undefined) owners.set(key, choice);
    }
  }
  if (choices.length > 0 && choices.every(([, choice]) => choice.show ?? choice.stay)) {
    const hint = "add a choice with to, halt, ask or end";
    reportAt(reading, `asks/${name}@key`, `no answer to ${quote(name)} leads on`, hint);
  }
}

// ── The whole: every stage can be reached, and from every stage the work can come to an end ──

interface Node {
  key: string;
  moves: DraftMove[];
}

const stageKey = (id: string) => `stage ${id}`;
const askKey = (name: string) => `ask ${name}`;

function checkWays(reading: Reading, draft: Draft): void {
  const nodes = listNodes(draft);
  const first = draft.stages?.[0]?.id ?? "";
  // Between two tasks a run may wait in the last stage for a fresh conversation.
  const last = draft.tasks ? (draft.stages?.at(-1)?.id ?? first) : first;
  const reached = spread(new Set([stageKey(first), stageKey(last)]), (known) =>
    nodes.filter((n) => known.has(n.key)).flatMap(targets),
  );
  const ending = spread(new Set(nodes.filter(ends).map((n) => n.key)), (known) =>
    nodes.filter((n) => targets(n).some((key) => known.has(key))).map((n) => n.key),
  );
  for (const { stage, path: at } of listStages(draft)) {
    const id = stage.id ?? "";
    const path = `${at}/id`;
    if (!reached.has(stageKey(id))) {
      const hint = `let a signal lead to it ({ to: ${id} }), or remove the stage`;
      reportAt(reading, path, `stage ${quote(id)} cannot be reached from ${quote(first)}`, hint);
    }
    if (!ending.has(stageKey(id))) {
      const hint = "let a signal of this or a later stage lead to { end: completed } (an abort does not count)";
      reportAt(reading, path, `from stage ${quote(id)} the work can never come to an end`, hint);
    }
  }
  for (const name of Object.keys(draft.asks ?? {}).filter((key) => !reached.has(askKey(key)))) {
    const hint = `let a signal lead to it ({ ask: ${name} }), or remove it`;
    reportAt(reading, `asks/${name}@key`, `the question ${quote(name)} is never asked`, hint);
  }
}

function listNodes(draft: Draft): Node[] {
  const common = Object.values(draft.anywhere ?? {});
  const stages = listStages(draft).map(({ stage: { id = "", on = {}, stop } }, index) => {
    // Without signals a person's command leads from each stage to the next, and from the last one out.
    const next = draft.stages?.[index + 1]?.id;
    const byCommand: DraftMove = next === undefined ? { end: "completed" } : { to: next };
    const moves = draft.signals === "none" ? [byCommand] : [...Object.values(on), ...(stop ? [stop] : []), ...common];
    return { key: stageKey(id), moves };
  });
  const asks = Object.entries(draft.asks ?? {}).map(([name, ask]) => ({
    key: askKey(name),
    moves: Object.values(ask.choices ?? {}),
  }));
  return [...stages, ...asks];
}

function targets(node: Node): string[] {
  return node.moves.flatMap((move) => {
    if (move.to !== undefined) return [stageKey(move.to)];
    if (move.next !== undefined) return [stageKey(move.next)];
    return move.ask === undefined ? [] : [askKey(move.ask)];
  });
}

/** An abort is always possible and proves nothing about the work. */
function ends(node: Node): boolean {
  // Without a next task the work is over.
  return node.moves.some((move) => move.next !== undefined || (move.end !== undefined && move.end !== "aborted"));
}

function spread(from: Set<string>, next: (known: Set<string>) => string[]): Set<string> {
  const grown = new Set([...from, ...next(from)]);
  return grown.size === from.size ? grown : spread(grown, next);
}
