/**
 * What a check's answer depends on although git does not see it: ignored files of test class, `.env*`, and which
 * dependencies are installed. One hash of these few; caches and build outputs are no part of it.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import type { Fact } from "../../kernel/types/run.ts";
import { hashOf, messageOf, namesIn, readText, tolerate } from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { isOwned } from "../../store/owned.ts";
import { isTestClass, LEFT_OUT } from "../core/test-class.ts";
import { askGit, deadline, findRepo, ignoresRoot, type Repo, readable, timeLeft } from "./git.ts";

/** Of an ignored folder that is no known cache, and of a project without git. */
const MOST_ENTRIES = 20_000;
const MOST_FILES = 50_000;
const NONE: ReadonlySet<string> = new Set();

const isCache = (path: string) => path.split("/").some((name) => LEFT_OUT.test(name));

// ── Files ───────────────────────────────────────────────────────────────────

/** All files that count as the project's, seen from it. */
export function listFiles(root: string, until: number): string[] {
  const repo = findRepo(root);
  if (repo === null || ignoresRoot(repo, until)) return walk(root, "", MOST_FILES, until);
  return listed(repo, ["-c", "-o", "--deduplicate"], until).flatMap((path) =>
    path.endsWith("/") || lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
      ? walk(root, `${path.replace(/\/$/, "")}/`, MOST_FILES, until)
      : [path],
  );
}

/** Files that git does not track yet, and does not ignore. */
export function newFiles(root: string, until: number): Set<string> {
  const repo = findRepo(root);
  return new Set(repo === null || ignoresRoot(repo, until) ? [] : listed(repo, ["-o"], until));
}

/** Seen from the project; a folder that is ignored as a whole ends with "/". */
function listed(repo: Repo, which: string[], until: number): string[] {
  const below = repo.prefix === "" ? [] : ["--", readable(repo.prefix.slice(0, -1))];
  const command = ["--literal-pathspecs", "ls-files", "-z", "--exclude-standard", ...which, ...below];
  const paths = askGit(repo, command, { until }).split("\0");
  return paths
    .filter((path) => path.length > repo.prefix.length)
    .map((path) => readable(path.slice(repo.prefix.length)));
}

/** Up to `most` files and a few more. What the person may not read, a check may not read either. */
function walk(root: string, dir: string, most: number, until: number): string[] {
  const files: string[] = [];
  const folders = [dir];
  for (let folder = folders.pop(); folder !== undefined && files.length <= most; folder = folders.pop()) {
    timeLeft(until);
    const path = join(root, folder);
    for (const entry of tolerate(["EACCES"], () => readdirSync(path, { withFileTypes: true }), [])) {
      if (LEFT_OUT.test(entry.name)) continue;
      if (entry.isDirectory()) folders.push(`${folder}${entry.name}/`);
      else files.push(folder + entry.name);
    }
  }
  return files;
}

/** Ignored by git, and still read by test runners. */
export const ignoredTests = (root: string, until: number) =>
  ignoredFiles(root, until, () => undefined).filter((path) => isTestClass(path, NONE));

/** `onMore`: a folder has more files than are looked at. */
function ignoredFiles(root: string, until: number, onMore: (folder: string) => void): string[] {
  const repo = findRepo(root);
  if (repo === null || ignoresRoot(repo, until)) return [];
  const paths = listed(repo, ["-o", "-i", "--directory"], until).filter((path) => !isCache(path) && !isOwned(path));
  return paths.flatMap((path) => {
    if (!path.endsWith("/")) return [path];
    const files = walk(root, path, MOST_ENTRIES, until);
    if (files.length > MOST_ENTRIES) onMore(path);
    return files;
  });
}

function notWhole(folder: string): never {
  throw new Error(`${folder} is ignored by git and has more than ${MOST_ENTRIES} files`);
}

// ── Dependencies ────────────────────────────────────────────────────────────

/** What package managers write when they install. */
const MANIFESTS = [
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
  "node_modules/.pnpm/lock.yaml",
  "node_modules/.yarn-state.yml",
  "node_modules/.yarn-integrity",
  ".yarn/install-state.gz",
  ".pnp.cjs",
  "vendor/composer/installed.json",
  "vendor/modules.txt",
  "Gemfile.lock",
  ".bundle/config",
];
const VENVS = [".venv", "venv", "env"];

/** In the project, and above it up to the repository's top. */
function places(root: string): string[] {
  const top = findRepo(root)?.top;
  const upTo = (dir: string): string[] => (top && dir.startsWith(`${top}/`) ? [dir, ...upTo(dirname(dir))] : [dir]);
  return upTo(realpathSync(root));
}

function sitePackages(place: string): string[] {
  return VENVS.flatMap((venv) => {
    const lib = join(place, venv, "lib");
    return (namesIn(lib) ?? []).map((python) => join(lib, python, "site-packages"));
  });
}

/** Names of what is installed, what makes Python load more, and when each package was last written. */
function pythonLines(folder: string): string[] {
  return (namesIn(folder) ?? [])
    .filter((name) => name !== "__pycache__")
    .sort()
    .map((name) => {
      if (/\.pth$|^(?:site|user)customize\.py$/.test(name)) return contentLine(join(folder, name));
      const record = name.endsWith(".dist-info") ? join(folder, name, "RECORD") : "";
      return `${name} ${record && stamp(record)}`;
    });
}

function stamp(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.size} ${found.mtimeMs}` : "";
}

/** What is no text, or too large to read, is known by its size and times. */
function contentLine(path: string): string {
  const file = readText(path);
  return `${path} ${file.ok ? file.hash : file.why === "missing" ? "" : stamp(path)}`;
}

// ── The hash ────────────────────────────────────────────────────────────────

const ENVIRONMENT = /(?:^|\/)\.env(?:\.[^/]*|rc)?$/;

export function hashSurroundings(root: string): Fact<string> {
  try {
    const files = ignoredFiles(root, deadline(), notWhole).filter(
      (path) => ENVIRONMENT.test(path) || isTestClass(path, NONE),
    );
    const above = places(root);
    const manifests = above.flatMap((place) => MANIFESTS.map((name) => join(place, name)));
    const lines = [...files.sort().map((path) => join(root, path)), ...manifests].map(contentLine);
    return { ok: true, value: hashOf([...lines, ...above.flatMap(sitePackages).flatMap(pythonLines)].join("\n")) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}
