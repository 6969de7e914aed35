/** Moves planned files into an archive folder. The manifest is written first: whatever happens, running again completes it. */
import { linkSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import {
  appendLine,
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  namesIn,
  parseJson,
  readText,
  syncDir,
  writeAtomic,
} from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { excludePlace } from "../../store/owned.ts";
import { hashFile } from "../install/binary.ts";
import { ARCHIVE_DIR, isIgnored, loadPlan, type PlanFile, readState, trackedFiles } from "./plan.ts";
import { rememberApproved } from "./rules.ts";
import { inUnits, localStamp, shown, withLock } from "./shared.ts";

export interface ArchiveResult {
  /** every folder that files of this call went to, the completed ones first */
  folders: string[];
  archived: ArchiveEntry[];
  left: { path: string; why: string }[];
  /** lay in an archive of this plan before */
  before: string[];
  excluded: "added" | "already" | "no git" | "failed";
}

export interface ArchiveRequest {
  plan: string;
  /** numbers as in the plan's table; null is all */
  only: Set<number> | null;
  tracked: boolean;
}

export function applyPlan(root: string, wanted: ArchiveRequest, now: Date): ArchiveResult {
  const plan = loadPlan(root, wanted.plan);
  const beyond = [...(wanted.only ?? [])].find((n) => n < 1 || n > plan.files.length);
  if (beyond !== undefined) throw new Error(`the plan has no number ${beyond}; it has 1 to ${plan.files.length}`);
  const chosen = plan.files.filter((_file, at) => wanted.only === null || wanted.only.has(at + 1));
  return withLock(root, () => {
    const excluded = excludeArchive(root);
    const unfinished = listManifests(root, plan.id).filter(({ state }) => state === "moving");
    const completed = unfinished.map((manifest) => finish(root, manifest));
    const done = new Set(listMoved(root, plan.id));
    const rest = chosen.filter((file) => !done.has(file.path));
    const fresh = archive(root, plan.id, rest, wanted.tracked, now);
    const touched = [...completed, ...(fresh.manifest ? [fresh.manifest] : [])];
    const outcome = buildOutcome(touched, fresh.left);
    const patterns = outcome.archived.map((entry) => entry.pattern);
    rememberApproved(root, patterns, localStamp(now).slice(0, 10));
    const moved = new Set(outcome.archived.map((entry) => entry.from));
    const before = chosen.map((file) => file.path).filter((path) => done.has(path) && !moved.has(path));
    return { ...outcome, before, excluded };
  });
}

function buildOutcome(
  touched: Manifest[],
  refused: ArchiveResult["left"],
): Pick<ArchiveResult, "folders" | "archived" | "left"> {
  const isArchived = (entry: ArchiveEntry) => entry.state === "archived";
  const entries = touched.flatMap((manifest) => manifest.entries);
  const said = new Set(refused.map((one) => one.path));
  const left = entries.filter((entry) => entry.state === "left" && !said.has(entry.from));
  return {
    folders: touched.filter((manifest) => manifest.entries.some(isArchived)).map((manifest) => manifest.folder),
    archived: entries.filter(isArchived),
    left: [...left.map(({ from, note }) => ({ path: from, why: note ?? "" })), ...refused],
  };
}

/** Only what really lies there; a restored file may be archived again. */
const listMoved = (root: string, plan: string) =>
  listManifests(root, plan)
    .flatMap((manifest) => manifest.entries)
    .filter((entry) => readState(root, entry.to) !== null && lookAt(insideRoot(root, entry.from)) === undefined)
    .map((entry) => entry.from);

/** The archive belongs to the person, but should not be in the way of their next commit. */
function excludeArchive(root: string): ArchiveResult["excluded"] {
  try {
    const place = excludePlace(root);
    if (place === null) return "no git";
    if (isIgnored(root, `${ARCHIVE_DIR}/x`)) return "already";
    const file = readText(place.path);
    if (!file.ok && file.why !== "missing") return "failed";
    mkdirSync(dirname(place.path), { recursive: true });
    appendLine(place.path, `${COMMENT}\n${place.prefix}${ARCHIVE_DIR}/`);
    return isIgnored(root, `${ARCHIVE_DIR}/x`) ? "added" : "failed";
  } catch {
    return "failed";
  }
}

const COMMENT = "# what `pawl helper archive` moved away: yours to keep or delete";

// ── A new folder ────────────────────────────────────────────────────────────

function archive(root: string, plan: string, files: PlanFile[], withTracked: boolean, now: Date) {
  const tracked = trackedFiles(root);
  const left: { path: string; why: string }[] = [];
  const fit = files.flatMap((file) => {
    const refused = refusal(root, file, tracked.has(file.path), withTracked);
    const sha256 = refused === null ? hashIfThere(root, file.path) : null;
    if (sha256 !== null) return [{ file, sha256 }];
    left.push({ path: file.path, why: refused ?? "it cannot be read" });
    return [];
  });
  if (fit.length === 0) return { manifest: null, left };
  const folder = newFolder(root, now);
  const entries = fit.map(({ file, sha256 }): ArchiveEntry => {
    const { path, size, mtime_ns, reason: why, pattern } = file;
    const to = `${ARCHIVE_DIR}/${folder}/${path}`;
    return { from: path, to, size, mtime_ns, sha256, why, pattern, tracked: tracked.has(path), state: "planned" };
  });
  const manifest: Manifest = { v: 1, folder, plan, at: localStamp(now), state: "moving", entries };
  writeManifest(root, manifest);
  return { manifest: finish(root, manifest), left };
}

function refusal(root: string, file: PlanFile, tracked: boolean, withTracked: boolean): string | null {
  if (tracked && !withTracked)
    return file.tracked ? "tracked by git; --tracked moves it" : "git tracks it since the plan";
  return findChange(root, file.path, file);
}

function findChange(root: string, path: string, then: { size: number; mtime_ns: string }): string | null {
  const state = readState(root, path);
  if (state === null) return "it is gone, or no longer a plain file of the project";
  return state.size === then.size && state.mtime_ns === then.mtime_ns ? null : "it changed since the plan";
}

/** null: it cannot be read. */
const hashIfThere = (root: string, path: string) => attempt(() => hashFile(insideRoot(root, path)), null);

function newFolder(root: string, now: Date): string {
  mkdirSync(insideRoot(root, ARCHIVE_DIR), { recursive: true });
  // A crash before the first manifest leaves an empty folder; one that holds something stays.
  for (const name of folders(root)) attempt(() => rmdirSync(insideRoot(root, `${ARCHIVE_DIR}/${name}`)), null);
  const stamp = localStamp(now).replace(/[ :]/g, "-");
  for (let count = 1; ; count++) {
    const name = count === 1 ? stamp : `${stamp}-${count}`;
    try {
      mkdirSync(insideRoot(root, `${ARCHIVE_DIR}/${name}`));
      syncDir(insideRoot(root, ARCHIVE_DIR));
      return name;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
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

function move(root: string, entry: ArchiveEntry): Pick<ArchiveEntry, "state" | "note"> {
  if (entry.state !== "planned") return { state: entry.state };
  try {
    if (readState(root, entry.to) !== null) return { state: "archived" };
    const changed = findChange(root, entry.from, entry);
    if (changed !== null) return { state: "left", note: changed };
    return moveOne(root, entry);
  } catch (error) {
    const why = errorCode(error) === "EXDEV" ? "it lies on another file system" : messageOf(error);
    return { state: "left", note: why };
  }
}

/** Should someone have replaced the file between the look and the move, it goes back. */
function moveOne(root: string, entry: ArchiveEntry): Pick<ArchiveEntry, "state" | "note"> {
  const [from, to] = [insideRoot(root, entry.from), insideRoot(root, entry.to)];
  const before = readState(root, entry.from);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  const after = readState(root, entry.to);
  if (after !== null && after.ino === before?.ino && after.mtime_ns === entry.mtime_ns) return { state: "archived" };
  if (lookAt(from) === undefined) renameSync(to, from);
  return { state: "left", note: "it changed while it was moved" };
}

// ── Back to where they were, never over a file that is there ────────────────

export interface RestoreResult {
  restored: { path: string; note: string }[];
  left: { path: string; why: string }[];
}

/** `only`: numbers of the manifest's rows, counted from 1; null is all that still lies in the archive. */
export function restore(root: string, given: string, only: Set<number> | null): RestoreResult {
  const folder = given.replace(/\/+$/, "").replace(new RegExp(`^(\\./)?${ARCHIVE_DIR.replace(".", "\\.")}/`), "");
  if (!isFolderName(folder)) throw new Error(`${JSON.stringify(given.slice(0, 80))} is no folder of ${ARCHIVE_DIR}/`);
  return withLock(root, () => {
    const manifest = readManifest(root, folder);
    if (!manifest) throw new Error(`${ARCHIVE_DIR}/${folder} has no MANIFEST.md that can be read`);
    const result: RestoreResult = { restored: [], left: [] };
    const entries = manifest.entries.map((entry, at) => {
      if (only !== null ? !only.has(at + 1) : entry.state === "left" || entry.state === "restored") return entry;
      return putBack(root, entry, result);
    });
    writeManifest(root, { ...manifest, entries });
    return result;
  });
}

function putBack(root: string, entry: ArchiveEntry, result: RestoreResult): ArchiveEntry {
  try {
    const note = moveBack(root, entry);
    result.restored.push({ path: entry.from, note });
    return { ...entry, state: "restored" };
  } catch (error) {
    result.left.push({ path: entry.from, why: messageOf(error) });
    return entry;
  }
}

function moveBack(root: string, entry: ArchiveEntry): string {
  const [from, to] = [insideRoot(root, entry.to), insideRoot(root, entry.from)];
  const archived = readState(root, entry.to);
  const there = readState(root, entry.from);
  if (archived === null) {
    if (there !== null) return "it is there already";
    throw new Error("it is not in the archive any more");
  }
  const hash = hashIfThere(root, entry.to);
  if (there?.ino === archived.ino) unlinkSync(from);
  else if (there !== null && hash !== null && hashIfThere(root, entry.from) === hash)
    return "the same file is there already; the archived copy stays";
  else if (lookAt(to) !== undefined)
    throw new Error("another file is there now; it stays, and so does the archived one");
  else moveWithoutOverwriting(from, to);
  return hash === entry.sha256 ? "" : "its content was changed in the archive";
}

/** A link fails where something is; a rename would not. */
function moveWithoutOverwriting(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(errorCode(error))) throw error;
    if (lookAt(to) !== undefined) throw new Error("another file is there now");
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

// ── MANIFEST.md: a table for people, and the same as JSON lines, which is also the journal ─

export interface ArchiveEntry extends Pick<PlanFile, "size" | "mtime_ns" | "pattern" | "tracked"> {
  from: string;
  to: string;
  sha256: string;
  why: string;
  state: "planned" | "archived" | "left" | "restored";
  note?: string;
}

interface Manifest {
  v: 1;
  /** name below .archive */
  folder: string;
  plan: string;
  at: string;
  state: "moving" | "done";
  entries: ArchiveEntry[];
}

const FENCE = "```json pawl-manifest";
const LARGEST = 512 * 1024 * 1024;

const manifestPath = (root: string, folder: string) => insideRoot(root, `${ARCHIVE_DIR}/${folder}/MANIFEST.md`);
const isFolderName = (name: string) => /^\d{4}-\d\d-\d\d-\d\d-\d\d(-\d+)?$/.test(name);

function writeManifest(root: string, manifest: Manifest): void {
  writeAtomic(manifestPath(root, manifest.folder), render(manifest), 0o644);
}

function render({ entries, ...head }: Manifest): string {
  const kept = entries.filter((entry) => entry.state === "archived");
  const bytes = kept.reduce((sum, entry) => sum + entry.size, 0);
  const said =
    head.state === "moving"
      ? `Unfinished: \`pawl helper archive apply ${head.plan}\` completes it.`
      : `${kept.length} files, ${inUnits(bytes)} freed (they lie here until you delete them).`;
  return [
    `# Archive ${head.folder}`,
    `${said} Plan ${head.plan}, ${head.at}.\nBack to where they were: \`pawl helper archive restore ${head.folder}\``,
    ["| what | size | why | from | to | sha256 |", "|---|---|---|---|---|---|", ...entries.map(row)].join("\n"),
    [FENCE, JSON.stringify(head), ...entries.map((entry) => JSON.stringify(entry)), "```", ""].join("\n"),
  ].join("\n\n");
}

function row(entry: ArchiveEntry): string {
  const what = `${entry.state}${entry.note ? `: ${entry.note}` : ""}${entry.tracked ? " (tracked by git)" : ""}`;
  const cells = [what, inUnits(entry.size), entry.why, shown(entry.from), shown(entry.to), entry.sha256];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** null: no archive of ours, or one that cannot be read. */
function readManifest(root: string, folder: string): Manifest | null {
  if (!isFolderName(folder)) return null;
  const file = readText(manifestPath(root, folder), LARGEST);
  const start = file.ok ? file.text.lastIndexOf(`\n${FENCE}\n`) : -1;
  if (!file.ok || start < 0) return null;
  const lines = file.text.slice(start + FENCE.length + 2).split("\n");
  const [head, ...entries] = lines.slice(0, lines.indexOf("```")).map(parseJson);
  if (!isObject(head) || head.folder !== folder || typeof head.plan !== "string") return null;
  if (!entries.every((entry): entry is ArchiveEntry => isEntry(entry, folder))) return null;
  return { ...(head as unknown as Omit<Manifest, "entries">), entries };
}

/** What a manifest says is followed only where it could have been said by us. */
function isEntry(value: unknown, folder: string): value is ArchiveEntry {
  if (!isObject(value)) return false;
  const texts = [value.from, value.to, value.mtime_ns, value.sha256, value.why, value.pattern, value.state];
  return texts.every((text) => typeof text === "string") && value.to === `${ARCHIVE_DIR}/${folder}/${value.from}`;
}

/** Oldest first. */
const listManifests = (root: string, plan: string) =>
  folders(root).flatMap((name) => {
    const manifest = readManifest(root, name);
    return manifest?.plan === plan ? [manifest] : [];
  });

const folders = (root: string): string[] => (namesIn(insideRoot(root, ARCHIVE_DIR)) ?? []).filter(isFolderName).sort();
