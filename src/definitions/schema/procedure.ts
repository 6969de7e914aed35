/** The procedure file format, as data: the reader and schema/procedure.json both come from it. */

import { LINE, NAME, type Rule } from "../rules.ts";
import { GATE } from "./gate.ts";
import { FAILURE_THRESHOLD, MAX_ITERATIONS, TIMEOUT } from "./loop.ts";
import type { Field, RecordShape, Shape } from "./shape.ts";

const FRAGMENT_PATH: Rule = {
  pattern:
    "^(?:builtin:)?(?!/)(?!(?:.*/)?\\.\\.?(?:/|$))(?!(?:.*/)?[.][gG][iI][tT](?:/|$))[^\\\\\\u0000-\\u001f:]*[^\\\\\\u0000-\\u001f:/]$",
  what: "the path of a fragment",
  hint: 'write "builtin:act/emit_success.md", or a path below the folder that holds procedures/, without ".." parts',
};
const PARAMETER: Rule = {
  pattern: "^[a-z][a-z0-9_]{0,47}$",
  what: "the name of a parameter",
  hint: "use lower-case letters, digits and underscores, beginning with a letter, at most 48",
};
const FILLED: Rule = { pattern: "\\S", what: "a text", hint: "write something here, or leave the entry out" };

const line: Shape = { kind: "text", rule: LINE };

const FRAGMENT: RecordShape = {
  kind: "record",
  id: "fragment",
  fields: {
    path: {
      shape: { kind: "text", rule: FRAGMENT_PATH },
      about:
        "`builtin:<phase>/<file>.md`, or a file below `.pawl/` (of your own procedures: below `~/.config/pawl/`). Links are not followed.",
    },
    content: { shape: { kind: "text", rule: FILLED }, about: "The text itself, in place of a file." },
    parameters: {
      shape: { kind: "map", key: PARAMETER, of: { kind: "text" }, min: 1 },
      about:
        "What takes the place of {name} in the text. {procedure}, {success}, {again} and {failure} are always there.",
    },
  },
  oneOf: ["path", "content"],
};

const phase = (about: string): Field => ({ shape: { kind: "list", of: FRAGMENT, min: 0 }, about });

export const PROCEDURE: RecordShape = {
  kind: "record",
  fields: {
    name: { shape: { kind: "text", rule: NAME }, required: true, about: "Its name; its file is <name>.yaml." },
    title: { shape: line, about: "The name people see. Default: made from the name." },
    about: { shape: line, required: true, about: "What it is for, in a sentence." },
    main: { shape: { kind: "true" }, about: "Listed among the first." },
    success: {
      shape: line,
      required: true,
      about: "What SUCCESS means: the goal of the procedure, not of an iteration.",
    },
    again: { shape: line, required: true, about: "What it means to end without a signal; the next iteration goes on." },
    failure: { shape: line, required: true, about: "What FAILURE means: when the agent cannot go on." },
    phases: {
      shape: {
        kind: "record",
        fields: {
          observe: phase("What to look at."),
          orient: phase("How to understand it."),
          decide: phase("What to choose, and when to give up."),
          act: phase("What to do, and which signal to end with."),
        },
      },
      required: true,
      about: "The prompt, put together from fragments. An empty phase is left out; one at least has to say something.",
    },
    max_iterations: MAX_ITERATIONS,
    failure_threshold: FAILURE_THRESHOLD,
    timeout: TIMEOUT,
    gates: {
      shape: { kind: "list", of: GATE, min: 1 },
      about: "Checks that Pawl makes itself: SUCCESS without them is not believed.",
    },
    drives: {
      shape: { kind: "word", values: ["auto-workflow"] },
      about: "The loop drives this workflow: one fresh process for each of its tasks.",
    },
  },
};
