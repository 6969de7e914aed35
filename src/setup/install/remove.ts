/** What `pawl uninstall` would change: every file as it was, or, where it was edited since, without what is ours. */
import { rmdirSync } from "node:fs";
import { errorCode, hashOf, messageOf, parseJson } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { type ExcludePlace, excludePlace } from "../../store/owned.ts";
import type { Change } from "./apply.ts";
import { withoutBlocks } from "./claude-md.ts";
import { InstallError } from "./error.ts";
import { withoutExcludes } from "./exclude.ts";
import { callsUs, type Scope } from "./hooks.ts";
import { isEmptySettings, withoutHooks } from "./settings.ts";
import { withoutStatusLine } from "./status-line.ts";
import {
  type Entry,
  isOurIgnore,
  type Manifest,
  modeOf,
  placed,
  readExisting,
  readManifest,
  readQuietly,
  renderManifest,
  SHORTCUTS_OFF,
  type Target,
  targetOf,
} from "./target.ts";

export interface Removal {
  changes: Change[];
  /** what is not touched, and why */
  stays: string[];
  /** folders we made, innermost first; they go if they are empty */
  folders: string[];
}

/** These serve the state, and go only with it. */
const LATE = ["ignore", "exclude"];

interface Draft {
  target: Target;
  changes: Change[];
  stays: string[];
}

/** `scopes`: what is to go. `state`: Pawl's state goes as well. */
export function planRemoval(target: Target, scopes: Scope[], state: boolean): Removal {
  const record = readManifest(target);
  const draft: Draft = { target, changes: [], stays: [] };
  const left = (record.manifest?.files ?? []).map((entry) => ({
    ...entry,
    scopes: entry.scopes.filter((scope) => !scopes.includes(scope)),
  }));
  const gone = left.filter((entry) => entry.scopes.length === 0 && !LATE.includes(entry.kind));
  const inUse = left.some((entry) => entry.scopes.length > 0 && !LATE.includes(entry.kind));
  for (const entry of gone) tryRevert(draft, entry);
  const unrecorded = (name: string) => !left.some(({ path }) => path === name);
  for (const scope of scopes) if (unrecorded(settingsOf(target, scope))) freeSettings(draft, scope);
  if (target.scope !== "user" && !scopes.includes("project")) noteOthers(draft, unrecorded(".claude/settings.json"));
  const late = left.filter((entry) => LATE.includes(entry.kind));
  const all = state && !inUse;
  if (all) for (const entry of late) tryRevert(draft, entry);
  const known = (kind: string) => late.some((entry) => entry.kind === kind);
  if (all && target.scope !== "user" && !known("exclude")) freeExclude(draft);
  if (all && target.scope !== "user" && !known("ignore")) freeIgnore(draft);
  if (all && target.scope !== "user" && unrecorded(SHORTCUTS_OFF)) freeMarker(draft);
  const rest = all ? [] : left.filter((entry) => !gone.includes(entry));
  closeRecord(draft, record, rest);
  const made = record.manifest?.folders ?? (target.scope === "user" ? [] : [".claude", ".pawl"]);
  return { ...draft, folders: made.toReversed() };
}

const settingsOf = ({ scope, base }: Target, wanted: Scope) =>
  scope === "user" ? ".claude/settings.json" : targetOf(wanted, base).settings;

function closeRecord(
  { target, changes }: Draft,
  record: { text: string | null; manifest: Manifest | null },
  rest: Entry[],
): void {
  if (!record.manifest || record.text === null) return;
  const after = rest.length === 0 ? null : renderManifest({ ...record.manifest, files: rest });
  if (after !== record.text)
    changes.push(
      changeOf(
        target,
        target.manifest,
        record.text,
        after,
        after === null ? "the record of the installation" : "lists what is left",
      ),
    );
}

function changeOf({ base }: Target, name: string, before: string, after: string | null, why: string): Change {
  const path = placed(base, name);
  return { path, before, after, mode: modeOf(path, 0o644), why };
}

function tryRevert(draft: Draft, entry: Entry): void {
  try {
    revert(draft, entry);
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    draft.stays.push(`${entry.path}: ${error.message}`);
  }
}

