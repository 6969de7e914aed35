import { didYouMean } from "../../definitions/problem.ts";
import { findByName } from "../../definitions/registry.ts";
import { listSources } from "../../definitions/sources.ts";
import { type RunView, viewRun } from "../../engine/core/run-view.ts";
import { openCall } from "../../hosts/claude/open-call.ts";
import type { Run, Workflow } from "../../kernel/types/run.ts";
import { UserError } from "../../kernel/user-error.ts";
import { findRunDir, readPinned } from "../../store/commits.ts";
import { type KeptCommit, listArchived, listRuns, readCommits } from "../../store/runs.ts";

/** Which run a command is about: the one named (a unique beginning is enough), else the only or newest one. */
export function findRunId(root: string, named: string | undefined, archivedToo: boolean): string {
  const live = newestFirst(listRuns(root), (run) => run.updated_at).map(({ id }) => id);
  const ended = archivedToo ? newestFirst(listArchived(root), ({ commit }) => commit.run.updated_at) : [];
  const ids = [...live, ...ended.map(({ id }) => id)];
  if (named === undefined) {
    if (live.length > 1 && !archivedToo) throw new UserError("which run?", `use one of ${live.join(", ")}`);
    if (ids[0] !== undefined) return ids[0];
    const hint = "type /complete-work in your agent, or `pawl runs start complete-work`";
    throw new UserError("there is no run here", hint, 1);
  }
  const hits = ids.filter((id) => id.startsWith(named));
  if (hits.includes(named)) return named;
  if (hits.length === 1) return hits[0]!;
  const hint = hits.length > 1 ? `it matches ${hits.join(", ")}` : "`pawl runs list --all` shows them";
  throw new UserError(`there is no run ${named}`, hint, 1);
}

export const newestFirst = <T>(entries: T[], at: (entry: T) => string) =>
  entries.toSorted((a, b) => at(b).localeCompare(at(a)));

export function loadCommits(root: string, id: string): KeptCommit[] {
  const commits = readCommits(root, id);
  if (commits.length === 0) throw new UserError(`run ${id} has no readable data`, "`pawl log` may still know it", 1);
  return commits;
}

/** The same view that status, report and dashboard show. */
export function buildView(root: string, id: string, run: Run): RunView {
  const dir = findRunDir(root, id);
  const pinned = dir === null ? null : readPinned(dir, id);
  const ownerGone = listRuns(root).find((one) => one.id === id)?.owner_gone === true;
  const workflow = pinned?.ok ? pinned.workflow : null;
  return viewRun(run, { at: new Date().toISOString(), workflow, ownerGone, call: openCall(run) });
}

/** `code`: of the error where there is none of this name. */
export function workflowNamed(name: string, root: string, hint = "`pawl list` shows them", code?: number): Workflow {
  const found = findByName(name, root);
  if (!found) {
    const names = listSources(root).map((source) => source.name);
    throw new UserError(`there is no workflow ${name}`, didYouMean(name, names, hint), code);
  }
  if ("errors" in found) throw new UserError(`${found.errors[0]!.file} has errors`, "`pawl check` shows them", 1);
  return found.workflow;
}
