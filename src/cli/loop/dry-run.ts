/** What a loop would do: settings and where each comes from, the prompt, and any problem. Starts nothing. */

import type { Agent } from "../../loop/agents.ts";
import { composePrompt } from "../../loop/core/compose.ts";
import type { Io } from "../shared/args.ts";
import type { LoopRequest } from "./request.ts";

export function dryRun(
  { procedure, settings, context }: LoopRequest,
  agent: { agent: Agent } | { error: string; hint: string },
  json: boolean,
  io: Io,
): number {
  const max = settings.max_iterations.value;
  const prompt = composePrompt(procedure, { iteration: 1, max }, { context, notes: [] });
  const problem = "error" in agent ? agent : null;
  if (json) {
    const argv = "agent" in agent ? agent.agent.argv : null;
    io.out(
      `${JSON.stringify({ procedure: procedure.name, source: procedure.source, settings, argv, prompt, problem }, null, 2)}\n`,
    );
    return problem ? 1 : 0;
  }
  const rows = Object.entries(settings).map(
    ([name, { value, from }]) => `  ${name.padEnd(18)} ${String(value ?? "unlimited").padEnd(12)} ${from}`,
  );
  const gates = procedure.gates.map(({ name }) => `  ${name}`);
  io.out(
    [
      `Procedure ${procedure.name} (${procedure.source})`,
      `  SUCCESS   ${procedure.success}`,
      `  continue  ${procedure.again}`,
      `  FAILURE   ${procedure.failure}`,
      "",
      "Settings",
      ...rows,
      "",
      ...("agent" in agent ? ["Agent", `  ${agent.agent.argv.join(" ")}`, ""] : []),
      ...(gates.length > 0 ? ["SUCCESS counts only if", ...gates, ""] : []),
      "Prompt of the first iteration",
      "",
      prompt,
    ].join("\n"),
  );
  if (problem) io.err(`pawl: ${problem.error}\n  hint: ${problem.hint}\n`);
  return problem ? 1 : 0;
}
