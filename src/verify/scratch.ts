/**
 * A copy of the working tree outside the project, to break things in. Files that git knows or would add are copied, with
 * the index and the history; of what it ignores, folders of dependencies are linked package by package, and small rest is
 * copied. So nothing that a command writes in the copy lands in the project.
 */
import {
  constants,
  copyFileSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { spawnGit } from "../checks/git.ts";
import { endJob } from "../checks/jobs/job.ts";
import { findRepo, type Repo, readable } from "../checks/tree/git.ts";
import { isObject, lookAt, messageOf, parseJson, readText } from "../store/files.ts";
import { basename, dirname, join } from "../store/names.ts";
import { isOwned } from "../store/owned.ts";
import { asIdentity, identify, whereabouts } from "../store/processes/process.ts";
import { type Running, removeFolder } from "./jobs.ts";

export interface Scratch {
  /** all of it, to be removed */
  base: string;
  /** the repository's top in the copy */
  top: string;
  /** the project in the copy */
  root: string;
}

/** Why there can be no copy. */
export class ScratchError extends Error {
  override name = "ScratchError";
}

const PREFIX = "pawl-prove-";
const OWNER = "owner.json";
const MOST_FILES = 200_000;
const MOST_IGNORED_FILES = 5_000;
const MOST_IGNORED_BYTES = 64 << 20;

export function makeScratch(project: string, running: Running): Scratch {
  dropLeftovers();
  const repo = findRepo(project);
  if (repo === null) throw new ScratchError("there is no git repository to copy from");
  const base = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
  running.folders.add(base);
  const top = join(base, basename(repo.top) || "project");
  const root = join(top, readable(repo.prefix)).replace(/\/$/, "");
  writeFileSync(join(base, OWNER), JSON.stringify({ ...identify(process.pid), root }), { mode: 0o600 });
  try {
    copyHistory(repo, top);
    copyFiles(repo, top);
    copyIgnored(repo, top);
  } catch (error) {
    removeFolder(running, base);
    throw new ScratchError(`the copy could not be made: ${messageOf(error)}`);
  }
  return { base, top, root };
}

/** What a killed process left: its commands are ended first. */
function dropLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(PREFIX))) {
    const base = join(tmpdir(), name);
    const found = lookAt(base);
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    const file = readText(join(base, OWNER), 64 * 1024);
    const value = file.ok ? parseJson(file.text) : undefined;
    const owner = asIdentity(isObject(value) ? value : null);
    if (owner === null || whereabouts(owner) !== "gone") continue;
    const root = isObject(value) ? String(value.root) : "";
    if (root.startsWith(`${realpathSync(base)}/`)) endJobsIn(root);
    rmSync(base, { recursive: true, force: true });
  }
}

function endJobsIn(root: string): void {
  const folder = join(root, ".pawl/jobs");
  const ids = lookAt(folder)?.isDirectory() ? readdirSync(folder) : [];
  for (const id of ids.filter((name) => /^[a-z0-9-]+$/.test(name))) endJob(root, id);
}

// ── History ─────────────────────────────────────────────────────────────────

/** The objects stay where they are and are only read. No file is checked out, so no filter runs. */
function copyHistory(repo: Repo, top: string): void {
  const args = ["-c", "core.hooksPath=/dev/null", "clone", "-q", "--shared", "--no-checkout", "--template=", "--"];
  const { exitCode, stderr } = spawnGit(dirname(top), [...args, repo.top, top], {
    timeout: 60_000,
    maxBuffer: 1 << 20,
  });
  if (exitCode !== 0) throw new Error(`git clone: ${stderr.toString().trim().split("\n").at(-1)}`);
  const index = join(repo.gitDir, "index");
  if (lookAt(index)?.isFile()) copyFileSync(index, join(top, ".git/index"));
}

// ── Files ───────────────────────────────────────────────────────────────────

function copyFiles(repo: Repo, top: string): void {
  const paths = listed(repo, ["-c", "-o", "--exclude-standard", "--deduplicate"]);
  if (paths.length > MOST_FILES) throw new Error(`it has more than ${MOST_FILES} files`);
  for (const path of paths) if (!isOurs(repo, path)) copy(join(repo.top, path), join(top, path));
}

const isOurs = ({ prefix }: Repo, path: string) => {
  const below = readable(prefix);
  return path.startsWith(below) && isOwned(path.slice(below.length));
};

function listed(repo: Repo, options: string[]): string[] {
  const { exitCode, stdout, stderr } = spawnGit(repo.top, ["ls-files", "-z", ...options], {
    timeout: 60_000,
    maxBuffer: 256 << 20,
  });
  if (exitCode !== 0) throw new Error(`git ls-files: ${stderr.toString().trim().split("\n")[0]}`);
  return stdout
    .toString()
    .split("\0")
    .filter((path) => path !== "");
}

/** Links stay links. A repository inside (a submodule) is copied without its own history. */
function copy(from: string, to: string): void {
  const found = lookAt(from);
  if (!found) return;
  mkdirSync(dirname(to), { recursive: true });
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (found.isFile()) copyFileSync(from, to, constants.COPYFILE_FICLONE);
  else if (found.isDirectory()) for (const name of namesIn(from)) copy(join(from, name), join(to, name));
}

const namesIn = (folder: string) => readdirSync(folder).filter((name) => name !== ".git");

// ── What git ignores ────────────────────────────────────────────────────────

const DEPENDENCIES = /^(node_modules|bower_components|jspm_packages|\.venv|venv|vendor|\.bundle|\.yarn|deps|Pods)$/;
/** Made by the commands themselves, from what is there. */
const REBUILT =
  /^(target|\.gradle|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|coverage|\.cache|\.next|\.turbo|\.nyc_output)$/;

function copyIgnored(repo: Repo, top: string): void {
  const room = { files: MOST_IGNORED_FILES, bytes: MOST_IGNORED_BYTES };
  for (const path of listed(repo, ["-o", "-i", "--exclude-standard", "--directory"])) {
    const clean = path.replace(/\/$/, "");
    const name = basename(clean);
    if (isOurs(repo, clean) || isOurs(repo, `${clean}/`) || REBUILT.test(name) || name === ".git") continue;
    const [from, to] = [join(repo.top, clean), join(top, clean)];
    if (lookAt(to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    if (DEPENDENCIES.test(name)) linkPackages(from, to, 0);
    else if (fits(from, room)) copy(from, to);
  }
}

/** A folder of its own with links to the packages: caches that tools keep next to them are made in the copy. */
function linkPackages(from: string, to: string, depth: number): void {
  if (!lookAt(from)?.isDirectory()) {
    copy(from, to);
    return;
  }
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) linkOne(entry, from, to, depth);
}

function linkOne(entry: Dirent, from: string, to: string, depth: number): void {
  const [source, target] = [join(from, entry.name), join(to, entry.name)];
  if (!entry.isDirectory()) copy(source, target);
  else if (depth === 0 && /^(@.*|bin|\.bin)$/.test(entry.name)) linkPackages(source, target, 1);
  else if (!REBUILT.test(entry.name) && entry.name !== ".vite") symlinkSync(source, target);
}

/** Takes the room it needs; false: it would take too much. */
function fits(path: string, room: { files: number; bytes: number }): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return false;
  if (!found.isDirectory()) {
    room.files -= 1;
    room.bytes -= found.isFile() ? found.size : 0;
    return room.files >= 0 && room.bytes >= 0;
  }
  return namesIn(path).every((name) => fits(join(path, name), room));
}
