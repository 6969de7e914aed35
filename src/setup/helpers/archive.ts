/** Moves planned files into an archive folder. The manifest is written first: whatever happens, running again completes it. */
import { closeSync, constants, mkdirSync, readSync, renameSync, rmdirSync } from "node:fs";
import { errorCode, insideRoot, lookAt, messageOf, openRegular, syncDir } from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { type Excluded, excludeArchive } from "./exclude.ts";
import { trackedFiles } from "./git.ts";
import { withLock } from "./lock.ts";
import { folders, type Manifest, type Moved, manifests, writeManifest } from "./manifest.ts";
import { ARCHIVE_DIR, loadPlan, type PlanFile, stateOf } from "./plan.ts";
import { rememberApproved } from "./rules.ts";
import { folderStamp, localStamp } from "./time.ts";

export interface Applied {
  /** every folder that files of this call went to, the completed ones first */
  folders: string[];
  archived: Moved[];
  left: { path: string; why: string }[];
  /** lay in an archive of this plan before */
  before: string[];
  excluded: Excluded;
}

export interface Wanted {
  plan: string;
  /** numbers as in the plan's table; null is all */
  only: Set<number> | null;
  tracked: boolean;
}

export function applyPlan(root: string, wanted: Wanted, now: Date): Applied {
  const plan = loadPlan(root, wanted.plan);
  const beyond = [...(wanted.only ?? [])].find((n) => n < 1 || n > plan.files.length);
  if (beyond !== undefined) throw new Error(`the plan has no number ${beyond}; it has 1 to ${plan.files.length}`);
  const chosen = plan.files.filter((_file, at) => wanted.only === null || wanted.only.has(at + 1));
  return withLock(root, () => {
    const excluded = excludeArchive(root);
    const completed = unfinished(root, plan.id).map((manifest) => finish(root, manifest));
    const done = new Set(archivedOf(root, plan.id));
    const rest = chosen.filter((file) => !done.has(file.path));
    const fresh = archive(root, plan.id, rest, wanted.tracked, now);
    const touched = [...completed, ...(fresh.manifest ? [fresh.manifest] : [])];
    const outcome = outcomeOf(touched, fresh.left);
    const patterns = outcome.archived.map((entry) => entry.pattern);
    rememberApproved(root, patterns, localStamp(now).slice(0, 10));
    const moved = new Set(outcome.archived.map((entry) => entry.from));
    const before = chosen.map((file) => file.path).filter((path) => done.has(path) && !moved.has(path));
    return { ...outcome, before, excluded };
  });
}

function outcomeOf(touched: Manifest[], refused: Applied["left"]): Pick<Applied, "folders" | "archived" | "left"> {
  const isArchived = (entry: Moved) => entry.state === "archived";
  const entries = touched.flatMap((manifest) => manifest.entries);
  const said = new Set(refused.map((one) => one.path));
  const left = entries.filter((entry) => entry.state === "left" && !said.has(entry.from));
  return {
    folders: touched.filter((manifest) => manifest.entries.some(isArchived)).map((manifest) => manifest.folder),
    archived: entries.filter(isArchived),
    left: [...left.map(({ from, note }) => ({ path: from, why: note ?? "" })), ...refused],
  };
}

const unfinished = (root: string, plan: string) =>
  manifests(root).filter((manifest) => manifest.plan === plan && manifest.state === "moving");

/** Only what really lies there; a restored file may be archived again. */
const archivedOf = (root: string, plan: string) =>
  manifests(root)
    .filter((manifest) => manifest.plan === plan)
    .flatMap((manifest) => manifest.entries)
    .filter((entry) => stateOf(root, entry.to) !== null && lookAt(insideRoot(root, entry.from)) === undefined)
    .map((entry) => entry.from);

// ── A new folder ────────────────────────────────────────────────────────────

