/**
 * What `pawl uninstall` would change: every file as it was, or, where it was edited since, without what is ours. With
 * --purge also Pawl's state: runs, journal, documents, logs; what git tracks is never part of it.
 */
import { rmdirSync, rmSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { UserError } from "../../kernel/user-error.ts";
import { readPinned } from "../../store/commits.ts";
import {
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  namesOrNone,
  parseJson,
  readText,
  removeQuietly,
  TEMP_PREFIX,
} from "../../store/files.ts";
import { homeDir, statePath } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { excludePlace, isOwned } from "../../store/owned.ts";
import { listArchived, listRuns, loadRun } from "../../store/runs.ts";
import { keyPath } from "../../store/seal.ts";
import { greetingPath } from "../../store/waiting.ts";
import { failure } from "./apply.ts";
import { binaryPath, scriptPath } from "./binary.ts";
import { callsUs, namesUs, type Scope } from "./hooks.ts";
import { withoutExcludes } from "./plan.ts";
import { withoutBlocks } from "./plan-asked.ts";
import { isEmptySettings, withoutHooks, withoutStatusLine } from "./settings.ts";
import {
  buildChange,
  type Change,
  type Entry,
  isAsWritten,
  readExisting,
  readManifest,
  readQuietly,
  refusal,
  renderManifest,
  SETTINGS,
  SHORTCUTS_OFF,
  type Target,
  type Text,
} from "./target.ts";
import { SHIPPED } from "./texts.ts";

interface Draft {
  target: Target;
  changes: Change[];
  /** what is not touched, and why */
  stays: string[];
}

export interface Removal extends Omit<Draft, "target"> {
  /** folders we made, innermost first; they go if they are empty */
  folders: string[];
}

/** These serve the state, and go only with it. */
const LATE = ["ignore", "exclude"];

/** `scopes`: what is to go. `state`: Pawl's state goes as well. */
export function planRemoval(target: Target, scopes: Scope[], state: boolean): Removal {
  const record = readManifest(target);
  const draft: Draft = { target, changes: [], stays: [] };
  const left = (record.manifest?.files ?? []).map((entry) => ({
    ...entry,
    scopes: entry.scopes.filter((scope) => !scopes.includes(scope)),
  }));
  const late = left.filter(({ kind }) => LATE.includes(kind));
  const early = left.filter((entry) => !late.includes(entry));
  const gone = early.filter((entry) => entry.scopes.length === 0);
  for (const entry of gone) revert(draft, entry);
  const unrecorded = (name: string) => !left.some(({ path }) => path === name);
  for (const scope of scopes) if (unrecorded(SETTINGS[scope])) freeSettings(draft, scope);
  const user = target.scope === "user";
  if (!user && !scopes.includes("project")) noteOthers(draft, unrecorded(".claude/settings.json"));
  const all = state && gone.length === early.length;
  if (all) for (const entry of late) revert(draft, entry);
  if (all && !user) freeState(draft, left);
  const rest = all ? [] : left.filter((entry) => !gone.includes(entry));
  const after = rest.length === 0 ? null : renderManifest({ ...record.manifest!, files: rest });
  const why = after === null ? "the record of the installation" : "lists what is left";
  if (after !== record.text) draft.changes.push(buildChange(target, target.manifest, record.text, after, why));
  const made = record.manifest?.folders ?? (user ? [] : [".claude", ".pawl"]);
  return { ...draft, folders: made.toReversed() };
}

/** What was installed here from this machine; the personal file is looked at in any case. */
export function recordedScopes(target: Target): Scope[] {
  const files = readManifest(target).manifest?.files ?? [];
  return [...new Set<Scope>(["local", ...files.flatMap(({ scopes }) => scopes)])];
}

/** What cannot be freed of us stays, and the person is told why. */
function orStays({ stays }: Draft, name: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    stays.push(`${name}: ${error.message}`);
  }
}

function revert(draft: Draft, entry: Entry): void {
  const { target, changes } = draft;
  const { path, before, kind } = entry;
  orStays(draft, path, () => {
    if (kind === "exclude" && path !== excludePlace(target.base)?.path)
      throw refusal("is not where git looks for this project's excludes (any more)", "");
    const now = readExisting(target.base, path);
    if (now === null || now === before) return;
    const whole = isAsWritten(entry, now) || kind === "switch";
    const after = whole ? before : freed(draft, entry, now);
    const restored = before === null ? "was not there before" : "as it was before";
    const why = whole ? restored : "edited since: only what is Pawl's goes";
    if (after !== now) changes.push(buildChange(target, path, now, after, why));
  });
}

