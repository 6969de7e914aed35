/** Pawl's state in a project: runs, journal, documents, logs. What git tracks is never part of it. */
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { readPinned } from "../../store/commits.ts";
import {
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  parseJson,
  readText,
  removeQuietly,
  TEMP_PREFIX,
} from "../../store/files.ts";
import { greetingPath } from "../../store/greeting.ts";
import { homeDir, statePath } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { excludePlace, isOwned } from "../../store/owned.ts";
import { listArchived, listRuns, loadRun } from "../../store/runs.ts";
import { keyPath } from "../../store/seal.ts";
import { binaryPath } from "./binary.ts";
import { SHORTCUTS_OFF } from "./target.ts";
import { SHIPPED } from "./texts.ts";

/** Written by `init` itself; everything else in the list below comes from working with Pawl. */
const OF_INIT = [".pawl/.gitignore", ".pawl/install.json", SHORTCUTS_OFF];
const BUILTIN_LOG = ".claude/logs/work-completion.log";

export interface State {
  /** relative to the project: files and folders that go */
  paths: string[];
  /** what the person's own state folder knows of this project: session pointers, that it was greeted; leftovers; absolute */
  pointers: string[];
  live: string[];
}

/** Where `init` writes: a temporary file of a write that was cut off may lie there. */
const FOLDERS = [...new Set([".", ".claude", ".claude/skills", ...SHIPPED.map(({ path }) => dirname(path))])];

export function findState(root: string): State {
  const live = listRuns(root)
    .filter(({ status }) => status !== "ended")
    .map(({ id }) => id);
  const inPawl = namesIn(join(root, ".pawl"))
    .map((name) => `.pawl/${name}`)
    .filter((path) => isOwned(path) && !OF_INIT.includes(path));
  const inClaude = namesIn(join(root, ".claude"))
    .map((name) => `.claude/${name}`)
    .filter((path) => isOwned(path) && path !== ".claude/logs");
  const left = FOLDERS.flatMap((folder) =>
    namesIn(join(root, folder))
      .filter((name) => name.startsWith(TEMP_PREFIX))
      .map((name) => (folder === "." ? name : `${folder}/${name}`)),
  );
  const candidates = [...new Set([...inPawl, ...inClaude, ...left, ...writtenByRuns(root)])];
  const tracked = trackedIn(root, candidates);
  const paths = candidates.filter(
    (path) => exists(root, path) && !tracked.some((file) => file === path || file.startsWith(`${path}/`)),
  );
  return {
    paths,
    pointers: [
      ...filesAbout(root, "sessions"),
      ...filesAbout(root, "actors"),
      ...filesAbout(root, "greeted"),
      ...filesAbout(root, "projects"),
      ...unfinishedInGit(root),
    ],
    live,
  };
}

function namesIn(folder: string): string[] {
  try {
    return lookAt(folder)?.isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}

function exists(root: string, path: string): boolean {
  try {
    return lookAt(insideRoot(root, path)) !== undefined;
  } catch {
    return false;
  }
}

/** Documents and logs lie where the workflow of each run says. */
function writtenByRuns(root: string): string[] {
  const live = listRuns(root).flatMap(({ id }) => quietly(() => loadRun(root, id)) ?? []);
  const ended = listArchived(root).filter(({ commit }) => !commit.forged);
  const documents = [...live, ...ended].map(({ commit }) => commit.run.document.path);
  const folders = ["runs", "archive"].map((name) => join(root, ".pawl", name));
  const logs = folders.flatMap((folder) =>
    namesIn(folder).flatMap((id) => {
      const pinned = quietly(() => readPinned(join(folder, id), id));
      return pinned?.ok && typeof pinned.workflow.log === "string" ? [pinned.workflow.log] : [];
    }),
  );
  return [BUILTIN_LOG, ...documents, ...logs].filter((path) => path !== "");
}

function quietly<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Without git nothing is tracked; where git does not answer, everything counts as tracked. */
function trackedIn(root: string, paths: string[]): string[] {
  if (paths.length === 0) return [];
  const git = Bun.which("git");
  if (git === null) return [];
  const { exitCode, stdout, stderr } = Bun.spawnSync([git, "--literal-pathspecs", "ls-files", "-z", "--", ...paths], {
    cwd: root,
    stdin: "ignore",
  });
  if (exitCode === 0) return stdout.toString().split("\0").filter(Boolean);
  return stderr.toString().includes("not a git repository") ? [] : paths;
}

/** A crash in the middle of `init` may have left an unfinished file next to git's own. */
function unfinishedInGit(root: string): string[] {
  const place = quietly(() => excludePlace(root));
  const folder = place === null ? null : dirname(place.path);
  const names = folder === null ? [] : namesIn(folder).filter((name) => name.startsWith(TEMP_PREFIX));
  return names.map((name) => join(folder ?? "", name));
}

function filesAbout(root: string, folder: string): string[] {
  const paths = namesIn(statePath(folder)).map((name) => statePath(folder, name));
  return paths.filter((path) => {
    const file = readText(path, 64 * 1024);
    const pointer = file.ok ? parseJson(file.text.split("\n", 1)[0]!) : null;
    return (isObject(pointer) && pointer.root === root) || (file.ok && file.text === `${root}\n`);
  });
}

/** All that is left of Pawl in a home: the program that the hooks run, its key, and what it remembers about sessions. */
export function findHomeState(): State {
  const folders = [dirname(binaryPath()), statePath()].filter((folder) => lookAt(folder)?.isDirectory());
  const key = lookAt(keyPath()) === undefined ? [] : [keyPath()];
  return { paths: [], pointers: [...folders, ...key], live: [] };
}

/** What could not be removed, and why. */
export function removeState(root: string, { paths, pointers }: State): string[] {
  const problems = [
    ...paths.flatMap((path) => attempt(path, () => rmSync(insideRoot(root, path), { recursive: true, force: true }))),
    ...pointers.flatMap((path) => attempt(path, () => rmSync(path, { recursive: true, force: true }))),
  ];
  for (const path of paths) removeEmptyAbove(root, path);
  removeQuietly(greetingPath(root));
  for (const folder of HOME_FOLDERS) removeEmptyHome(folder);
  return problems;
}

/** Ours, from the innermost: each goes only when nothing is left in it. */
const HOME_FOLDERS = [
  ".local/state/pawl/sessions",
  ".local/state/pawl/greeted",
  ".local/state/pawl/projects",
  ".local/state/pawl/shortcuts",
  ".local/state/pawl/guard",
  ".local/state/pawl",
  ".local/state",
  ".local/share/pawl",
  ".local/share",
  ".local",
];

function removeEmptyHome(folder: string): void {
  try {
    rmdirSync(join(homeDir(), folder));
  } catch {
    // not empty, or never there
  }
}

function attempt(name: string, remove: () => void): string[] {
  try {
    remove();
    return [];
  } catch (error) {
    return errorCode(error) === "ENOENT" ? [] : [`${name}: ${messageOf(error)}`];
  }
}

/** Folders that only held documents and logs of ours; .claude and .pawl are the record's business. */
function removeEmptyAbove(root: string, path: string): void {
  for (let folder = dirname(path); ![".", ".claude", ".pawl"].includes(folder); folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch {
      return;
    }
  }
}
