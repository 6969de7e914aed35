/** Loops as they stand on disk: also those that are at work right now. */
import { plain } from "../kernel/text/safe-text.ts";
import { logError } from "../store/errors.ts";
import { isRunning, type KeptLoop, listLoops } from "../store/loops.ts";

const MOST_LINES = 20;

export function loopsOf(roots: string[]) {
  return roots.flatMap(loopsIn).toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
}

function loopsIn(root: string) {
  try {
    return listLoops(root).map((kept) => viewOf(root, kept));
  } catch (error) {
    logError(root, "dashboard", error);
    return [];
  }
}

function viewOf(project: string, kept: KeptLoop) {
  const { state, waiting } = kept;
  return {
    project,
    id: state.id,
    run: state.run,
    procedure: state.procedure,
    ai: state.ai,
    iterations: state.iterations,
    failures: state.lines.filter(({ verdict }) => verdict === "failure").length,
    cost_usd: state.cost_usd,
    approximate: !state.cost_known,
    outcome: state.outcome,
    why: plain(state.why),
    started_at: state.created_at,
    updated_at: state.updated_at,
    running: isRunning(kept),
    waiting,
    limits: kept.limits ?? null,
    lines: state.lines.slice(-MOST_LINES).map((line) => ({ ...line, why: plain(line.why) })),
  };
}