/** An edited file without what is ours; null: nothing is left of it. */
function freed(draft: Draft, { path, kind, before }: Entry, now: string): Text {
  if (kind === "settings") return freedSettings(draft, path, now, before);
  if (kind === "block") return withoutBlocks(now);
  if (kind !== "exclude") throw refusal("was edited since it was installed, so it is yours", "");
  const place = excludePlace(draft.target.base);
  const installed = readManifest(draft.target).manifest?.files.map((entry) => entry.path) ?? [];
  const text = place === null ? now : withoutExcludes(now, place, installed);
  return before === null && text.trim() === "" ? null : text;
}

function freedSettings({ stays }: Draft, name: string, now: string, before: Text): Text {
  const edited = withoutHooks(now, before);
  if (!edited.ok) throw refusal(`cannot be edited (${edited.why}); remove Pawl's hooks by hand`, "");
  const { text, note } = withoutStatusLine(edited.text, before);
  if (note) stays.push(`${name}: ${note}`);
  return before === null && isEmptySettings(text) ? null : text;
}

// ── Without a record ────────────────────────────────────────────────────────

/** Installed by someone else, or the record was lost: ours is recognised by its command. */
function freeSettings(draft: Draft, scope: Scope): void {
  const { target, changes } = draft;
  const name = SETTINGS[scope];
  const now = readExisting(target.base, name);
  if (now === null || !namesUs(now)) return;
  orStays(draft, name, () => {
    const after = freedSettings(draft, name, now, now);
    if (after !== now) changes.push(buildChange(target, name, now, after, "only what is Pawl's goes"));
  });
}

/** Hooks that go on serving this project after ours here are gone. */
function noteOthers({ target, stays }: Draft, unrecorded: boolean): void {
  const name = ".claude/settings.json";
  const calls = (base: string) => callsUs(parseJson(readQuietly(base, name) ?? ""));
  if (unrecorded && calls(target.base))
    stays.push(`${name}: calls Pawl for the whole team; \`pawl uninstall --team\` takes that out`);
  if (calls(homeDir()))
    stays.push(`~/${name}: calls Pawl in every project of yours; \`pawl uninstall --user\` takes that out`);
}

/** What the first run of a workflow wrote, by whatever version, and what the person switched off without `init`. */
function freeState(draft: Draft, recorded: Entry[]): void {
  const { target, changes } = draft;
  if (!recorded.some(({ kind }) => kind === "exclude")) freeExclude(draft);
  const ignore = ".pawl/.gitignore";
  const ignored = recorded.some(({ kind }) => kind === "ignore") ? null : readExisting(target.base, ignore);
  if (ignored?.startsWith("runs/\narchive/\n"))
    changes.push(buildChange(target, ignore, ignored, null, "served Pawl's state"));
  const listed = recorded.some(({ path }) => path === SHORTCUTS_OFF);
  const off = listed ? null : readExisting(target.base, SHORTCUTS_OFF);
  if (off !== null) changes.push(buildChange(target, SHORTCUTS_OFF, off, null, "Pawl's state"));
}

function freeExclude({ target, changes, stays }: Draft): void {
  try {
    const place = excludePlace(target.base);
    const now = place && readExisting("/", place.path);
    const after = place && now !== null ? withoutExcludes(now, place, []) : now;
    if (place && now !== null && after !== now)
      changes.push(buildChange(target, place.path, now, after, "only Pawl's lines go"));
  } catch (error) {
    stays.push(`git's exclude file: ${messageOf(error)}`);
  }
}

// ── Folders ─────────────────────────────────────────────────────────────────

export function removeEmptyFolders(base: string, folders: string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder.startsWith("/") ? folder : join(base, folder));
    } catch (error) {
      if (!["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(errorCode(error))) throw error;
    }
  }
}

// ── Pawl's state ────────────────────────────────────────────────────────────

/** Written by `init` itself, or shared with others; everything else that we own comes from working with Pawl. */
const KEPT = [".pawl/.gitignore", ".pawl/install.json", SHORTCUTS_OFF, ".claude/logs"];
const BUILTIN_LOG = ".claude/logs/work-completion.log";

export interface State {
  /** relative to the project: files and folders that go */
  paths: string[];
  /** what the person's own state folder knows of this project: session pointers, that it was greeted; leftovers; absolute */
  pointers: string[];
  live: string[];
}