function revert(draft: Draft, entry: Entry): void {
  const { target, changes, stays } = draft;
  const { path, before, wrote } = entry;
  if (entry.kind === "exclude" && path !== excludePlace(target.base)?.path) {
    stays.push(`${path}: is not where git looks for this project's excludes (any more)`);
    return;
  }
  const now = readExisting(target.base, path);
  if (now === null || now === before) return;
  if (hashOf(now) === wrote) {
    changes.push(changeOf(target, path, now, before, before === null ? "was not there before" : "as it was before"));
    return;
  }
  const freed = freedOf(draft, entry, now);
  if (typeof freed === "object" && freed !== null) stays.push(`${path}: ${freed.stays}`);
  else if (freed !== now) changes.push(changeOf(target, path, now, freed, whyFreed(entry)));
}

const whyFreed = ({ kind }: Entry) =>
  kind === "switch" ? "was not there before" : "edited since: only what is Pawl's goes";

/** null: nothing is left of it. */
type Freed = string | null | { stays: string };

/** An edited file without what is ours. */
function freedOf({ target, stays }: Draft, { path, kind, before }: Entry, now: string): Freed {
  if (kind === "settings") return freedSettings(now, before, (note) => stays.push(`${path}: ${note}`));
  if (kind === "block") return withoutBlocks(now);
  if (kind === "switch") return before;
  if (kind === "exclude") {
    const text = freedExclude(target, now);
    return before === null && text.trim() === "" ? null : text;
  }
  return { stays: "was edited since it was installed, so it is yours" };
}

/** `noted`: what is said of it besides. */
function freedSettings(now: string, before: string | null, noted: (note: string) => void): Freed {
  const freed = withoutHooks(now, before);
  if (!freed.ok) return { stays: `cannot be edited (${freed.why}); remove Pawl's hooks by hand` };
  const { text, note } = withoutStatusLine(freed.text, before);
  if (note) noted(note);
  return before === null && isEmptySettings(text) ? null : text;
}

/** What was installed here from this machine; the personal file is looked at in any case. */
export function recordedScopes(target: Target): Scope[] {
  const files = readManifest(target).manifest?.files ?? [];
  return [...new Set<Scope>(["local", ...files.flatMap(({ scopes }) => scopes)])];
}

// ── Without a record ────────────────────────────────────────────────────────

/** Installed by someone else, or the record was lost: ours is recognised by its command. */
function freeSettings(draft: Draft, scope: Scope): void {
  const { target, changes, stays } = draft;
  const name = settingsOf(target, scope);
  const now = readExisting(target.base, name);
  if (now === null || !now.includes(".local/share/pawl/bin/pawl")) return;
  const freed = freedSettings(now, now, (note) => stays.push(`${name}: ${note}`));
  if (typeof freed === "object" && freed !== null) stays.push(`${name}: ${freed.stays}`);
  else if (freed !== now) changes.push(changeOf(target, name, now, freed, "only what is Pawl's goes"));
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

function freeExclude({ target, changes, stays }: Draft): void {
  try {
    const place = excludePlace(target.base);
    const now = place && readExisting("/", place.path);
    const after = place && now !== null ? withoutExcludes(now, place, []) : now;
    if (place && now !== null && after !== now)
      changes.push(changeOf(target, place.path, now, after, "only Pawl's lines go"));
  } catch (error) {
    stays.push(`git's exclude file: ${messageOf(error)}`);
  }
}

/** Written at the first arming, by whatever version. */
function freeIgnore({ target, changes }: Draft): void {
  const name = ".pawl/.gitignore";
  const now = readExisting(target.base, name);
  if (now !== null && isOurIgnore(now)) changes.push(changeOf(target, name, now, null, "served Pawl's state"));
}

/** Switched off by the person, without `init`. */
function freeMarker({ target, changes }: Draft): void {
  const now = readExisting(target.base, SHORTCUTS_OFF);
  if (now !== null) changes.push(changeOf(target, SHORTCUTS_OFF, now, null, "Pawl's state"));
}

function freedExclude(target: Target, now: string): string {
  const place: ExcludePlace | null = excludePlace(target.base);
  const installed = readManifest(target).manifest?.files.map(({ path }) => path) ?? [];
  return place === null ? now : withoutExcludes(now, place, installed);
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
