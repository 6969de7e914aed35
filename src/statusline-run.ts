/** The run of a session for its status line, and what the client says that it costs. */
import { type RunLine, runLine, runText, stageBar } from "./core/run-line.ts";
import type { Run } from "./core/types.ts";
import { liveDir, readCommit, seqsIn } from "./store/commits.ts";
import { type Figures, keepCost } from "./store/cost.ts";
import { logError } from "./store/errors.ts";
import { insideRoot, lookAt } from "./store/files.ts";
import { isOff, readPointer } from "./store/place.ts";

/** The same in more and in fewer words, the richest first; null: none is at work in this session. */
export function sessionRun(session: string, value: object, at: string): string[] | "off" | null {
  const pointer = readPointer("claude", session);
  if (pointer === null) return null;
  // Looked for first: a file that is missed costs more than one that is not asked for.
  if (pointer.off || (lookAt(`${pointer.root}/.pawl/off`) !== undefined && isOff(pointer.root))) return "off";
  for (const id of [pointer.run, ...(pointer.formal ?? [])]) {
    const run = id === "" ? null : newest(pointer.root, id);
    if (run === null || run.status === "ended" || run.owner?.session !== session) continue;
    keep(pointer.root, id, session, value, at);
    const minutes = Math.max(0, Math.floor((Date.parse(at) - Date.parse(run.entered_at)) / 60_000)) || 0;
    return words(runLine(run, { minutes, ownerGone: false, arm: "" }));
  }
  return null;
}

/** Only looked at: what is broken is put aside by the next hook. */
function newest(root: string, id: string): Run | null {
  const dir = insideRoot(root, liveDir(id));
  const seqs = seqsIn(dir) ?? [];
  for (let at = seqs.length - 1; at >= 0; at--) {
    const read = readCommit(dir, id, seqs[at]!);
    if (read.ok) return read.commit.run;
  }
  return null;
}

function words(line: RunLine): string[] {
  const { workflow, stage, step, steps, task, waits } = line;
  const full = runText(line);
  if (waits === null) return task === "" ? [full] : [`${full}  ${task}`];
  const { what, how } = waits;
  return [
    `${full}  ${what}: ${how}`,
    `${workflow}  ${stageBar(step, steps)}  ${stage}  ${what}: ${how}`,
    `${workflow}  ${stage}  ${what}: ${how}`,
    `${stage}  ${how}: ${what}`,
  ];
}

// ── Cost ────────────────────────────────────────────────────────────────────

/** A figure that cannot be kept must not cost the person the line. */
function keep(root: string, id: string, session: string, value: object, at: string): void {
  const { cost, context_window: context } = value as Record<string, Record<string, unknown> | null | undefined>;
  if (typeof cost !== "object" || cost === null || typeof cost.total_cost_usd !== "number") return;
  const figures: Figures = {
    usd: numberOf(cost.total_cost_usd),
    ms: numberOf(cost.total_duration_ms),
    api_ms: numberOf(cost.total_api_duration_ms),
    added: numberOf(cost.total_lines_added),
    removed: numberOf(cost.total_lines_removed),
  };
  const used = context?.used_percentage;
  try {
    keepCost(root, id, session, figures, typeof used === "number" ? numberOf(used) : null, at);
  } catch (error) {
    logError(root, "cost", error);
  }
}

const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);
