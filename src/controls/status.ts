/** What STATUS shows, looked up: tasks, runs, the tree. One that fails keeps nothing else from being shown. */

import { spawnGit } from "../checks/git.ts";
import { type RunView, viewRun } from "../engine/core/run-view.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import { attempt } from "../kernel/attempt.ts";
import type { RunSummary } from "../kernel/types/run.ts";
import { actorOf, type Task } from "../kernel/types/task.ts";
import { type Actors, knownActors } from "../store/actors.ts";
import { messageOf } from "../store/files.ts";
import { findGit } from "../store/git-dir.ts";
import { isOwned } from "../store/place.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { isElsewhere, isExpired } from "../trackers/core/tasks.ts";
import type { Answer, Tracker } from "../trackers/index.ts";
import { machineName } from "../trackers/machine.ts";
import { openProjectTracker } from "../trackers/project-tracker.ts";
import { arrange, type StatusView } from "./core/status.ts";

export function gatherStatus(root: string, at: string): StatusView {
  return { ...gatherTasks(root), ...gatherRuns(root, at), dirty: gatherDirty(root) };
}

// ── Tasks ───────────────────────────────────────────────────────────────────

type TaskView = Pick<StatusView, "tracker" | "tasks" | "why">;

/** A project without a tracker has no tasks; one whose tracker cannot be asked has tasks that no one knows. */
export function gatherTasks(root: string): TaskView {
  try {
    const opened = openProjectTracker(root);
    if (opened.kind === "absent") return { tracker: "", tasks: null };
    if (opened.kind === "failed") return { tracker: "", tasks: null, why: opened.why };
    const { name: tracker } = opened.value;
    const tasks = inOrder(opened.value);
    return tasks.kind === "ok" ? { tracker, tasks: tasks.value } : { tracker, tasks: null, why: tasks.why };
  } catch (error) {
    return { tracker: "", tasks: null, why: messageOf(error) };
  }
}

/** session.md says itself what waits for what; of the others each knows best what is ready. */
function inOrder(tracker: Tracker): Answer<Task[]> {
  const listed = tracker.list({});
  if (listed.kind !== "ok") return listed;
  if (tracker.name === "session-md") return { kind: "ok", value: arrange(listed.value, null) };
  const ready = tracker.ready({ labels: [] });
  return ready.kind === "ok" ? { kind: "ok", value: arrange(listed.value, ready.value) } : ready;
}

/**
 * Which tasks in progress this session may go on with: its own, no one's, the person's own, and those of a session of this
 * machine that is dead. Never another live session's, another person's, another machine's or another worktree's.
 */
export function mayResume(root: string, session: string): (task: Task) => boolean {
  const [own, here] = [actorOf(session), machineName()];
  let known: Actors | undefined;
  let names: Set<string> | undefined;
  return (task) => {
    if (isElsewhere(task, here)) return false;
    if (task.owner === null || task.owner === own) return true;
    known ??= knownActors();
    if (isExpired(task, Date.now(), known, here)) return true;
    names ??= ownNames(root);
    return names.has(task.owner);
  };
}

/** As trackers name who sits here: the agent, too, claims under this name when it uses the tracker's own program. */
function ownNames(root: string): Set<string> {
  const { BEADS_ACTOR, BD_ACTOR, USER, LOGNAME } = process.env;
  const fromGit = ["user.name", "user.email"].map((key) => gitSays(root, ["config", "--get", key])?.trim());
  return new Set([BEADS_ACTOR, BD_ACTOR, USER, LOGNAME, ...fromGit].flatMap((name) => name || []));
}

// ── Runs ────────────────────────────────────────────────────────────────────

function gatherRuns(root: string, at: string): Pick<StatusView, "runs" | "unread"> {
  const runs: RunView[] = [];
  const unread: string[] = [];
  const orUnread = (work: () => void) => {
    try {
      work();
    } catch (error) {
      unread.push(messageOf(error));
    }
  };
  const isFresh = (updated: string) => Date.parse(at) - Date.parse(updated) <= STALE_MS;
  orUnread(() => {
    const known = listRuns(root).filter(({ status, updated_at }) => status !== "ended" && isFresh(updated_at));
    for (const one of known) orUnread(() => runs.push(...buildView(root, one, at)));
  });
  return { runs, unread };
}

function buildView(root: string, { id, owner_gone }: RunSummary, at: string): RunView[] {
  const loaded = loadRun(root, id);
  // A watch is over with the message in which this may be shown.
  if (loaded === null || loaded.commit.run.status === "ended" || loaded.workflow.watch) return [];
  const { workflow, commit } = loaded;
  const { run, records } = commit;
  return [viewRun(run, { at, workflow, ownerGone: owner_gone, call: openCall(run), records })];
}

// ── Tree ────────────────────────────────────────────────────────────────────

function gatherDirty(root: string): StatusView["dirty"] {
  if (findGit(root) === null) return null;
  const said = gitSays(root, ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--", "."]);
  if (said === null) return { why: "git did not answer" };
  const paths = said.split("\0").flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []));
  return { files: paths.filter((path) => !isOwned(path)).length };
}

/** null: git could not be started, or failed. */
function gitSays(root: string, args: string[]): string | null {
  const done = attempt(() => spawnGit(root, args), null);
  return done?.exitCode === 0 ? done.stdout.toString() : null;
}
