/** The shapes that have to do with tasks: which ones, and what tool calls show of them. */
import { INSIDE, LINE, type Rule } from "../rules.ts";
import type { RecordShape, Shape } from "./shape.ts";

const line: Shape = { kind: "text", rule: LINE };
const filePath: Shape = { kind: "text", rule: INSIDE };

export const LABEL: Rule = {
  pattern: "^[A-Za-z0-9][A-Za-z0-9:._/-]{0,63}$",
  what: "a label",
  hint: "use letters, digits and : . _ / -, at most 64",
};

export const TASKS: RecordShape = {
  kind: "record",
  fields: {
    labels: {
      shape: { kind: "list", of: { kind: "text", rule: LABEL }, min: 1 },
      required: true,
      about: "Tasks with one of these labels, or with `label:anything`; the first ones come first.",
    },
    epic: { shape: line, about: "Only tasks of this epic." },
    tracker: {
      shape: { kind: "word", values: ["auto", "beads", "github", "session-md"] },
      about: "Where tasks live. Default auto: beads, session.md or GitHub, whatever is there.",
    },
    path: { shape: filePath, about: "Of session.md, where it is not at its usual place." },
  },
};

const REPO: Rule = {
  pattern: "^(?:[A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*$",
  what: "a repository",
  hint: "write owner/name, or host/owner/name",
};

export const TRACKER: RecordShape = {
  kind: "record",
  fields: {
    kind: {
      shape: { kind: "word", values: ["auto", "beads", "github", "session-md"] },
      about:
        "Default auto: beads, session.md or GitHub, whatever is there. Tasks are written to GitHub only if it is named here.",
    },
    path: { shape: filePath, about: "Of session.md, where it is not at its usual place." },
    repo: { shape: { kind: "text", rule: REPO }, about: "Whose issues; default: the repository of the remote." },
  },
};

export const COMMANDS: RecordShape = {
  kind: "record",
  fields: {
    tests: { shape: line, about: "How the tests are run, for {tests} in its texts: npm test." },
    review: {
      shape: line,
      about: "The command that reviews, for {review}: /oracle-review. Its result counts as a review.",
    },
    reviewer: { shape: line, about: "The sub-agent whose result counts as a review, besides those called so." },
  },
};

export const INFERENCE: Shape = {
  kind: "record",
  id: "inference",
  fields: {
    tests: { shape: { kind: "word", values: ["pass"] }, about: "A green test run, and nothing edited after it." },
    review: { shape: { kind: "word", values: ["approved"] }, about: "A reviewer's result says approved." },
    closed: { shape: { kind: "word", values: ["task"] }, about: "A tool call closed the task." },
    read: { shape: { kind: "word", values: ["task"] }, about: "A tool call showed the task." },
    edited: { shape: { kind: "true" }, about: "Files were edited." },
    says: {
      shape: { kind: "list", of: line, min: 1 },
      about: "The message says one of these, and not their contrary. Only for what has no tool.",
    },
  },
};
