/** The plan of an archive: exactly which files, as they are now. Making one moves nothing. */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import {
  ensureDir,
  hashOf,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  parseJson,
  readText,
  writeAtomic,
} from "../../store/files.ts";
import { gitDirOf } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { isOwned } from "../../store/place.ts";
import { gitFiles } from "./git.ts";
import { HELPER_DIR } from "./lock.ts";
import { readRules, whyArchive } from "./rules.ts";

export interface PlanFile {
  path: string;
  size: number;
  /** nanoseconds, as text: a number is not exact enough */
  mtime_ns: string;
  tracked: boolean;
  reason: string;
  pattern: string;
}

export interface Plan {
  v: 1;
  /** hash of the exact list with sizes and times */
  id: string;
  at: string;
  /** false: without git only patterns count, not age or size */
  git: boolean;
  files: PlanFile[];
}

export class PlanError extends Error {
  override name = "PlanError";
}

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
    const state = stateOf(root, path);
    if (state === null) continue;
    const looked = { path, tracked, ignored: ignored.has(path), size: state.size, modified: state.modified };
    const why = whyArchive(looked, rules, now.getTime(), git !== null);
    if (why === null || (tracked && !withTracked && !why.reason.startsWith("archive_always"))) continue;
    files.push({ path, size: state.size, mtime_ns: state.mtime_ns, tracked, ...why });
  }
  files.sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1));
  return { v: 1, id: idOf(files), at: now.toISOString(), git: git !== null, files };
}

const idOf = (files: PlanFile[]) =>
  hashOf(JSON.stringify(files.map((file) => [file.path, file.size, file.mtime_ns, file.tracked]))).slice(0, 12);

/** The archive keeps its own list under that name at its top. */
const isOpenToUs = (path: string) => {
  const parts = path.split("/");
  if (isOwned(path) || /^(manifest\.md|pawl\.yaml)$/i.test(path)) return false;
  return (
    !parts.some((part) => UNTOUCHED.has(part.toLowerCase())) && !parts.slice(0, -1).some((part) => FOREIGN.has(part))
  );
};

export interface FileState {
  size: number;
  mtime_ns: string;
  modified: number;
  ino: bigint;
}

/** null: no regular file of the project, reached without any link. */
export function stateOf(root: string, path: string): FileState | null {
  try {
    const stat = lstatSync(insideRoot(root, path), { bigint: true });
    if (!stat.isFile()) return null;
    return { size: Number(stat.size), mtime_ns: String(stat.mtimeNs), modified: Number(stat.mtimeMs), ino: stat.ino };
  } catch {
    return null;
  }
}

/** Where there is no git. Neither links nor other repositories are entered. */
function walk(root: string, below: string): string[] {
  const found: string[] = [];
  for (const entry of entriesOf(join(root, below))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && isOpenToUs(`${path}/x`) && gitDirOf(join(root, path)) === null)
      found.push(...walk(root, path));
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new PlanError(`${folder} cannot be read: ${messageOf(error)}`);
  }
}

// ── Keeping ─────────────────────────────────────────────────────────────────

export function savePlan(root: string, plan: Plan): void {
  const dir = ensureDir(root, PLANS);
  writeAtomic(join(dir, `${plan.id}.json`), `${JSON.stringify(plan)}\n`);
  const old = readdirSync(dir)
    .filter((name) => /^[0-9a-f]{12}\.json$/.test(name) && name !== `${plan.id}.json`)
    .map((name) => ({ path: join(dir, name), at: lookAt(join(dir, name))?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of old.slice(KEPT_PLANS - 1)) unlinkSync(path);
}

/** Only a plan that still says what its id stands for. */
export function loadPlan(root: string, id: string): Plan {
  if (!/^[0-9a-f]{12}$/.test(id)) throw new PlanError(`${JSON.stringify(id.slice(0, 40))} is no plan's id`);
  const file = readText(insideRoot(root, `${PLANS}/${id}.json`), LARGEST_PLAN);
  if (!file.ok) throw new PlanError(`there is no plan ${id} in this project`);
  const plan = parseJson(file.text);
  if (!isPlan(plan) || idOf(plan.files) !== id) throw new PlanError(`the plan ${id} was changed on disk`);
  return plan;
}

const isPlan = (value: unknown): value is Plan =>
  isObject(value) && value.v === 1 && Array.isArray(value.files) && value.files.every(isPlanFile);

const isPlanFile = (value: unknown): value is PlanFile =>
  isObject(value) &&
  [value.path, value.mtime_ns, value.reason, value.pattern].every((field) => typeof field === "string") &&
  typeof value.size === "number" &&
  typeof value.tracked === "boolean";
