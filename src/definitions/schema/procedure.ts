/** The procedure file format. */
import type { InferOutput } from "valibot";
import { GATE } from "./gate.ts";
import { ABOUT, FAILURE_THRESHOLD, MAX_ITERATIONS, TIMEOUT } from "./loop.ts";
import {
  FILLED,
  flag,
  KEY,
  line,
  list,
  map,
  name,
  optional,
  type Rule,
  record,
  required,
  text,
  word,
} from "./words.ts";

const FRAGMENT_PATH: Rule = {
  pattern:
    "^(?:builtin:)?(?!/)(?!(?:.*/)?\\.\\.?(?:/|$))(?!(?:.*/)?[.][gG][iI][tT](?:/|$))[^\\\\\\u0000-\\u001f:]*[^\\\\\\u0000-\\u001f:/]$",
  what: "the path of a fragment",
  hint: 'write "builtin:act/emit_success.md", or a path below the folder that holds procedures/, without ".." parts',
};

const FRAGMENT = record(
  {
    path: optional(
      text(FRAGMENT_PATH),
      "`builtin:<phase>/<file>.md`, or a file below `.pawl/` (of your own procedures: below `~/.config/pawl/`). Links are not followed.",
    ),
    content: optional(text(FILLED), "The text itself, in place of a file."),
    parameters: optional(
      map({ ...KEY, what: "the name of a parameter" }, text()),
      "What replaces {name} in the text. {procedure}, {success}, {again} and {failure} are always there.",
    ),
  },
  { oneOf: ["path", "content"], none: "this says nothing" },
);

const fragments = list(FRAGMENT, 0);

const PHASES = record({
  observe: optional(fragments, "What to look at."),
  orient: optional(fragments, "How to understand it."),
  decide: optional(fragments, "What to choose, and when to give up."),
  act: optional(fragments, "What to do, and which signal to end with."),
});

export const PROCEDURE = record({
  name: required(name, "Its name; its file is <name>.yaml."),
  title: optional(line, "The name people see. Default: made from the name."),
  about: required(line, "What it is for, in a sentence."),
  main: optional(flag, "Listed among the first."),
  success: required(line, "What SUCCESS means: the goal of the procedure, not of an iteration."),
  again: required(line, "What it means to end without a signal; the next iteration goes on."),
  failure: required(line, "What FAILURE means: when the agent cannot go on."),
  phases: required(
    PHASES,
    "The prompt, put together from fragments. An empty phase is left out; at least one has to say something.",
  ),
  max_iterations: optional(MAX_ITERATIONS, ABOUT.max_iterations),
  failure_threshold: optional(FAILURE_THRESHOLD, ABOUT.failure_threshold),
  timeout: optional(TIMEOUT, ABOUT.timeout),
  gates: optional(list(GATE), "Checks that Pawl makes itself: SUCCESS without them is not believed."),
  drives: optional(word("auto-workflow"), "The loop drives this workflow: one fresh process for each of its tasks."),
});

export const PROCEDURE_PARTS = { gate: GATE, fragment: FRAGMENT };

export type ProcedureFile = InferOutput<typeof PROCEDURE>;