/** Where `init` writes: a temporary file of a write that was cut off may lie there. */
const FOLDERS = [...new Set(["", ".claude", ".claude/skills", ...SHIPPED.map(({ path }) => dirname(path))])];

export function findState(root: string): State {
  const owned = [".pawl", ".claude"].flatMap((folder) => pathsIn(root, folder)).filter(isOwned);
  const left = FOLDERS.flatMap((folder) => unfinishedIn(join(root, folder))).map((path) => path.slice(root.length + 1));
  const candidates = [...new Set([...owned, ...left, ...writtenByRuns(root)])].filter((path) => !KEPT.includes(path));
  const tracked = trackedIn(root, candidates);
  const exclude = attempt(() => excludePlace(root), null);
  return {
    paths: candidates.filter(
      (path) => exists(root, path) && !tracked.some((file) => file === path || file.startsWith(`${path}/`)),
    ),
    pointers: [
      ...["sessions", "actors", "greeted", "projects", "guard"].flatMap((folder) => filesAbout(root, folder)),
      ...(exclude ? unfinishedIn(dirname(exclude.path)) : []),
    ],
    live: listRuns(root).flatMap(({ id, status }) => (status === "ended" ? [] : [id])),
  };
}

/** Of a real folder: what a link leads to is not ours to remove. */
const namesIn = (folder: string) =>
  attempt(() => lookAt(folder)?.isDirectory() === true, false) ? namesOrNone(folder) : [];

const pathsIn = (root: string, folder: string) => namesIn(join(root, folder)).map((name) => `${folder}/${name}`);

/** A crash in the middle of `init` may have left an unfinished file, next to git's own too. */
const unfinishedIn = (folder: string) =>
  namesIn(folder).flatMap((name) => (name.startsWith(TEMP_PREFIX) ? [join(folder, name)] : []));

const exists = (root: string, path: string) => attempt(() => lookAt(insideRoot(root, path)) !== undefined, false);

/** Documents and logs lie where the workflow of each run says. */
function writtenByRuns(root: string): string[] {
  const live = listRuns(root).flatMap(({ id }) => attempt(() => loadRun(root, id), null) ?? []);
  const ended = listArchived(root).filter(({ commit }) => !commit.forged);
  const documents = [...live, ...ended].map(({ commit }) => commit.run.document.path);
  const folders = ["runs", "archive"].map((name) => join(root, ".pawl", name));
  const logs = folders.flatMap((folder) =>
    namesIn(folder).flatMap((id) => {
      const pinned = attempt(() => readPinned(join(folder, id), id), null);
      return pinned?.ok && typeof pinned.workflow.log === "string" ? [pinned.workflow.log] : [];
    }),
  );
  return [BUILTIN_LOG, ...documents, ...logs].filter((path) => path !== "");
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
  const files = [keyPath(), scriptPath()].filter((path) => lookAt(path) !== undefined);
  return { paths: [], pointers: [...folders, ...files], live: [] };
}

/** What could not be removed, and why. */
export function removeState(root: string, { paths, pointers }: State): string[] {
  const remove = (name: string, path: () => string) =>
    failure(() => rmSync(path(), { recursive: true, force: true })).map((why) => `${name}: ${why}`);
  const problems = [
    ...paths.flatMap((path) => remove(path, () => insideRoot(root, path))),
    ...pointers.flatMap((path) => remove(path, () => path)),
  ];
  for (const path of paths) removeEmptyAbove(root, path);
  removeQuietly(greetingPath(root));
  for (const folder of HOME_FOLDERS) attempt(() => rmdirSync(join(homeDir(), folder)), null);
  return problems;
}

/** Ours, from the innermost: each goes only when nothing is left in it. */
const HOME_FOLDERS = [
  ...["sessions", "greeted", "projects", "shortcuts", "guard", ""].map((name) => `.local/state/pawl/${name}`),
  ...[".local/state", ".local/share/pawl", ".local/share", ".local"],
];

/** Folders that only held documents and logs of ours; .claude and .pawl are the record's business. */
function removeEmptyAbove(root: string, path: string): void {
  try {
    for (let folder = dirname(path); ![".", ".claude", ".pawl"].includes(folder); folder = dirname(folder))
      rmdirSync(join(root, folder));
  } catch {
    // the first that holds something stays, and so does everything above it
  }
}
