/** The plan of an archive: exactly which files, as they are now. Making one moves nothing. */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import * as v from "valibot";
import { spawnGit } from "../../checks/git.ts";
import { attempt } from "../../kernel/attempt.ts";
import {
  ensureDir,
  hashOf,
  insideRoot,
  lookAt,
  messageOf,
  parseJson,
  readText,
  writeAtomic,
} from "../../store/files.ts";
import { findGit, findGitDir } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { isOwned } from "../../store/place.ts";
import { readRules, whyArchive } from "./rules.ts";
import { HELPER_DIR } from "./shared.ts";

const PLAN_FILE = v.object({
  path: v.string(),
  size: v.number(),
  /** nanoseconds, as text: a number is not exact enough */
  mtime_ns: v.string(),
  tracked: v.boolean(),
  reason: v.string(),
  pattern: v.string(),
});
export type PlanFile = v.InferOutput<typeof PLAN_FILE>;

const PLAN = v.object({
  v: v.literal(1),
  /** hash of the exact list with sizes and times */
  id: v.string(),
  at: v.string(),
  /** false: without git only patterns count, not age or size */
  git: v.boolean(),
  files: v.array(PLAN_FILE),
});
export type Plan = v.InferOutput<typeof PLAN>;

export const ARCHIVE_DIR = ".archive";
const PLANS = `${HELPER_DIR}/plans`;
const KEPT_PLANS = 20;
const LARGEST_PLAN = 256 * 1024 * 1024;

/** Others' tools fill these; what lies in them is no leftover of a session. */
const FOREIGN = new Set(
  "node_modules bower_components vendor .venv venv __pycache__ .tox target dist build .cache .next .gradle .terraform".split(
    " ",
  ),
);
const UNTOUCHED = new Set([".git", ".hg", ".svn", ".jj", ".pawl", ".claude", ARCHIVE_DIR]);

// ── Making ──────────────────────────────────────────────────────────────────

export function makePlan(root: string, now: Date, withTracked: boolean): Plan {
  const rules = readRules(root);
  const git = gitFiles(root);
  const found = git ? [...git.untracked, ...git.ignored, ...git.tracked] : walk(root, "");
  const ignored = new Set(git?.ignored);
  const files: PlanFile[] = [];
  for (const path of found.filter(isOpenToUs)) {
    const tracked = git?.tracked.has(path) ?? false;
    const state = readState(root, path);
    if (state === null) continue;
    const looked = { path, tracked, ignored: ignored.has(path), size: state.size, modified: state.modified };
    const why = whyArchive(looked, rules, now.getTime(), git !== null);
    if (why === null || (tracked && !withTracked && !why.reason.startsWith("archive_always"))) continue;
    files.push({ path, size: state.size, mtime_ns: state.mtime_ns, tracked, ...why });
  }
  files.sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1));
  return { v: 1, id: planId(files), at: now.toISOString(), git: git !== null, files };
}

const planId = (files: PlanFile[]) =>
  hashOf(JSON.stringify(files.map((file) => [file.path, file.size, file.mtime_ns, file.tracked]))).slice(0, 12);

/** The archive keeps its own list under that name at its top. */
const isOpenToUs = (path: string) => {
  const parts = path.split("/");
  if (isOwned(path) || /^(manifest\.md|pawl\.yaml)$/i.test(path)) return false;
  return (
    !parts.some((part) => UNTOUCHED.has(part.toLowerCase())) && !parts.slice(0, -1).some((part) => FOREIGN.has(part))
  );
};

/** null: no regular file of the project, reached without any link. */
export function readState(root: string, path: string) {
  const stat = attempt(() => lstatSync(insideRoot(root, path), { bigint: true }), null);
  if (!stat?.isFile()) return null;
  return { size: Number(stat.size), mtime_ns: String(stat.mtimeNs), modified: Number(stat.mtimeMs), ino: stat.ino };
}

/** Where there is no git. Neither links nor other repositories are entered. */
function walk(root: string, below: string): string[] {
  const found: string[] = [];
  for (const entry of listEntries(join(root, below))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && isOpenToUs(`${path}/x`) && findGitDir(join(root, path)) === null)
      found.push(...walk(root, path));
  }
  return found;
}

function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new Error(`${folder} cannot be read: ${messageOf(error)}`);
  }
}

// ── What git says about the files of a project: a failed look is never "nothing there" ─

/** null: no repository here. */
function gitFiles(root: string) {
  if (findGit(root) === null) return null;
  const others = ["ls-files", "-z", "--others", "--exclude-standard"];
  return {
    tracked: trackedFiles(root),
    untracked: gitPaths(root, others),
    // One by one: a folder that is ignored as a whole is left alone.
    ignored: gitPaths(root, [...others, "--ignored", "--directory"]),
  };
}

export const trackedFiles = (root: string): Set<string> =>
  new Set(findGit(root) === null ? [] : gitPaths(root, ["ls-files", "-z"]));

export const isIgnored = (root: string, path: string) =>
  runGit(root, ["check-ignore", "-q", "--no-index", "--", path]).exitCode === 0;

/** A name with "/" at its end is a folder or another repository. */
function gitPaths(root: string, args: string[]): string[] {
  const { exitCode, stdout, stderr } = runGit(root, args);
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${String(stderr).trim().split("\n")[0] || `exit ${exitCode}`}`);
  return String(stdout)
    .split("\0")
    .filter((path) => path !== "" && !path.endsWith("/"));
}

function runGit(root: string, args: string[]) {
  try {
    return spawnGit(root, args, { timeout: 60_000, maxBuffer: 512 << 20 });
  } catch (error) {
    throw new Error(`git could not be run: ${messageOf(error)}`);
  }
}

// ── Keeping ─────────────────────────────────────────────────────────────────

export function savePlan(root: string, plan: Plan): void {
  const dir = ensureDir(root, PLANS);
  // The same list again is the same plan: an answer to it still counts.
  const { at } = attempt(() => loadPlan(root, plan.id), plan);
  writeAtomic(join(dir, `${plan.id}.json`), `${JSON.stringify({ ...plan, at })}\n`);
  const old = readdirSync(dir)
    .filter((name) => /^[0-9a-f]{12}\.json$/.test(name) && name !== `${plan.id}.json`)
    .map((name) => ({ path: join(dir, name), at: lookAt(join(dir, name))?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of old.slice(KEPT_PLANS - 1)) unlinkSync(path);
}

/** Only a plan whose content still matches its id. */
export function loadPlan(root: string, id: string): Plan {
  if (!/^[0-9a-f]{12}$/.test(id)) throw new Error(`${JSON.stringify(id.slice(0, 40))} is no plan's id`);
  const file = readText(insideRoot(root, `${PLANS}/${id}.json`), LARGEST_PLAN);
  if (!file.ok) throw new Error(`there is no plan ${id} in this project`);
  const plan = parseJson(file.text);
  if (!v.is(PLAN, plan) || planId(plan.files) !== id) throw new Error(`the plan ${id} was changed on disk`);
  return plan;
}
