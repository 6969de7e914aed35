/** What `pawl init` would change. Reads, decides, writes nothing. */
import { namesIn } from "../store/commits.ts";
import { hashOf, lookAt, parseJson } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { dirname, join } from "../store/names.ts";
import { type ExcludePlace, excludePlace, IGNORE_TEXT, isOwned } from "../store/owned.ts";
import type { Change } from "./apply.ts";
import { configText, detectChecks } from "./checks.ts";
import { CLAUDE_MD, withBlock } from "./claude-md.ts";
import { InstallError } from "./error.ts";
import { withExcludes, withoutExcludes } from "./exclude.ts";
import { callsUs } from "./hooks.ts";
import { ignoredByHost, isEmptySettings, withHooks, withoutHooks } from "./settings.ts";
import {
  type Entry,
  emptyManifest,
  type Kind,
  modeOf,
  placed,
  readExisting,
  readManifest,
  readQuietly,
  recorded,
  renderManifest,
  type Target,
} from "./target.ts";
import { ownCommands, SHIPPED, type Shipped } from "./texts.ts";

export interface Plan {
  changes: Change[];
  /** what the person should know: left alone, already there, of no use */
  notes: string[];
}

export interface Wishes {
  claudeMd: boolean;
  config: boolean;
}

interface Draft extends Plan {
  target: Target;
  known: Map<string, Entry>;
  entries: Map<string, Entry>;
}

const PUBLIC = 0o644;
const PRIVATE = 0o600;

export function planInit(target: Target, wishes: Wishes, version: string): Plan {
  const record = readManifest(target);
  const manifest = record.manifest ?? emptyManifest(version);
  const known = new Map(manifest.files.map((entry) => [entry.path, entry]));
  const draft: Draft = { target, known, entries: new Map(known), changes: [], notes: [] };
  const elsewhere = hooksElsewhere(target);
  if (elsewhere) draft.notes.push(`${elsewhere} already calls Pawl here: no second hook, no copies of the commands`);
  else {
    planSettings(draft);
    planTexts(draft);
  }
  if (wishes.claudeMd) planBlock(draft);
  if (wishes.config) planConfig(draft);
  if (target.scope !== "user") planIgnores(draft);
  const folders = [...new Set([...manifest.folders, ...newFolders(draft)])];
  const next = renderManifest({ v: 1, pawl: version, files: [...draft.entries.values()], folders });
  if (next !== record.text && (draft.changes.length > 0 || draft.entries.size > 0)) {
    const why = "remembers what was there before, for `pawl uninstall`";
    draft.changes.unshift(changeOf(target, target.manifest, record.text, next, why, PRIVATE));
  }
  return { changes: draft.changes, notes: draft.notes };
}

function changeOf(
  target: Target,
  name: string,
  before: string | null,
  after: string | null,
  why: string,
  mode = PUBLIC,
): Change {
  const path = placed(target.base, name);
  return { path, before, after, mode: modeOf(path, mode), why };
}

/** Plans to write, and remembers what was there before us. */
function write(
  draft: Draft,
  name: string,
  kind: Kind,
  now: string | null,
  after: string,
  original: string | null,
  why: string,
): void {
  const { target, known, entries, changes } = draft;
  changes.push(changeOf(target, name, now, after, why));
  entries.set(name, recorded(known.get(name), { path: name, kind, before: original }, after, target.scope));
}

/** Outermost first; of the files that are to come. */
function newFolders({ target, changes }: Draft): string[] {
  const paths = [
    join(target.base, target.manifest),
    ...changes.filter(({ after }) => after !== null).map(({ path }) => path),
  ];
  const missing = new Set<string>();
  for (const path of paths)
    for (let dir = dirname(path); lookAt(dir) === undefined; dir = dirname(dir)) missing.add(dir);
  for (const name of target.scope === "user" ? [] : madeByRuns(target.base)) missing.add(join(target.base, name));
  const inner = `${target.base}/`;
  return [...missing].sort().map((dir) => (dir.startsWith(inner) ? dir.slice(inner.length) : dir));
}

