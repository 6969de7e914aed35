/** The shape of a gate in a workflow file and in pawl.yaml. */
import { INSIDE, NAME, type Rule } from "../rules.ts";
import type { Field, RecordShape, Shape } from "./workflow.ts";

const ARGUMENT: Rule = {
  pattern: "^[^\\u0000]*$",
  what: "one argument of a command",
  hint: "write each argument as an entry of its own",
};
const GLOB: Rule = {
  pattern: "^!?(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000-\\u001f]+$",
  what: "a glob inside the project",
  hint: 'such as "src/**" or "packages/*/test"; no leading "/", no ".."',
};
const ONE_LINE: Rule = {
  pattern: "^[^\\r\\n\\u0000]*\\S[^\\r\\n\\u0000]*$",
  what: "one line of text",
  hint: "write it without line breaks",
};
const VARIABLE: Rule = {
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  what: "the name of an environment variable",
  hint: "use letters, digits and underscores",
};

const argv: Shape = { kind: "list", of: { kind: "text", rule: ARGUMENT }, min: 1 };
const globs: Shape = { kind: "list", of: { kind: "text", rule: GLOB }, min: 1 };
const path: Shape = { kind: "text", rule: INSIDE };
const line: Shape = { kind: "text", rule: ONE_LINE };

/** What a gate can check: exactly one of these. */
const CHECKS: Record<string, Field> = {
  run: { shape: argv, about: "A command as a list of words, without a shell: [npm, run, lint]. Exit 0 passes." },
  shell: { shape: line, about: "A line for /bin/sh. Exit 0 passes. Needed only for pipes and the like." },
  typed: { shape: { kind: "true" }, about: "The command that the person typed behind the arming word, by /bin/sh." },
  tests: {
    shape: argv,
    about: "A test runner as a list of words. Its own summary is read: exit 0 without passed tests proves nothing.",
  },
  git: {
    shape: { kind: "word", values: ["clean", "committed", "committed-or-clean"] },
    about:
      "clean: nothing is left to commit. committed: a commit was made in this stage, and nothing is left. committed-or-clean: one of the two.",
  },
  branch: {
    shape: { kind: "list", of: line, min: 1 },
    about: 'The branch matches one of these globs and none that begins with "!": ["feature/*"], ["!main"].',
  },
  only: { shape: globs, about: "Nothing was changed outside these globs since the run began." },
  file: { shape: path, about: "This file is there and is not empty." },
  artefact: { shape: { kind: "text", rule: GLOB }, about: "A file like this (a glob) was made since the stage began." },
  evidence: {
    shape: { kind: "word", values: ["tests", "review", "task-read", "failure"] },
    about:
      "What the agent's own tool calls in this stage show. tests: a green run, and nothing was changed after it. review: a reviewer approved. task-read: the task was opened again. failure: tests or the review failed.",
  },
  tracker: {
    shape: { kind: "word", values: ["closed", "claimed", "none-ready"] },
    about: "What the tracker itself says: the run's task is closed, or claimed; or no task of the project is ready.",
  },
  says: {
    shape: { kind: "list", of: line, min: 1 },
    about: "The agent's last message has a line that begins with one of these.",
  },
  person: { shape: line, about: "A person has to approve; the text says what: `pawl approve` or /pawl:approve." },
  use: { shape: { kind: "text", rule: NAME }, about: "The gate of this name in pawl.yaml." },
};

export const GATE: RecordShape = { kind: "record", id: "gate", fields: { ...CHECKS }, oneOf: [] };

GATE.fields.all = { shape: { kind: "list", of: GATE, min: 1 }, about: "Every one of these gates has to pass." };
GATE.fields.any = { shape: { kind: "list", of: GATE, min: 1 }, about: "One of these gates has to pass." };
GATE.oneOf = Object.keys(GATE.fields);

/** What goes with it, and with which checks. */
export const COMMANDS = ["run", "shell", "typed", "tests"] as const;
export const OPTIONS: Record<string, readonly string[]> = {
  min: ["tests", "evidence"],
  max_skipped: ["tests", "evidence"],
  fewer: ["tests"],
  weakened: ["tests"],
  from: ["evidence"],
  contains: ["file"],
  cwd: [...COMMANDS],
  when_changed: [...COMMANDS],
  retries: [...COMMANDS],
  timeout: [...COMMANDS],
  wait: [...COMMANDS],
  env: [...COMMANDS],
  fault: [...COMMANDS],
};

Object.assign(GATE.fields, {
  name: { shape: line, about: "What people see. Default: made from the check." },
  min: { shape: { kind: "integer", min: 0, max: 1_000_000 }, about: "At least so many tests passed. Default: 1." },
  max_skipped: { shape: { kind: "integer", min: 0, max: 1_000_000 }, about: "At most so many tests were skipped." },
  fewer: {
    shape: { kind: "word", values: ["allow"] },
    about: "allow: fewer tests than at an earlier check of this run are fine.",
  },
  weakened: {
    shape: { kind: "word", values: ["allow"] },
    about: "allow: tests may be removed, skipped, focused or lose assertions during the run.",
  },
  from: {
    shape: { kind: "text", rule: NAME },
    about: "What tool calls show since this stage was entered counts. A run whose plan lacks the stage is not asked.",
  },
  contains: { shape: line, about: "The file holds this text." },
  cwd: { shape: path, about: "Where the command is run, relative to the project." },
  when_changed: {
    shape: globs,
    about: "Checked only if one of these changed since the run began (or since --base).",
  },
  retries: {
    shape: { kind: "integer", min: 0, max: 5 },
    about: "So many further attempts; a pass after one is recorded as flaky.",
  },
  timeout: {
    shape: { kind: "integer", min: 1, max: 86_400 },
    default: 600,
    about: "In seconds. A command that takes longer is ended with everything it started, and the gate is unproven.",
  },
  wait: {
    shape: { kind: "integer", min: 0, max: 540 },
    default: 300,
    about: "So many seconds a stop is held up; after that the check goes on by itself and the agent is told later.",
  },
  env: {
    shape: { kind: "map", key: VARIABLE, of: { kind: "text" }, min: 1 },
    about: "Environment variables for the command. Those that make programs load other code are refused.",
  },
  fault: {
    shape: path,
    about: "A patch with which this gate has to fail: `pawl verify --prove` tries it, in a copy of the project.",
  },
} satisfies Record<string, Field>);
