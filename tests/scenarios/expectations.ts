/** What a scenario may say next to a step, and whether it is so. Each check gives back what is wrong, or nothing. */
import { join } from "node:path";
import { parse } from "yaml";
import { errorsOf, textOf } from "../harness/harness.ts";
import { journalOf, runOf, runsOf } from "../harness/run-files.ts";
import { filled, isAction, type Result, type Step, sessionOf, type World } from "./scenario.ts";

interface Output {
  decision?: string;
  reason?: string;
  systemMessage?: string;
  hookSpecificOutput?: { additionalContext?: string; hookEventName?: string };
}

/** As it was before the step, so that a step is judged by what it added. */
export interface Before {
  records: number;
  errors: number;
}

export const lookBefore = (world: World): Before => ({
  records: journalOf(world.place.root).length,
  errors: errorsOf(world.place).length,
});

type Problem = string | null;
interface Seen {
  world: World;
  result: Result;
  output: Output;
  before: Before;
}

const has = (what: string, text: string | undefined, wanted: string): Problem =>
  text?.includes(wanted) ? null : `${what} lacks ${JSON.stringify(wanted)}: ${JSON.stringify(text ?? null)}`;
const starts = (what: string, text: string | undefined, wanted: string): Problem =>
  text?.startsWith(wanted) ? null : `${what} does not begin ${JSON.stringify(wanted)}: ${JSON.stringify(text ?? null)}`;
const same = (what: string, actual: unknown, wanted: unknown): Problem =>
  Bun.deepEquals(actual, wanted)
    ? null
    : `${what} is ${JSON.stringify(actual ?? null)}, expected ${JSON.stringify(wanted)}`;

const listed = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);
const context = (output: Output) => output.hookSpecificOutput?.additionalContext;
const run = ({ world }: Seen) => runOf(world.place.root, sessionOf(world).id);

const CHECKS: Record<string, (seen: Seen, wanted: unknown) => Problem | Problem[]> = {
  continue: ({ output, world }, wanted) => {
    const said = output.decision === "block" ? output.reason : context(output);
    return listed(wanted).map((text) => has("what the agent goes on with", said, filled(world, text)));
  },
  block: ({ output }, wanted) => [
    same("decision", output.decision, "block"),
    starts("reason", output.reason, String(wanted)),
  ],
  context: ({ output, world }, wanted) =>
    listed(wanted).map((text) => has("the context", context(output), filled(world, text))),
  person: ({ output, world }, wanted) =>
    listed(wanted).map((text) => has("systemMessage", output.systemMessage, filled(world, text))),
  person_starts: ({ output }, wanted) => starts("systemMessage", output.systemMessage, String(wanted).trimEnd()),
  summary: ({ result }, wanted) => has("PreCompact's text", result.summary, String(wanted)),
  silent: ({ result }) => same("stdout", result.ran?.out, ""),
  exit: ({ result }, wanted) => same("exit code", result.ran?.code, wanted),
  prints: ({ result, world }, wanted) =>
    listed(wanted).map((text) => has("output", `${result.ran?.out}${result.ran?.err}`, filled(world, text))),
  status: (seen, wanted) => same("status", run(seen)?.status, wanted),
  stage: (seen, wanted) => same("stage", run(seen)?.stage, wanted),
  outcome: (seen, wanted) => [same("outcome", run(seen)?.outcome, wanted), same("archived", run(seen)?.archived, true)],
  plan: (seen, wanted) => same("plan", run(seen)?.plan, wanted),
  paused: (seen, wanted) => same("paused", run(seen)?.paused !== undefined, wanted),
  runs: ({ world }, wanted) =>
    same("live runs", runsOf(world.place.root).filter((one) => !one.archived).length, wanted),
  records: ({ world, before }, wanted) => {
    const kinds = journalOf(world.place.root).slice(before.records);
    return same(
      "records",
      kinds.map((line) => line.kind),
      wanted,
    );
  },
  recorded: ({ world, before }, wanted) => {
    const text = journalOf(world.place.root)
      .slice(before.records)
      .map((line) => JSON.stringify(line));
    return listed(wanted).map((part) => has("the journal", text.join("\n"), part));
  },
  log: ({ world }, wanted) => logProblem(world, wanted as string[]),
  document: (seen, wanted) => documentProblems(seen, wanted),
  files: ({ world }, wanted) => fileProblems(world, wanted as Record<string, string | null>),
  errors: ({ world, before }, wanted) =>
    has("the error log", errorsOf(world.place).slice(before.errors), String(wanted)),
};

