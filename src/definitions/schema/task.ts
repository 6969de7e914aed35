/** The shapes that have to do with tasks: which ones, and what tool calls show of them. */
import { line, list, optional, path, type Rule, record, required, text, word, yes } from "./words.ts";

export const LABEL: Rule = {
  pattern: "^[A-Za-z0-9][A-Za-z0-9:._/-]{0,63}$",
  what: "a label",
  hint: "use letters, digits and : . _ / -, at most 64",
};
const REPO: Rule = {
  pattern: "^(?:[A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*$",
  what: "a repository",
  hint: "write owner/name, or host/owner/name",
};

const kind = word("auto", "beads", "github", "session-md");
const sessionPath = optional(path, "Where session.md is, if not at its usual place.");

export const TASKS = record({
  labels: required(
    list(text(LABEL)),
    "Tasks with one of these labels, or with `label:anything`; the first ones come first.",
  ),
  epic: optional(line, "Only tasks of this epic."),
  tracker: optional(kind, "Where tasks live. Default auto: beads, session.md or GitHub, whichever is there."),
  path: sessionPath,
});

export const TRACKER = record({
  kind: optional(
    kind,
    "Default auto: beads, session.md or GitHub, whichever is there. Tasks are written to GitHub only if it is named here.",
  ),
  path: sessionPath,
  repo: optional(text(REPO), "Whose issues; default: the repository of the remote."),
});

export const COMMANDS = record({
  tests: optional(line, "How the tests are run, for {tests} in its texts: npm test."),
  review: optional(line, "The command that reviews, for {review}: /oracle-review. Its result counts as a review."),
  reviewer: optional(line, "The sub-agent whose result counts as a review, in addition to those with that name."),
});

export const INFERENCE = record({
  tests: optional(word("pass"), "A green test run, and nothing edited after it."),
  review: optional(word("approved"), "A reviewer's result says approved."),
  closed: optional(word("task"), "A tool call closed the task."),
  read: optional(word("task"), "A tool call showed the task."),
  edited: optional(yes, "Files were edited."),
  says: optional(list(line), "The message says one of these, and not the opposite. Only for what has no tool."),
});
