import { readFileSync } from "node:fs";
import type { Rule } from "../../src/definitions/rules.ts";
import type { Field, RecordShape, Shape } from "../../src/definitions/schema/shape.ts";
import { PLACEHOLDERS, WORKFLOW } from "../../src/definitions/schema/workflow.ts";
import { fenced, GENERATED, page, table } from "./markdown.ts";

const EXAMPLE = new URL("../../examples/review-gate/.pawl/workflows/ship.yaml", import.meta.url);

const MEANINGS: Record<(typeof PLACEHOLDERS)[number], string> = {
  issues: "the critical issues of the newest report, one a line",
  steps: "each step with ✅ or ❌, the failing one with its cause",
  commit: "the commit, as in “ (commit 1a2b3c4d5e6f)”; nothing if there is none",
  stage: "the id of the stage",
  title: "the title of the stage",
  report: "where the newest report is kept",
  run: "the id of the run",
  choices: "the choices of the question, numbered",
  signals: "the signals of the stage, as they must be written",
  plan: "the steps of this run",
  command: "the command that the person typed after the starting word",
  stages: "the titles of all stages, with arrows",
  task: "the id of the run's task",
  task_title: "its title",
  task_text: "its text, fenced as data",
  show_task: "how the task is shown, in the tracker's own command",
  close_task: "how it is closed",
  label_task: "how it gets the label needs-review",
  tests: "how the tests are run, from `commands`",
  review: "the command that reviews, from `commands`",
};

/** A record with a heading of its own, in the order in which a reader meets them. */
type Sections = Map<string, RecordShape>;

export function workflowReference(): string {
  const sections: Sections = new Map();
  const rules = new Map<string, Rule>();
  collect("file", WORKFLOW, sections, rules);
  return page(
    "# Workflow files",
    GENERATED,
    "A workflow is one YAML file: `.pawl/workflows/<name>.yaml` in a project, `~/.config/pawl/workflows/<name>.yaml` for all of yours. How to write one: [the guide](../guides/writing-a-workflow.md). For editors: [schema/workflow.json](../../schema/workflow.json).",
    fenced(readFileSync(EXAMPLE, "utf8"), "yaml"),
    "`pawl check` proves more than these tables say: every stage can be reached and can come to an end, every signal has one meaning, every prompt exists.",
    ...[...sections].map(([name, shape]) => section(name, shape)),
    "## Words",
    table(
      ["called", "how it is written"],
      [...rules.values()].map(({ what, hint }) => [what, hint]),
    ),
    "## Placeholders",
    "A template may hold these; `pawl check` refuses others.",
    table(
      ["written", "becomes"],
      PLACEHOLDERS.map((name) => [`\`{${name}}\``, MEANINGS[name]]),
    ),
  );
}

/** The tables of a format; what another page has is left to it. */
export function formatSections(shape: RecordShape, elsewhere: Record<string, string>): string[] {
  const sections: Sections = new Map();
  collect("file", shape, sections, new Map());
  const own = [...sections].filter(([name]) => !Object.hasOwn(elsewhere, name));
  const linked = (text: string) =>
    Object.entries(elsewhere).reduce((told, [name, page]) => told.replaceAll(`(#${name})`, `(${page}#${name})`), text);
  return own.map(([name, one]) => linked(section(name, one)));
}

function section(name: string, shape: RecordShape): string {
  const rows = Object.entries(shape.fields).map(([key, field]) => [
    `\`${key}\``,
    typeOf(key, field.shape),
    mustOf(field),
    field.about,
  ]);
  const choice =
    shape.oneOf && shape.oneOf.length > 1
      ? [`Exactly one of ${shape.oneOf.map((key) => `\`${key}\``).join(", ")}.`]
      : [];
  const head = `## ${name === "file" ? "The file" : name}`;
  return [head, ...choice, table(["key", "type", "", "meaning"], rows)].join("\n\n");
}

function mustOf(field: Field): string {
  if (field.required) return "required";
  return field.default === undefined ? "" : `default \`${JSON.stringify(field.default)}\``;
}

function typeOf(key: string, shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return `${shape.rule?.what ?? "text"}${shape.role === "prompt" ? ", or a .md file" : ""}`;
    case "word":
      return shape.values.map((value) => `\`${value}\``).join(", ");
    case "integer":
      return `${shape.or === undefined ? "" : `\`${shape.or}\`, or `}${shape.min} to ${shape.max}`;
    case "number":
      return `a number, ${shape.min} to ${shape.max}`;
    case "true":
      return "`true`";
    case "list":
      return `list: ${typeOf(key, shape.of)}`;
    case "map":
      return `${shape.key.what} → ${typeOf(key, shape.of)}`;
    case "off-or":
      return `\`off\`, or ${typeOf(key, shape.of)}`;
    case "record":
      return `[${shape.id ?? key}](#${shape.id ?? key})`;
  }
}

function collect(name: string, shape: Shape, sections: Sections, rules: Map<string, Rule>): void {
  if (shape.kind === "text" && shape.rule) rules.set(shape.rule.what, shape.rule);
  if (shape.kind === "map") rules.set(shape.key.what, shape.key);
  if (shape.kind === "list" || shape.kind === "map") collect(name, shape.of, sections, rules);
  if (shape.kind !== "record") return;
  const own = shape.id ?? name;
  if (sections.has(own)) return;
  sections.set(own, shape);
  for (const [key, field] of Object.entries(shape.fields)) collect(key, field.shape, sections, rules);
}
