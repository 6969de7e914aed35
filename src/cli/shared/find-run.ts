import { type RunView, viewRun } from "../../engine/core/run-view.ts";
import { openCall } from "../../hosts/claude/open-call.ts";
import type { Run } from "../../kernel/types/run.ts";
import { UserError } from "../../kernel/user-error.ts";
import { findRunDir } from "../../store/archive.ts";
import { readPinned } from "../../store/commits.ts";
import { type Kept, listArchived, listRuns, readCommits } from "../../store/runs.ts";

/** Which run a command is about: the one named (a unique beginning is enough), else the only or newest one. */
export function findRunId(root: string, named: string | undefined, archivedToo: boolean): string {
  const live = listRuns(root).toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
  const ids = [...live.map((run) => run.id), ...(archivedToo ? archivedIds(root) : [])];
  if (named === undefined) {
    if (live.length > 1 && !archivedToo)
      throw new UserError("which run?", `use one of ${live.map((run) => run.id).join(", ")}`);
    const newest = ids[0];
    if (newest) return newest;
    throw new UserError(
      "there is no run here",
      "type /complete-work in your agent, or `pawl runs start complete-work`",
      1,
    );
  }
  const hits = ids.filter((id) => id === named || id.startsWith(named));
  if (hits.length === 1) return hits[0]!;
  const exact = hits.find((id) => id === named);
  if (exact) return exact;
  const hint = hits.length > 1 ? `it matches ${hits.join(", ")}` : "`pawl runs list --all` shows them";
  throw new UserError(`there is no run ${named}`, hint, 1);
}

const archivedIds = (root: string) =>
  listArchived(root)
    .toSorted((a, b) => b.commit.run.updated_at.localeCompare(a.commit.run.updated_at))
    .map((run) => run.id);

export function commitsOf(root: string, id: string): Kept[] {
  const commits = readCommits(root, id);
  if (commits.length === 0) throw new UserError(`run ${id} has no readable data`, "`pawl log` may still know it", 1);
  return commits;
}

/** The same view that status, report and dashboard show. */
export function viewOf(root: string, id: string, run: Run): RunView {
  const dir = findRunDir(root, id);
  const pinned = dir === null ? null : readPinned(dir, id);
  const ownerGone = listRuns(root).find((one) => one.id === id)?.owner_gone === true;
  const workflow = pinned?.ok ? pinned.workflow : null;
  return viewRun(run, { at: new Date().toISOString(), workflow, ownerGone, call: openCall(run) });
}