/** A workflow may have run here before anything was installed; what holds nothing but its files is ours, too. */
function madeByRuns(base: string): string[] {
  return [".claude", ".pawl"].filter((folder) => {
    const names = namesIn(join(base, folder)) ?? [];
    return names.length > 0 && names.every((name) => isOwned(`${folder}/${name}`) && name !== "install.json");
  });
}

// ── Settings ────────────────────────────────────────────────────────────────

/** A team's or a person's own hooks serve a project as well; two would only cost time. */
function hooksElsewhere({ scope, base, settings }: Target): string | null {
  if (scope !== "local" || mentionsUs(readExisting(base, settings))) return null;
  const others = [
    { shown: ".claude/settings.json", text: readQuietly(base, ".claude/settings.json") },
    { shown: "~/.claude/settings.json", text: readQuietly(homeDir(), ".claude/settings.json") },
  ];
  return others.find(({ text }) => callsUs(parseJson(text ?? "")))?.shown ?? null;
}

const mentionsUs = (text: string | null) => text?.includes(".local/share/pawl/bin/pawl") ?? false;

function planSettings(draft: Draft): void {
  const { target, known, notes } = draft;
  const now = readExisting(target.base, target.settings);
  const edited = withHooks(now, target.scope);
  const path = join(target.base, target.settings);
  if (!edited.ok) throw new InstallError(`${path}, ${edited.why}`, "mend it and try again; nothing was changed");
  const lenient = ignoredByHost(edited.text);
  if (lenient)
    notes.push(
      `WARNING: Claude Code 2.1 ignores the whole of ${target.settings} (${lenient}); take that out, or no hook in it runs`,
    );
  if (/"disableAllHooks"\s*:\s*true/.test(edited.text))
    notes.push(`WARNING: ${target.settings} says disableAllHooks: no hook runs`);
  if (edited.text === now) return;
  const original = originalSettings(known.get(target.settings), now);
  write(
    draft,
    target.settings,
    "settings",
    now,
    edited.text,
    original,
    "calls Pawl at 10 events of a session; nothing else in it changes",
  );
}

/** What the file would be without us, to the byte where it is still as we wrote it. */
function originalSettings(entry: Entry | undefined, now: string | null): string | null {
  if (now === null) return null;
  if (entry && hashOf(now) === entry.wrote) return entry.before;
  const clean = withoutHooks(now, entry ? entry.before : now);
  const text = clean.ok ? clean.text : now;
  return entry?.before === null && isEmptySettings(text) ? null : text;
}

// ── Commands and agents ─────────────────────────────────────────────────────

function planTexts(draft: Draft): void {
  const kept = new Set([...SHIPPED, ...ownCommands(draft.target)].flatMap((shipped) => planText(draft, shipped)));
  const { target, entries, changes } = draft;
  for (const entry of [...entries.values()]) {
    const mine = entry.kind === "text" && entry.scopes.includes(target.scope) && !kept.has(entry.path);
    if (mine && hashOf(readExisting(target.base, entry.path) ?? "") === entry.wrote) {
      changes.push(
        changeOf(target, entry.path, readExisting(target.base, entry.path), entry.before, "is no longer part of Pawl"),
      );
      entries.delete(entry.path);
    }
  }
}

/** The paths this text has now. */
function planText(draft: Draft, shipped: Shipped): string[] {
  const { target, known, entries, notes } = draft;
  const { path, text, why, hides } = shipped;
  const entry = known.get(path);
  const now = readExisting(target.base, path);
  if (now === text) {
    if (entry) entries.set(path, recorded(entry, entry, text, target.scope));
    return [path];
  }
  if (now === null && hides && lookAt(join(target.base, hides))) return planAside(draft, shipped, hides);
  if (now === null) write(draft, path, "text", now, text, null, why);
  else if (entry && hashOf(now) === entry.wrote) write(draft, path, "text", now, text, entry.before, `${why}, renewed`);
  else if (entry) notes.push(`${path} was edited since it was installed: left as it is`);
  else if (shipped.otherwise) return planAside(draft, shipped, path);
  else notes.push(`${path} is there and not Pawl's: left as it is, and used`);
  return [path];
}