function archive(root: string, plan: string, files: PlanFile[], withTracked: boolean, now: Date) {
  const tracked = trackedFiles(root);
  const left: { path: string; why: string }[] = [];
  const fit = files.flatMap((file) => {
    const refused = refusal(root, file, tracked.has(file.path), withTracked);
    const sha256 = refused === null ? sha256Of(root, file.path) : null;
    if (sha256 !== null) return [{ file, sha256 }];
    left.push({ path: file.path, why: refused ?? "it cannot be read" });
    return [];
  });
  if (fit.length === 0) return { manifest: null, left };
  const folder = newFolder(root, now);
  const entries = fit.map(({ file, sha256 }) => entryOf(file, folder, sha256, tracked.has(file.path)));
  const manifest: Manifest = { v: 1, folder, plan, at: localStamp(now), state: "moving", entries };
  writeManifest(root, manifest);
  return { manifest: finish(root, manifest), left };
}

function refusal(root: string, file: PlanFile, tracked: boolean, withTracked: boolean): string | null {
  if (tracked && !withTracked)
    return file.tracked ? "tracked by git; --tracked moves it" : "git tracks it since the plan";
  return changeOf(root, file.path, file);
}

function changeOf(root: string, path: string, then: { size: number; mtime_ns: string }): string | null {
  const state = stateOf(root, path);
  if (state === null) return "it is gone, or no longer a plain file of the project";
  return state.size === then.size && state.mtime_ns === then.mtime_ns ? null : "it changed since the plan";
}

const entryOf = (file: PlanFile, folder: string, sha256: string, tracked: boolean): Moved => ({
  from: file.path,
  to: `${ARCHIVE_DIR}/${folder}/${file.path}`,
  size: file.size,
  mtime_ns: file.mtime_ns,
  sha256,
  why: file.reason,
  pattern: file.pattern,
  tracked,
  state: "planned",
});

export function sha256Of(root: string, path: string): string | null {
  try {
    const fd = openRegular(insideRoot(root, path), constants.O_RDONLY);
    try {
      return hashFd(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

function hashFd(fd: number): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafe(1 << 20);
  for (let got = -1; got !== 0; ) {
    got = readSync(fd, buffer, 0, buffer.length, null);
    hasher.update(buffer.subarray(0, got));
  }
  return hasher.digest("hex");
}

function newFolder(root: string, now: Date): string {
  mkdirSync(insideRoot(root, ARCHIVE_DIR), { recursive: true });
  sweep(root);
  for (let count = 1; ; count++) {
    const name = count === 1 ? folderStamp(now) : `${folderStamp(now)}-${count}`;
    try {
      mkdirSync(insideRoot(root, `${ARCHIVE_DIR}/${name}`));
      syncDir(insideRoot(root, ARCHIVE_DIR));
      return name;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

/** A crash before the first manifest leaves an empty folder. */
function sweep(root: string): void {
  for (const name of folders(root)) {
    try {
      rmdirSync(insideRoot(root, `${ARCHIVE_DIR}/${name}`));
    } catch {
      // it holds something
    }
  }
}

// ── Moving ──────────────────────────────────────────────────────────────────

/** Also for a manifest that a crash left unfinished: what lies in the archive already counts as moved. */
function finish(root: string, manifest: Manifest): Manifest {
  const entries = manifest.entries.map((entry) => ({ ...entry, ...move(root, entry) }));
  const done: Manifest = { ...manifest, state: "done", entries };
  writeManifest(root, done);
  return done;
}

function move(root: string, entry: Moved): Pick<Moved, "state" | "note"> {
  if (entry.state !== "planned") return { state: entry.state };
  try {
    if (stateOf(root, entry.to) !== null) return { state: "archived" };
    const changed = changeOf(root, entry.from, entry);
    if (changed !== null) return { state: "left", note: changed };
    return moveOne(root, entry);
  } catch (error) {
    const why = errorCode(error) === "EXDEV" ? "it lies on another file system" : messageOf(error);
    return { state: "left", note: why };
  }
}

/** Should someone have replaced the file between the look and the move, it goes back. */
function moveOne(root: string, entry: Moved): Pick<Moved, "state" | "note"> {
  const [from, to] = [insideRoot(root, entry.from), insideRoot(root, entry.to)];
  const before = stateOf(root, entry.from);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  const after = stateOf(root, entry.to);
  if (after !== null && after.ino === before?.ino && after.mtime_ns === entry.mtime_ns) return { state: "archived" };
  if (lookAt(from) === undefined) renameSync(to, from);
  return { state: "left", note: "it changed while it was moved" };
}
