/** What `pawl show` says of a procedure. */
import { printable, renderProblem } from "../../definitions/problem.ts";
import type { FoundProcedure } from "../../definitions/procedures.ts";
import { PHASES, type Procedure } from "../../kernel/types/procedure.ts";
import { composePrompt } from "../../loop/core/compose.ts";
import type { Io } from "./workflow-args.ts";

export function showProcedure(found: FoundProcedure, flags: ReadonlySet<string>, io: Io): number {
  if ("errors" in found) {
    io.err(`${found.errors.map(renderProblem).join("\n")}\n`);
    return 1;
  }
  io.out(flags.has("--source") ? found.text : `${view(found.procedure, flags)}\n`);
  return 0;
}

function view(procedure: Procedure, flags: ReadonlySet<string>): string {
  if (flags.has("--json")) return JSON.stringify(procedure, null, 2);
  if (!flags.has("--prompts")) return printable(overview(procedure));
  const { max_iterations: max = 5 } = procedure;
  const at = { iteration: 1, max: max === "unlimited" ? null : max };
  return printable(composePrompt(procedure, at, { context: [], notes: [] }).trimEnd());
}

function overview(procedure: Procedure): string {
  const { max_iterations, failure_threshold, timeout, gates } = procedure;
  const limits = [
    ...(max_iterations === undefined ? [] : [`${max_iterations} iterations`]),
    ...(failure_threshold === undefined ? [] : [`${failure_threshold} failures in a row`]),
    ...(timeout === undefined ? [] : [`${timeout} s an iteration`]),
  ];
  const facts: [string, string][] = [
    ["SUCCESS", procedure.success],
    ["no signal", procedure.again],
    ["FAILURE", procedure.failure],
    ["checked", gates.map((gate) => gate.name).join("; ") || "nothing: SUCCESS is believed"],
    ["limits", limits.join(", ") || "those of the loop"],
    ...(procedure.drives === undefined ? [] : [["drives", procedure.drives] as [string, string]]),
    ["source", procedure.source],
  ];
  const head = [`${procedure.name}: ${procedure.title} (pawl loop ${procedure.name})`, "", procedure.about, ""];
  return [...head, ...facts.map(([name, value]) => `${name.padEnd(9)} ${value}`), "", ...phaseLines(procedure)].join(
    "\n",
  );
}

function phaseLines({ phases }: Procedure): string[] {
  const told = PHASES.filter((phase) => phases[phase].length > 0);
  return told.flatMap((phase) => [
    `● ${phase}`,
    ...phases[phase].map(({ source, text }) => `    ${named(source, text)}`),
  ]);
}

function named(source: string, text: string): string {
  const first = text.split("\n", 1)[0]!.replace(/^#+ */, "").slice(0, 60);
  return `${first}  (${source})`;
}
