import { stageLine, taskValues } from "../../auto/core/text.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import type { Ask, Run, Stage, Workflow } from "../../kernel/types/run.ts";
import { gatesOf, leavesOf, stageOf, stepNumber } from "../../kernel/types/workflow.ts";
import type { Draft } from "./draft.ts";

/** Every text for the agent begins with this, so that we know our own words when they come back. */
export const MARK = "[pawl]";

export function fill(template: string, values: Record<string, string>): string {
  return template
    .replace(/\{([a-z_]+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole))
    .trim();
}

/** What the templates of a workflow may name. */
export function templateValues(draft: Draft): Record<string, string> {
  const { run, workflow } = draft;
  const stage = stageOf(workflow, run.stage);
  const report = run.reports.at(-1);
  // What the person typed, or else the names of what the run is checked by.
  const gates = gatesOf(workflow);
  return {
    run: run.id,
    stage: stage.id,
    title: stage.title,
    signals: signalList(workflow, stage),
    steps: stepList(draft, ""),
    commit: run.commit_hash ? ` (commit ${run.commit_hash.slice(0, 12)})` : "",
    report: report ? reportPath(run.id, report.file) : "(no report)",
    issues: issueList(draft),
    choices: "",
    plan: run.plan.join(" → "),
    stages: stageLine(workflow, run.plan),
    ...taskValues(run.work.task),
    tests: workflow.commands?.tests ?? "the tests",
    review: workflow.commands?.review ?? "the review",
    command: leavesOf(gates).find((gate) => gate.typed)?.shell ?? gates.map(({ name }) => name).join(" and "),
  };
}

export const reportPath = (run: string, file: string) => `.pawl/runs/${run}/reports/${file}`;

function issueList(draft: Draft): string {
  const report = draft.run.reports.at(-1);
  const issues = report?.critical ?? [];
  const shown = issues.slice(0, 10).map((issue) => `- ${issue}`);
  if (issues.length > 10) shown.push(`- … and ${issues.length - 10} more in the report`);
  if (shown.length === 0 && report) shown.push(`- see the report: ${reportPath(draft.run.id, report.file)}`);
  return shown.join("\n");
}

export const signalTag = ({ signals }: Workflow, name: string) =>
  signals === "stage" ? `::: WORKFLOW_STAGE: ${name} :::` : `<promise>${name}</promise>`;

export const signalList = (workflow: Workflow, stage: Stage) =>
  Object.keys(stage.on)
    .map((name) => `  ${signalTag(workflow, name)}`)
    .join("\n");

export function header(run: Run, workflow: Workflow): string {
  const stage = stageOf(workflow, run.stage);
  const number = stepNumber(workflow, stage.id);
  return `${MARK} ${workflow.name}, run ${run.id}: step ${number} of ${workflow.stages.length} (${stage.id}): ${stage.title}`;
}

/** What the agent is to do now. */
export function instruction(draft: Draft, done = ""): string {
  const { run, workflow } = draft;
  const stage = stageOf(workflow, run.stage);
  // The document of this family begins its texts itself, and ends them with the marker.
  if (workflow.signals === "stage") {
    return [done, fill(stage.say, templateValues(draft)), header(run, workflow)]
      .filter((part) => part !== "")
      .join("\n\n");
  }
  return [header(run, workflow), fill(stage.say, templateValues(draft)), claimRule(workflow, stage)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function claimRule(workflow: Workflow, stage: Stage): string {
  if (Object.keys(stage.on).length === 0) return "";
  return [
    "When this step is over, end your message with exactly one of these, alone on its own line, outside any code block:",
    signalList(workflow, stage),
    "It is a claim: give it only when it is true. Explain the why in the lines before it.",
  ].join("\n");
}

export function resumingLine(draft: Draft): string {
  const { run, workflow } = draft;
  return `Resuming workflow from Step ${stepNumber(workflow, run.stage)} (${run.stage})...`;
}

export function askText(draft: Draft, ask: Ask): string {
  return [
    header(draft.run, draft.workflow),
    fill(ask.text, { ...templateValues(draft), choices: choiceLines(ask) }),
  ].join("\n\n");
}

/** Next to a message that shows the person issues and choices: this text is on their screen too. */
export function shortAskText(draft: Draft, ask: Ask): string {
  const choices = Object.values(ask.choices).map(({ label }) => `"${label}"`);
  const issues = "(They have just been shown the issues and the choices: do not repeat them.)";
  const values = { ...templateValues(draft), issues, choices: choices.join(", ") };
  return `${header(draft.run, draft.workflow)}\n\n${fill(ask.text, values)}`;
}

export const choiceLines = (ask: Ask) =>
  Object.values(ask.choices)
    .map((choice, i) => `${i + 1}. ${choice.label}`)
    .join("\n");

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Each step of the plan with ✅ or ❌, the failing one with its cause. */
export function stepList(draft: Draft, cause: string): string {
  const { run } = draft;
  return run.plan
    .map((id) => {
      if (run.done[id]) return `✅ ${capital(id)}`;
      return `❌ ${capital(id)}${id === run.stage && cause ? ` (${cause})` : ""}`;
    })
    .join("\n");
}

/** For a run that ends before its time: what was done and what was not. */
export function partialList(draft: Draft): string {
  const { run, workflow } = draft;
  const done: string[] = [];
  const open: string[] = [];
  for (const id of run.plan) {
    const { title } = stageOf(workflow, id);
    if (run.done[id]) done.push(`✅ ${title}`);
    else if (run.reports.some((report) => report.stage === id)) done.push(`⏹️ ${title} (issues found)`);
    else open.push(`⊙ ${title} skipped`);
  }
  return `Completed:\n${done.join("\n") || "(nothing)"}\n\nNot completed:\n${open.join("\n") || "(nothing)"}`;
}

/** The first sentence of a failure message that is neither heading nor signal: its cause, in the agent's words. */
export function findCause(message: string): string {
  const line = message
    .split("\n")
    .find((text) => text.trim() !== "" && !/^\s*(#|<promise>|```|[-*_]{3,}\s*$)/.test(text));
  return line ? excerpt(line.replace(/^[\s*>-]+/, ""), 120) : "";
}
