/** The job of a gate: its name, and what it starts. */
import type { Gate } from "../../kernel/types/workflow.ts";
import type { Environment } from "../../store/environment.ts";
import { commandOf } from "../core/kinds/index.ts";
import type { JobSpec } from "./job.ts";

const DEFAULT_TIMEOUT_S = 600;

/** The job of this gate on this tree in this environment: every process that asks finds the same one. */
export const jobId = (gate: Gate, tree: string, { hash }: Environment) => `${gate.id}-${tree.slice(0, 24)}-${hash}`;

/** Its tests on the tree of the beginning, before anyone asks. */
export const aheadId = (gate: Gate, tree: string, environment: Environment) =>
  `${jobId(gate, tree, environment)}${AHEAD}`;
export const AHEAD = "-ahead";

export function jobSpec(gate: Gate): JobSpec {
  const { cwd = "", env = {}, timeout = DEFAULT_TIMEOUT_S, retries = 0 } = gate;
  const command = commandOf(gate) ?? { argv: [] };
  const argv = "shell" in command ? ["/bin/sh", "-c", command.shell] : command.argv;
  return { argv, cwd, env, timeout_ms: timeout * 1000, retries, ...(gate.tests && { report: true }) };
}
