/** What preflight can check without the agent: budget, disk, git, trust, tracker, hooks. */

import { statfsSync } from "node:fs";
import { computeClosure } from "../checks/closure/closure.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { spawnGit } from "../checks/git.ts";
import type { LoopSettings } from "../definitions/loop-config.ts";
import { readProject } from "../definitions/project.ts";
import { findByName } from "../definitions/registry.ts";
import { counted } from "../kernel/text/counted.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Procedure } from "../kernel/types/procedure.ts";
import { type Gate, gatesOf, leavesOf } from "../kernel/types/workflow.ts";
import { lookAt, messageOf, nearestThere } from "../store/files.ts";
import { findGit, findGitDir } from "../store/git-dir.ts";
import { homeDir, statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { readTrust } from "../store/trust.ts";
import { openProjectTracker } from "../trackers/project-tracker.ts";
import type { Agent, Environment } from "./agents.ts";

export interface Check {
  name: string;
  /** null: unknown, not tried, or not needed here */
  ok: boolean | null;
  detail: string;
  /** how to fix it */
  remedy?: string;
}

export interface Trip {
  root: string;
  procedure: Procedure;
  agent: Agent;
  settings: LoopSettings;
  /** are Pawl's hooks installed for Claude Code? */
  hooks: () => Promise<HooksFound>;
  /** how much has to be free */
  room?: Room;
}

export interface HooksFound {
  ok: boolean;
  what: string;
  remedy: string;
}

interface Room {
  mb: number;
  files: number;
}

export const good = (name: string, detail: string): Check => ({ name, ok: true, detail });
export const bad = (name: string, detail: string, remedy: string): Check => ({ name, ok: false, detail, remedy });
export const unknown = (name: string, detail: string, remedy?: string): Check => ({
  name,
  ok: null,
  detail,
  ...(remedy !== undefined && { remedy }),
});

export async function checkSurroundings(trip: Trip): Promise<Check[]> {
  const checks: [name: string, check: () => Check[] | Promise<Check[]>][] = [
    ["budget", () => [checkBudget(trip.settings)]],
    ["disk", () => [checkDisk(trip.root, trip.room ?? ROOM)]],
    ["git", () => checkGit(trip)],
    ["trust", () => checkTrust(trip)],
    ["tracker", () => (needsTracker(trip.procedure) ? [checkTracker(trip.root)] : [])],
    ["hooks", () => (trip.agent.name === "claude" ? checkHooks(trip) : [])],
  ];
  const found: Check[] = [];
  for (const [name, check] of checks) {
    try {
      found.push(...(await check()));
    } catch (error) {
      // What could not be checked is not fine.
      found.push(bad(name, `could not be checked: ${safeText(messageOf(error))}`, "fix that and start again"));
    }
  }
  return found;
}

function checkBudget({ budget }: LoopSettings): Check {
  if (budget.value > 0) return good("budget", `${budget.value} USD (${budget.from})`);
  return bad("budget", `the budget is ${budget.value} USD (${budget.from})`, "set it above 0, such as --budget 20");
}

// ── Disk ────────────────────────────────────────────────────────────────────

const MB = 1024 * 1024;
const ROOM: Room = { mb: 500, files: 10_000 };

function checkDisk(root: string, room: Room): Check {
  const scarce = [root, nearestThere(statePath())].map((path) => scarcity(path, room)).find((one) => one !== null);
  if (scarce) return bad("disk", scarce, `make room: a loop needs at least ${room.mb} MB and ${room.files} files`);
  return good("disk", `more than ${room.mb} MB free`);
}

/** Some file systems do not count blocks or files: those have no such limit. */
function scarcity(path: string, room: Room): string | null {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(path);
  const free = Math.floor((bavail * bsize) / MB);
  if (blocks > 0 && free < room.mb) return `only ${free} MB free on the disk of ${path}`;
  return files > 0 && ffree < room.files ? `only ${ffree} more files fit on the disk of ${path}` : null;
}

// ── Git ─────────────────────────────────────────────────────────────────────

const IN_PROGRESS: [file: string, what: string, remedy: string][] = [
  ["MERGE_HEAD", "a merge", "finish it, or `git merge --abort`"],
  ["rebase-merge", "a rebase", "finish it, or `git rebase --abort`"],
  ["rebase-apply", "a rebase", "finish it, or `git rebase --abort`"],
  ["CHERRY_PICK_HEAD", "a cherry-pick", "finish it, or `git cherry-pick --abort`"],
  ["REVERT_HEAD", "a revert", "finish it, or `git revert --abort`"],
  ["BISECT_LOG", "a bisection", "finish it, or `git bisect reset`"],
  ["index.lock", "another git command", "wait for it; if there is none, remove .git/index.lock"],
];

function checkGit({ root, agent }: Trip): Check[] {
  const top = findGit(root)?.top;
  const folder = top === undefined ? null : findGitDir(top);
  if (folder === null) return [bad("git", "this is not a git repository", "run `git init`, and commit what is there")];
  return [checkRepository(root, folder), checkIdentity(root, agent.env)];
}

function checkRepository(root: string, folder: string): Check {
  const status = ask(root, ["status", "--porcelain=v1", "--branch", "-z", "--untracked-files=no"]);
  if (status.failed) return bad("git", `git failed: ${status.err}`, "fix what git reports");
  const open = IN_PROGRESS.find(([file]) => lookAt(join(folder, file)) !== undefined);
  if (open) return bad("git", `${open[1]} is in progress in this repository`, open[2]);
  const [head = "", ...changed] = status.out.split("\0").filter((field) => field !== "");
  if (changed.some((field) => /^(?:U.|.U|AA|DD)/.test(field)))
    return bad("git", "files have unresolved conflicts", "resolve and commit them");
  if (head.includes("(no branch)"))
    return unknown("git", "HEAD is detached: commits could get lost", "`git switch -c <branch>` creates a branch");
  if (changed.length === 0) return good("git", "the repository is clean");
  const count = counted(changed.length, "changed file");
  return good("git", `${count} not committed: the agent may commit them with its own`);
}

function checkIdentity(root: string, env: Environment): Check {
  const isMissing = (key: string, part: string) =>
    !(env[`GIT_AUTHOR_${part}`] && env[`GIT_COMMITTER_${part}`]) && ask(root, ["config", "--get", key]).failed;
  const missing = [
    ...(isMissing("user.name", "NAME") ? ["user.name"] : []),
    ...(isMissing("user.email", "EMAIL") ? ["user.email"] : []),
  ];
  if (missing.length === 0) return good("identity", "git has a name and an email address");
  const remedy = missing.map((key) => `\`git config ${key} "…"\``).join(" and ");
  return bad("identity", `git has no ${missing.join(" and no ")}, so it cannot commit`, remedy);
}

export function ask(root: string, args: string[]): { failed: boolean; out: string; err: string } {
  const { exitCode, stdout, stderr } = spawnGit(root, args);
  const err = safeText(stderr.toString()).trim().split("\n")[0] || `exit ${exitCode}`;
  return { failed: exitCode !== 0, out: stdout.toString(), err };
}

// ── Trust ───────────────────────────────────────────────────────────────────

function checkTrust({ root, procedure }: Trip): Check[] {
  const { gates, problem } = gatesIn(root, procedure);
  if (problem !== null) return [bad("trust", problem, "`pawl check` shows the errors")];
  const commands = leavesOf(gates).filter((gate) => !gate.typed && commandOf(gate));
  if (commands.length === 0) return [good("trust", "no commands of this repository to run")];
  const names = safeText([...new Set(commands.map(({ name }) => name))].join(", "));
  const trust = readTrust(root, computeClosure(root, commands));
  if (trust.trusted) return [good("trust", `its checks are trusted: ${names}`)];
  const what = `its checks (${names}) are not trusted: ${safeText(trust.why)}`;
  return [bad("trust", what, "`pawl trust` shows them and asks you")];
}

/** The gate that runs the tests: the one of that name, or the first of that kind. */
export const findTests = (gates: Record<string, Gate>): Gate | undefined =>
  gates.tests ?? Object.values(gates).find((gate) => gate.tests);

/** Gates of the procedure, of the workflow it drives, and the tests that the trial will run. */
function gatesIn(root: string, procedure: Procedure): { gates: Gate[]; problem: string | null } {
  const read = readProject(root);
  if ("errors" in read) return { gates: [], problem: `pawl.yaml has errors: ${read.errors[0]?.message ?? ""}` };
  const tests = findTests(read.project.gates);
  const own = [...procedure.gates, ...(tests ? [tests] : [])];
  if (procedure.drives === undefined) return { gates: own, problem: null };
  const found = findByName(procedure.drives, root, homeDir());
  if (!found || "errors" in found) return { gates: [], problem: `${procedure.drives} has errors` };
  return { gates: [...own, ...gatesOf(found.workflow)], problem: null };
}

// ── Tracker ─────────────────────────────────────────────────────────────────

const ASKS_TRACKER = /\/(?:list_ready_work|claim_task|close_task|create_tasks|match_plan_with_tracker)\.md$/;

function needsTracker({ drives, phases }: Procedure): boolean {
  return (
    drives !== undefined || Object.values(phases).some((all) => all.some(({ source }) => ASKS_TRACKER.test(source)))
  );
}

function checkTracker(root: string): Check {
  const opened = openProjectTracker(root);
  if (opened.kind !== "ok")
    return bad(
      "tracker",
      `no tasks: ${safeText(opened.why)}`,
      "`pawl task add` starts a task list; `tracker:` in pawl.yaml names another tracker",
    );
  const { name, where } = opened.value;
  const asked = opened.value.list({});
  if (asked.kind === "ok")
    return good("tracker", `${name} answers (${safeText(where)}): ${counted(asked.value.length, "open task")}`);
  return bad("tracker", `${name} does not answer: ${safeText(asked.why)}`, `fix ${name} (${safeText(where)})`);
}

// ── Hooks ───────────────────────────────────────────────────────────────────

/** Without hooks the loop still works; only a workflow of ours cannot be driven. */
async function checkHooks({ hooks, procedure: { drives, name } }: Trip): Promise<Check[]> {
  const { ok, what, remedy } = await hooks();
  if (ok) return [good("hooks", what)];
  if (drives !== undefined) return [bad("hooks", `${name} is driven by Pawl's hooks, and ${what}`, remedy)];
  return [unknown("hooks", `${what}: the loop alone judges the agent`, remedy)];
}
