import { renderMermaid, renderText } from "../../definitions/graph.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import { PHASES, type Procedure } from "../../kernel/types/procedure.ts";
import type { Workflow } from "../../kernel/types/run.ts";
import { composePrompt } from "../../loop/core/compose.ts";
import type { Command, Io, Parsed } from "../shared/args.ts";
import { type Facts, factLines } from "../shared/screen.ts";
import { compiled, compiledTarget, procedureTarget } from "./targets.ts";

export const usage = `usage: pawl show <name|file> [--json | --prompts | --source]

<name> is a workflow, or a procedure of \`pawl loop\`.

--json     the compiled workflow, as it is pinned to a run
--prompts  every text the agent is given
--source   its YAML as it was written; also of a built-in one, to begin your own with

exit code: 0 shown, 1 the workflow has problems, 2 wrong usage`;

export const options = ["--json", "--prompts", "--source"];
export const exclusive = [options];
export const showsUsage = true;

export function run({ words, flags }: Parsed, io: Io): number {
  const procedure = words.length === 1 ? procedureTarget(words[0]!, io) : null;
  const found = procedure ? compiled(procedure, io) : compiledTarget(words, io);
  if (found === null) return 1;
  io.out(flags.has("--source") ? found.text : `${buildView(found, flags)}\n`);
  return 0;
}

function buildView(found: { workflow: Workflow } | { procedure: Procedure }, flags: ReadonlySet<string>): string {
  if ("workflow" in found) {
    if (flags.has("--json")) return JSON.stringify(found.workflow, null, 2);
    return flags.has("--prompts") ? prompts(found.workflow) : overview(found.workflow);
  }
  if (flags.has("--json")) return JSON.stringify(found.procedure, null, 2);
  return safeText(flags.has("--prompts") ? firstPrompt(found.procedure) : procedureOverview(found.procedure));
}

// ── A workflow ──────────────────────────────────────────────────────────────

function overview(workflow: Workflow): string {
  const { source, document, reading, log, limits } = workflow;
  const facts: Facts = [
    ["source", safeText(source)],
    ["document", safeText(document?.path ?? "none")],
    ["reading", reading && safeText(reading)],
    ["log", safeText(log ?? "none")],
    ["limits", `${limits.idle} continues without progress, ${limits.laps} times in a stage, then it is your turn`],
  ];
  return [renderText(workflow), "", ...factLines(facts, 10)].join("\n");
}

function prompts(workflow: Workflow): string {
  const texts: [string, string][] = [
    ["intro", workflow.intro],
    ...workflow.stages.map((stage): [string, string] => [`stage ${stage.id}`, stage.say]),
    ...Object.entries(workflow.asks).map(([name, ask]): [string, string] => [`ask ${name}`, ask.text]),
  ];
  const filled = texts.filter(([, text]) => text !== "");
  const blocks = filled.map(([name, text]) => `── ${name} ──\n\n${safeText(text)}\n`);
  return blocks.join("\n").trimEnd();
}

// ── A procedure ─────────────────────────────────────────────────────────────

function firstPrompt(procedure: Procedure): string {
  const { max_iterations: max = 5 } = procedure;
  const at = { iteration: 1, max: max === "unlimited" ? null : max };
  return composePrompt(procedure, at, { context: [], notes: [] }).trimEnd();
}

function procedureOverview(procedure: Procedure): string {
  const { name, title, about, max_iterations, failure_threshold, timeout, gates, phases } = procedure;
  const limits = [
    max_iterations !== undefined && `${max_iterations} iterations`,
    failure_threshold !== undefined && `${failure_threshold} failures in a row`,
    timeout !== undefined && `${timeout} s an iteration`,
  ];
  const facts: Facts = [
    ["SUCCESS", procedure.success],
    ["no signal", procedure.again],
    ["FAILURE", procedure.failure],
    ["checked", gates.map((gate) => gate.name).join("; ") || "nothing: SUCCESS is believed"],
    ["limits", limits.filter(Boolean).join(", ") || "those of the loop"],
    ["drives", procedure.drives],
    ["source", procedure.source],
  ];
  const used = PHASES.filter((phase) => phases[phase].length > 0);
  const fragments = used.flatMap((phase) => [`● ${phase}`, ...phases[phase].map(fragmentLine)]);
  return [`${name}: ${title} (pawl loop ${name})`, "", about, "", ...factLines(facts, 10), "", ...fragments].join("\n");
}

function fragmentLine({ source, text }: { source: string; text: string }): string {
  const first = text.split("\n", 1)[0]!.replace(/^#+ */, "").slice(0, 60);
  return `    ${first}  (${source})`;
}

// ── `pawl graph` ────────────────────────────────────────────────────────────

export const graph: Command = {
  usage: `usage: pawl graph <name|file> [--mermaid]

A picture for the terminal: stages from top to bottom, with every signal and where it leads.

--mermaid  a Mermaid flowchart instead, for Markdown files and documentation

exit code: 0 drawn, 1 the workflow has problems, 2 wrong usage`,
  options: ["--mermaid"],
  showsUsage,
  run({ words, flags }, io) {
    const found = compiledTarget(words, io);
    if (found === null) return 1;
    io.out(`${flags.has("--mermaid") ? renderMermaid(found.workflow) : renderText(found.workflow)}\n`);
    return 0;
  },
};
