import { readFileSync } from "node:fs";
import { workflowSchema } from "../../src/definitions/schema/json.ts";
import { RULES } from "../../src/definitions/schema/words.ts";
import { PLACEHOLDERS } from "../../src/definitions/schema/workflow.ts";
import { formatSections, titlesIn } from "./format.ts";
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

export function workflowReference(): string {
  const schema = workflowSchema();
  return page(
    "# Workflow files",
    GENERATED,
    "A workflow is one YAML file: `.pawl/workflows/<name>.yaml` in a project, `~/.config/pawl/workflows/<name>.yaml` for all of yours. How to write one: [the guide](../guides/writing-a-workflow.md). For editors: [schema/workflow.json](../../schema/workflow.json).",
    fenced(readFileSync(EXAMPLE, "utf8"), "yaml"),
    "`pawl check` proves more than these tables say: every stage can be reached and can come to an end, every signal has one meaning, every prompt exists.",
    ...formatSections(schema),
    "## Words",
    table(
      ["called", "how it is written"],
      titlesIn(schema).map((title) => [title, RULES.get(title) ?? ""]),
    ),
    "## Placeholders",
    "A template may hold these; `pawl check` refuses others.",
    table(
      ["written", "becomes"],
      PLACEHOLDERS.map((name) => [`\`{${name}}\``, MEANINGS[name]]),
    ),
  );
}