function planAside(draft: Draft, { path, text, otherwise = path }: Shipped, taken: string): string[] {
  const typed = `/pawl:${otherwise.split("/").at(-1)!.replace(/\.md$/, "")}`;
  draft.notes.push(`${taken} is there and not Pawl's: left as it is; Pawl's own is typed ${typed}`);
  return [path, ...planText(draft, { path: otherwise, text, why: `the command ${typed}` })];
}

// ── On request ──────────────────────────────────────────────────────────────

function planBlock(draft: Draft): void {
  const { target, known, notes } = draft;
  const names = target.scope === "user" ? [".claude/CLAUDE.md"] : CLAUDE_MD;
  const name = names.find((path) => lookAt(join(target.base, path)) !== undefined);
  const now = name === undefined ? null : readExisting(target.base, name);
  if (name === undefined || now === null) {
    notes.push("there is no CLAUDE.md, and none is made: a new one would hide AGENTS.md");
    return;
  }
  const after = withBlock(now);
  const entry = known.get(name);
  const original = entry && hashOf(now) === entry.wrote ? entry.before : now;
  if (after !== now) write(draft, name, "block", now, after, original, "a marked block that explains Pawl's signals");
}

function planConfig(draft: Draft): void {
  const { target, notes } = draft;
  if (target.scope === "user") return void notes.push("a configuration belongs to a project: none with --user");
  const now = readExisting(target.base, "pawl.yaml");
  if (now !== null) return void notes.push("pawl.yaml is there: left as it is");
  write(
    draft,
    "pawl.yaml",
    "config",
    null,
    configText(detectChecks(target.base)),
    null,
    "suggests this project's own checks, as comments",
  );
}

// ── Out of the repository's sight ───────────────────────────────────────────

function planIgnores(draft: Draft): void {
  const { target, notes } = draft;
  if (readExisting(target.base, ".pawl/.gitignore") === null)
    write(draft, ".pawl/.gitignore", "ignore", null, IGNORE_TEXT, null, "keeps Pawl's state out of git");
  let place: ExcludePlace | null = null;
  let now: string | null = null;
  try {
    place = excludePlace(target.base);
    now = place && readExisting("/", place.path);
  } catch (error) {
    return void notes.push(`git's exclude file cannot be used: ${(error as Error).message}`);
  }
  if (place) planExclude(draft, place, now);
}

function planExclude(draft: Draft, place: ExcludePlace, now: string | null): void {
  const { known, entries } = draft;
  const added = [...entries.values()].filter(
    ({ kind, before }) => before === null && (kind === "text" || kind === "settings"),
  );
  const personal = added.filter(({ scopes }) => scopes.every((scope) => scope === "local")).map(({ path }) => path);
  const shared = added
    .map(({ path }) => place.prefix + path)
    .filter((line) => !personal.some((path) => place.prefix + path === line));
  const kept =
    now === null
      ? null
      : now
          .split("\n")
          .filter((line) => !shared.includes(line))
          .join("\n");
  const after = withExcludes(kept, place, personal);
  if (after === (now ?? "")) return;
  const entry = known.get(place.path);
  const same = entry !== undefined && now !== null && hashOf(now) === entry.wrote;
  const original =
    now === null
      ? null
      : same
        ? entry.before
        : withoutExcludes(
            now,
            place,
            added.map(({ path }) => path),
          );
  write(draft, place.path, "exclude", now, after, original, "keeps Pawl's files out of git status, for you only");
}
