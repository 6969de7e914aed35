/**
 * A copy of the working tree outside the project, to break things in: what git knows or would add, the index, folders of
 * dependencies, and what else it ignores, if that is small. Nothing in the copy leads back: no remote, no link, no path
 * of a dependency. So nothing that a command writes there lands in the project.
 */
import {
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { spawnGit } from "../checks/git.ts";
import { endJob } from "../checks/jobs/job.ts";
import { findRepo, type Repo, readable, toBytes, toRaw } from "../checks/tree/git.ts";
import { attempt } from "../kernel/attempt.ts";
import { isObject, lookAt, messageOf, parseJson, readText } from "../store/files.ts";
import { basename, dirname, join } from "../store/names.ts";
import { isOwned } from "../store/owned.ts";
import { asIdentity, identify, processState } from "../store/processes/process.ts";
import { type Running, removeFolder } from "./jobs.ts";

export interface Scratch {
  /** all of it, to be removed */
  base: string;
  /** the repository's top in the copy */
  top: string;
  /** the project in the copy */
  root: string;
  /** ignored by git, and too large to be copied */
  leftOut: string[];
  /** names the copy where the text names the project */
  inCopy(text: string): string;
}

interface Copying extends Scratch {
  repo: Repo;
  room: Room;
}

interface Room {
  files: number;
  bytes: number;
}

/** Why there can be no copy. */
export class ScratchError extends Error {
  override name = "ScratchError";
}

const PREFIX = "pawl-prove-";
const OWNER = "owner.json";
const MB = 1 << 20;
const MOST_FILES = 200_000;
const MOST_BYTES = 2048 * MB;
/** Of what is free; the rest is for other programs. */
const MOST_OF_DISK = 0.9;
const MOST_IGNORED_FILES = 5_000;
const MOST_IGNORED_BYTES = 64 * MB;

export async function makeScratch(project: string, running: Running): Promise<Scratch> {
  dropLeftovers();
  const repo = findRepo(project);
  if (repo === null) throw new ScratchError("there is no git repository to copy from");
  const base = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
  running.folders.add(base);
  const top = join(base, basename(repo.top) || "project");
  const root = join(top, readable(repo.prefix)).replace(/\/$/, "");
  writeFileSync(join(base, OWNER), JSON.stringify({ ...identify(process.pid), root }), { mode: 0o600 });
  const itself = new RegExp(`${RegExp.escape(repo.top)}(?![\\w.-])`, "g");
  const inCopy = (text: string) => text.replace(itself, () => top);
  const copying: Copying = { base, top, root, repo, inCopy, leftOut: [], room: measureRoom(base) };
  try {
    copyHistory(copying);
    copyFiles(copying);
    await copyIgnored(copying);
  } catch (error) {
    removeFolder(running, base);
    throw new ScratchError(`the copy could not be made: ${messageOf(error)}`);
  }
  return copying;
}

function measureRoom(base: string): Room {
  const { bavail, bsize } = statfsSync(base);
  return { files: MOST_FILES, bytes: Math.min(MOST_BYTES, bavail * bsize * MOST_OF_DISK) };
}

function tooLarge(what: string, base: string): Error {
  const { bytes } = measureRoom(base);
  const most = `${MOST_FILES} files and ${Math.floor(bytes / MB)} MB`;
  return new Error(`${what} is too large; a copy in ${tmpdir()} may have at most ${most}`);
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
    if (owner === null || processState(owner) !== "gone") continue;
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

/**
 * The objects stay where they are: git only reads them there. All refs are as they were, so that `main..HEAD` means the
 * same, but there is no remote to push to. No file is checked out, so no filter runs.
 */
function copyHistory({ repo, top }: Copying): void {
  const git = join(top, ".git");
  const args = ["-q", "--shared", "--mirror", "--template=", "--", repo.top, git];
  runGit(dirname(top), "clone", args, ["-c", "core.hooksPath=/dev/null", "-c", "clone.defaultRemoteName=origin"]);
  runGit(git, "config", ["--remove-section", "remote.origin"]);
  runGit(git, "config", ["core.bare", "false"]);
  const index = join(repo.gitDir, "index");
  if (lookAt(index)?.isFile()) copyFileSync(index, join(git, "index"));
}

// ── Files ───────────────────────────────────────────────────────────────────

function copyFiles(copying: Copying): void {
  const { repo, top, base, room } = copying;
  for (const path of gitPaths(repo.top, "ls-files", "-c", "-o", "--exclude-standard", "--deduplicate")) {
    if (isOurs(repo, path)) continue;
    if (!fits(join(repo.top, path), room)) throw tooLarge("the project", base);
    copy(copying, join(repo.top, path), join(top, path));
  }
}

const isOurs = ({ prefix }: Repo, path: string) => {
  const below = readable(prefix);
  return path.startsWith(below) && isOwned(path.slice(below.length));
};

/** The paths that git prints, each ended by a NUL. */
export const gitPaths = (dir: string, command: string, ...args: string[]) =>
  runGit(dir, command, ["-z", ...args])
    .split("\0")
    .filter((path) => path !== "");

function runGit(dir: string, command: string, args: string[], settings: string[] = []): string {
  const limits = { timeout: 60_000, maxBuffer: 256 << 20 };
  const { exitCode, stdout, stderr } = spawnGit(dir, [...settings, command, ...args], limits);
  if (exitCode !== 0) throw new Error(`git ${command}: ${stderr.toString().trim().split("\n").at(-1)}`);
  return stdout.toString();
}

/** A repository inside (a submodule) is copied without its own history. */
function copy(copying: Copying, from: string, to: string): void {
  const found = lookAt(from);
  if (!found || from === copying.base) return;
  mkdirSync(found.isDirectory() ? to : dirname(to), { recursive: true });
  if (found.isSymbolicLink()) symlinkSync(linkTarget(copying, from), to);
  else if (found.isDirectory()) for (const name of namesIn(from)) copy(copying, join(from, name), join(to, name));
  else if (found.isFile()) {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    if (NAMES_ITS_PLACE.test(to) && found.size < LARGEST_SCRIPT) renamePlace(copying, to);
  }
}

/** What leads into the project, leads into the copy. Other links stay as they are. */
function linkTarget({ repo, top }: Copying, link: string): string {
  const target = readlinkSync(link);
  const named = resolve(dirname(link), target);
  if (!target.startsWith("/") && isInside(repo.top, named)) return target;
  const real = realPath(named);
  return isInside(repo.top, real) ? join(top, real.slice(repo.top.length)) : target;
}

const isInside = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

/** Of what does not exist: where it would be made. */
function realPath(path: string): string {
  if (lookAt(path)?.isSymbolicLink() === false) return realpathSync(path);
  const link = attempt(() => readlinkSync(path), null);
  if (link !== null) return attempt(() => realpathSync(path), resolve(realPath(dirname(path)), link));
  return join(realPath(dirname(path)), basename(path));
}

/** Scripts and settings of dependencies in which the path of the project is written. */
const NAMES_ITS_PLACE =
  /\/(?:\.bundle\/config|(?:\.?venv|node_modules)\/(?:.*\/)?(?:\.?bin\/[^/]+|pyvenv\.cfg|[^/]+\.(?:pth|egg-link)|__editable__[^/]+\.py))$/;
const LARGEST_SCRIPT = 64 * 1024;

function renamePlace({ repo, inCopy }: Copying, file: string): void {
  const text = readFileSync(file, "latin1");
  if (text.includes(toRaw(repo.top)) && !text.includes("\0")) writeFileSync(file, inCopy(toBytes(text).toString()));
}

const namesIn = (folder: string) => readdirSync(folder).filter((name) => name !== ".git");

// ── What git ignores ────────────────────────────────────────────────────────

const DEPENDENCIES = /^(node_modules|bower_components|jspm_packages|\.venv|venv|vendor|\.bundle|\.yarn|deps|Pods)$/;
/** Made by the commands themselves, from what is there. */
const REBUILT =
  /^(target|\.gradle|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|coverage|\.cache|\.next|\.turbo|\.nyc_output)$/;

/** Kept by tools next to the packages. */
const CACHES = /^(\.cache|\.vite)$/;

async function copyIgnored(copying: Copying): Promise<void> {
  const { repo, top, leftOut } = copying;
  const rest = { files: MOST_IGNORED_FILES, bytes: MOST_IGNORED_BYTES };
  for (const path of gitPaths(repo.top, "ls-files", "-o", "-i", "--exclude-standard", "--directory")) {
    const clean = path.replace(/\/$/, "");
    const name = basename(clean);
    if (isOurs(repo, clean) || isOurs(repo, `${clean}/`) || REBUILT.test(name) || name === ".git") continue;
    const [from, to] = [join(repo.top, clean), join(top, clean)];
    if (lookAt(to)) continue;
    if (DEPENDENCIES.test(name)) await copyDependencies(copying, from, to);
    else if (fits(from, rest)) copy(copying, from, to);
    else leftOut.push(clean);
  }
}

/** A link to a folder elsewhere is no place to write to either: what is there is copied. */
async function copyDependencies(copying: Copying, from: string, to: string): Promise<void> {
  const { repo, base, room } = copying;
  const source = isInside(repo.top, realPath(from)) ? from : realPath(from);
  if (!lookAt(source)?.isDirectory()) {
    copy(copying, from, to);
    return;
  }
  const names = namesIn(source).filter((name) => !CACHES.test(name));
  if (!names.every((name) => fits(join(source, name), room))) throw tooLarge(from.slice(repo.top.length + 1), base);
  mkdirSync(to, { recursive: true });
  for (const name of names) {
    copy(copying, join(source, name), join(to, name));
    // There may be very many: Ctrl-C is heard between two of them.
    await Bun.sleep(0);
  }
}

/** Takes the room it needs, if there is enough. */
function fits(path: string, room: Room): boolean {
  const left = { ...room };
  if (!takes(path, left)) return false;
  Object.assign(room, left);
  return true;
}

function takes(path: string, room: Room): boolean {
  const found = lookAt(path);
  if (found?.isDirectory()) return namesIn(path).every((name) => takes(join(path, name), room));
  room.files -= found ? 1 : 0;
  room.bytes -= found?.isFile() ? found.size : 0;
  return room.files >= 0 && room.bytes >= 0;
}