/** Words of a step that are neither action nor check. */
const MODIFIERS = ["session", "background", "agents", "crons", "source", "cwd", "env", "why", "fields"];

export function problemsOf(world: World, step: Step, result: Result, before: Before): string[] {
  const unknown = Object.keys(step).filter((key) => !isAction(key) && !(key in CHECKS) && !MODIFIERS.includes(key));
  if (unknown.length > 0) return [`no such word: ${unknown.join(", ")}`];
  const read = result.event ? readOutput(result) : { output: {} };
  if ("problem" in read) return [read.problem];
  const seen: Seen = { world, result, output: read.output, before };
  const checked = Object.entries(step).flatMap(([key, wanted]) => CHECKS[key]?.(seen, wanted) ?? []);
  return [...contract(step, seen), ...checked].filter((problem) => problem !== null);
}

/** Nothing or one JSON object; for PreCompact the text went its own way. */
function readOutput({ event, ran }: Result): { output: Output } | { problem: string } {
  if (event === "PreCompact" || ran!.out === "") return { output: {} };
  try {
    return { output: JSON.parse(ran!.out) };
  } catch {
    return { problem: `stdout is not JSON: ${ran!.out.slice(0, 200)}` };
  }
}

/** Holds for every step: exit 0, nothing on stderr, no error of ours, and nothing said to the agent that is not expected. */
function contract(step: Step, { world, result, output, before }: Seen): Problem[] {
  const errors = errorsOf(world.place).slice(before.errors);
  const untold = [step.errors === undefined && errors !== "" ? `an error was logged: ${errors}` : null];
  if (result.event === "") {
    return [...untold, step.exit === undefined && result.ran ? same("exit code", result.ran.code, 0) : null];
  }
  const goesOn = output.decision === "block" || (result.event === "Stop" && context(output) !== undefined);
  const expected = step.continue !== undefined || step.block !== undefined;
  return [
    ...untold,
    same("exit code", result.ran!.code, 0),
    same("stderr", result.ran!.err, ""),
    same("the agent goes on", goesOn, expected),
    result.event !== "Stop" && context(output) && step.context === undefined
      ? `the agent got a context nobody expected: ${context(output)}`
      : null,
    result.event === "Stop" && output.systemMessage && step.person === undefined && step.person_starts === undefined
      ? `the person got a message nobody expected: ${output.systemMessage}`
      : null,
  ];
}

function logProblem(world: World, wanted: string[]): Problem {
  const lines = (textOf(join(world.place.root, ".claude/logs/work-completion.log")) ?? "").split("\n").slice(0, -1);
  const odd = lines.find((line) => !/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] /.test(line));
  if (odd !== undefined) return `a log line without its time: ${odd}`;
  return same(
    "log",
    lines.map((line) => line.slice("[YYYY-MM-DD HH:MM:SS] ".length)),
    wanted,
  );
}

function documentProblems(seen: Seen, wanted: unknown): Problem[] {
  const { world } = seen;
  const path = run(seen)?.document.path || ".claude/work-completion.local.md";
  const text = textOf(join(world.place.root, path));
  if (wanted === "none") return [same(`the document ${path}`, text, null)];
  const match = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text ?? "");
  if (!match) return [`${path} is no document: ${JSON.stringify(text)}`];
  const keys = { ...parse(match[1]!), body: match[2] };
  return Object.entries(wanted as Record<string, unknown>).map(([key, value]) =>
    key === "body"
      ? has("the document's text", keys.body, String(value))
      : same(`document.${key}`, keys[key], typeof value === "string" ? filled(world, value) : value),
  );
}

/** path → part of its text, or null: no such file */
function fileProblems(world: World, wanted: Record<string, string | null>): Problem[] {
  return Object.entries(wanted).map(([name, part]) => {
    const path = filled(world, name);
    const text = textOf(join(world.place.root, path));
    return part === null ? same(path, text, null) : has(path, text ?? undefined, part);
  });
}
