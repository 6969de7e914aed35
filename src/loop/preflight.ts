/** Before a loop that nobody watches: is everything there that it needs, and can the agent do what it will be asked? */
import { readProject } from "../definitions/project.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { type Check, checkSurroundings, good, type Trip, unknown } from "./preflight-checks.ts";
import { recall, remember } from "./preflight-memory.ts";
import { tryAgent } from "./trial.ts";

export type { Check } from "./preflight-checks.ts";

export interface PreflightOptions extends Trip {
  interrupted?: AbortSignal;
  /** asks the agent also if it was asked today */
  fresh?: boolean;
  /** for the agent's turn; ten minutes, or the time of one iteration if that is less */
  timeout_ms?: number;
}

export interface Preflight {
  /** nothing is known to be wrong */
  ok: boolean;
  checks: Check[];
  /** of the agent's turn; null: none was taken, or nobody told */
  cost_usd: number | null;
}

const LONGEST_MS = 10 * 60_000;

export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const around = await checkSurroundings(options);
  if (around.some(isBad))
    return done([...around, unknown("agent", "not asked: what is wrong above has to be mended first")]);
  const { root, agent, fresh = false, interrupted } = options;
  const tests = testCommand(root);
  const known = fresh ? null : recall(root, agent, tests);
  if (known !== null) return done([...around, good("agent", `${agent.name} could edit, test and commit ${known}`)]);
  const timeout_ms = options.timeout_ms ?? Math.min(LONGEST_MS, options.settings.timeout.value * 1000);
  const tried = await tryAgent({ root, agent, tests, timeout_ms, ...(interrupted && { interrupted }) });
  if (!tried.checks.some(isBad)) remember(root, agent, tests);
  return done([...around, ...tried.checks], tried.cost_usd);
}

const isBad = ({ ok }: Check) => ok === false;

const done = (checks: Check[], cost_usd: number | null = null): Preflight => ({
  ok: !checks.some(isBad),
  checks,
  cost_usd,
});

/** As it is typed in the project's folder; null: pawl.yaml has no such gate. */
function testCommand(root: string): string | null {
  const read = readProject(root);
  const gate = "project" in read ? read.project.gates.tests : undefined;
  return gate ? asTyped(gate) : null;
}

function asTyped({ run, tests, shell, cwd }: Gate): string | null {
  const words = tests ?? run;
  const line = words ? words.map(quoted).join(" ") : shell;
  if (line === undefined) return null;
  return cwd === undefined ? line : `cd ${quoted(cwd)} && ${line}`;
}

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
