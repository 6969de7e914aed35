/** What `pawl init` would change. Reads, decides, writes nothing. */
import { lookAt, messageOf, namesIn, parseJson } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { type ExcludePlace, excludePlace, IGNORE_TEXT, isOwned } from "../../store/owned.ts";
import { callsUs, isOurCommand } from "./hooks.ts";
import { planAsked } from "./plan-asked.ts";
import {
  hasStatusLine,
  ignoredByHost,
  isEmptySettings,
  isOurLine,
  lineIn,
  type OtherStatusLine,
  withHooks,
  withoutHooks,
  withoutStatusLine,
  withStatusLine,
} from "./settings.ts";
import {
  buildChange,
  type Draft,
  type Entry,
  isAsWritten,
  type Manifest,
  PARTS,
  type Part,
  type Plan,
  PRIVATE,
  readExisting,
  readManifest,
  readQuietly,
  record,
  refusal,
  renderManifest,
  type Target,
  type Text,
  type Wishes,
  write,
} from "./target.ts";
import { planTexts, SHIPPED } from "./texts.ts";

export function planInit(target: Target, wishes: Wishes, version: string): Plan {
  const record = readManifest(target);
  const manifest = record.manifest ?? { v: 1, pawl: version, files: [], folders: [] };
  const known = new Map(manifest.files.map((entry) => [entry.path, entry]));
  const draft: Draft = { target, known, entries: new Map(known), changes: [], notes: [] };
  const elsewhere = hooksElsewhere(target);
  const parts = partsWanted(target, wishes, record.manifest);
  const line = wishes.parts.statusline ?? (parts.has("statusline") ? true : null);
  if (elsewhere) draft.notes.push(`${elsewhere} already calls Pawl here: no second hook, no copies of the commands`);
  planSettings(draft, { hooks: elsewhere === null, line });
  if (!elsewhere) planTexts(draft, parts);
  const isNew = record.manifest === null && !elsewhere;
  const shortcuts = isNew ? { shortcuts: parts.has("shortcuts") } : {};
  planAsked(draft, { ...wishes, parts: { ...shortcuts, ...wishes.parts } });
  if (target.scope !== "user") planIgnores(draft);
  planRecord(draft, record.text, { ...manifest, pawl: version });
  return { changes: draft.changes, notes: draft.notes };
}

/** What was chosen, else what is installed, else what a newcomer gets. */
export function partsWanted(target: Target, { parts }: Wishes, manifest: Manifest | null): Set<Part> {
  const installed = manifest ? installedParts(target, manifest) : new Set<Part>(["complete-work"]);
  return new Set((Object.keys(PARTS) as Part[]).filter((part) => parts[part] ?? installed.has(part)));
}

export function installedParts(target: Target, { files }: Manifest): Set<Part> {
  const texts = SHIPPED.filter(({ path, otherwise }) =>
    files.some((entry) => (entry.path === path || entry.path === otherwise) && entry.scopes.includes(target.scope)),
  );
  const line = lineIn(readQuietly(target.base, target.settings), target.settings);
  const lined = line !== null && isOurLine(line.command) ? (["statusline"] as const) : [];
  return new Set([...texts.flatMap(({ part }) => part ?? []), ...lined]);
}

function planRecord(draft: Draft, text: Text, manifest: Manifest): void {
  const { target, entries, changes } = draft;
  const next = renderManifest({
    ...manifest,
    files: [...entries.values()],
    folders: [...new Set([...manifest.folders, ...newFolders(draft)])],
  });
  if (next === text || (changes.length === 0 && entries.size === 0)) return;
  const why = "remembers what was there before, for `pawl uninstall`";
  changes.unshift(buildChange(target, target.manifest, text, next, why, PRIVATE));
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

// ── Out of the repository's sight ───────────────────────────────────────────

function planIgnores(draft: Draft): void {
  const { base } = draft.target;
  const ignore = { path: ".pawl/.gitignore", kind: "ignore", before: null } as const;
  const ignored = readExisting(base, ignore.path);
  if (ignored === null) write(draft, ignore, null, IGNORE_TEXT, "keeps Pawl's state out of git");
  // A check or a run was here first.
  else if (ignored === IGNORE_TEXT && !draft.known.has(ignore.path)) record(draft, ignore, ignored);
  const found = excludeFile(draft);
  if (found) planExclude(draft, found.place, found.now);
}

function excludeFile({ target, notes }: Draft): { place: ExcludePlace; now: Text } | null {
  try {
    const place = excludePlace(target.base);
    return place && { place, now: readExisting("/", place.path) };
  } catch (error) {
    notes.push(`git's exclude file cannot be used: ${messageOf(error)}`);
    return null;
  }
}

function planExclude(draft: Draft, place: ExcludePlace, now: Text): void {
  const added = [...draft.entries.values()].filter(
    ({ kind, before }) => before === null && (kind === "text" || kind === "settings"),
  );
  const paths = added.map(({ path }) => path);
  const personal = added.filter(({ scopes }) => scopes.every((scope) => scope === "local")).map(({ path }) => path);
  const shared = paths.filter((path) => !personal.includes(path)).map((path) => place.prefix + path);
  const kept = now?.split("\n").filter((line) => !shared.includes(line));
  const after = withExcludes(kept?.join("\n") ?? null, place, personal);
  if (after === (now ?? "")) return;
  const entry = draft.known.get(place.path);
  const without = now === null ? null : withoutExcludes(now, place, paths);
  const before = isAsWritten(entry, now) ? entry.before : without;
  const why = "keeps Pawl's files out of git status, for you only";
  write(draft, { path: place.path, kind: "exclude", before }, now, after, why);
}

const INSTALLED = "# installed by `pawl init`, for this person only";

/** `installed`: files of a personal installation, which are no one else's business. */
function withExcludes(text: string | null, place: ExcludePlace, installed: string[]): string {
  const present = new Set((text ?? "").split(/\r?\n/));
  const block = (marker: string, lines: string[]) => {
    const missing = lines.filter((line) => !present.has(line));
    return missing.length === 0 ? [] : [...(present.has(marker) ? [] : [marker]), ...missing];
  };
  const own = installed.map((path) => place.prefix + path);
  const added = [...block(place.marker, place.lines), ...block(INSTALLED, own)];
  if (added.length === 0) return text ?? "";
  const gap = text === null || text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text ?? ""}${gap}${added.join("\n")}\n`;
}

/** This project's lines go; what projects of one repository share goes with the last of them. */
export function withoutExcludes(text: string, place: ExcludePlace, installed: string[]): string {
  const mine = new Set([...place.lines, ...installed.map((path) => place.prefix + path)]);
  const shared = [place.marker, INSTALLED, ...place.lines.filter((line) => !line.includes("/"))];
  const lines = text.split("\n");
  const bare = (line: string) => line.replace(/\r$/, "");
  const others = lines.some((line) => bare(line).endsWith("/.pawl/runs/") && !mine.has(bare(line)));
  const goes = (line: string) => (shared.includes(line) ? !others : mine.has(line));
  return lines.filter((line) => !goes(bare(line))).join("\n");
}

// ── The settings file: our hooks, and our status line ───────────────────────

interface Parts {
  hooks: boolean;
  /** null: not ours to say, what is there stays */
  line: boolean | null;
}

/** A team's or a person's own hooks serve a project as well; two would only cost time. */
function hooksElsewhere(target: Target): string | null {
  if (target.scope !== "local" || isOurCommand(readExisting(target.base, target.settings) ?? "")) return null;
  return others(target).find(({ text }) => callsUs(parseJson(text ?? "")))?.shown ?? null;
}

/** Files that count for this project besides a person's own one, nearest first. */
const others = ({ base }: Target) => [
  { shown: ".claude/settings.json", text: readQuietly(base, ".claude/settings.json") },
  { shown: "~/.claude/settings.json", text: readQuietly(homeDir(), ".claude/settings.json") },
];

function planSettings(draft: Draft, parts: Parts): void {
  const { target, known, notes } = draft;
  const now = readExisting(target.base, target.settings);
  if (!parts.hooks && (parts.line === null || (now === null && !parts.line))) return;
  const hooked = withHooks(now, target.scope);
  if (!hooked.ok)
    throw refusal(`${join(target.base, target.settings)}, ${hooked.why}`, "fix it and try again; nothing was changed");
  // A byte order mark counts as space here.
  const start = parts.hooks ? hooked.text : now?.trim() ? now : "{}\n";
  const after = parts.line === null ? start : linedText(draft, start, parts.line);
  const { settings } = target;
  const lenient = ignoredByHost(after);
  if (lenient)
    notes.push(
      `WARNING: Claude Code 2.1 ignores the whole of ${settings} (${lenient}); take that out, or no hook in it runs`,
    );
  if (/"disableAllHooks"\s*:\s*true/.test(after)) notes.push(`WARNING: ${settings} says disableAllHooks: no hook runs`);
  if (after === now || (now === null && isEmptySettings(after))) return;
  const before = originalSettings(known.get(target.settings), now);
  write(draft, { path: target.settings, kind: "settings", before }, now, after, explainChange(parts, after));
}

function explainChange({ hooks, line }: Parts, after: string): string {
  const shows = line === true && after.includes(" statusline");
  const does = [
    ...(hooks ? ["calls Pawl at 10 events of a session"] : []),
    ...(shows ? [`shows Pawl's status line${after.includes(" statusline --wrap ") ? " below yours" : ""}`] : []),
  ];
  return `${does.join(", ") || "no status line of Pawl's"}; nothing else in it changes`;
}

/** What the file would be without us, to the byte where it is still as we wrote it. */
function originalSettings(entry: Entry | undefined, now: Text): Text {
  if (now === null) return null;
  const before = entry ? entry.before : now;
  if (isAsWritten(entry, now)) return before;
  const clean = withoutHooks(now, before);
  const text = clean.ok ? withoutStatusLine(clean.text, before).text : now;
  return before === null && isEmptySettings(text) ? null : text;
}

function linedText({ target, known, notes }: Draft, text: string, wanted: boolean): string {
  if (!wanted) return withoutStatusLine(text, known.get(target.settings)?.before ?? null).text;
  const hidden = lineElsewhere(target, notes);
  const doubled = hidden !== null && isOurLine(hidden.command);
  if (doubled && !hasStatusLine(text)) {
    notes.push(`${hidden.from} shows Pawl's status line already`);
    return text;
  }
  const lined = withStatusLine(text, doubled ? null : hidden);
  if (lined.note) notes.push(`${target.settings}: ${lined.note}`);
  return lined.text;
}

/** The line that ours in this file would hide. A person's own is no business of a team's file. */
function lineElsewhere(target: Target, notes: string[]): OtherStatusLine | null {
  if (target.scope === "user") return null;
  const lines = others(target).flatMap(({ text, shown }) => lineIn(text, shown) ?? []);
  if (target.scope === "local") return lines[0] ?? null;
  const own = lines.find(({ from }) => from?.startsWith("~"));
  if (own) notes.push(`${own.from} has a status line of your own, which the team's hides in this project`);
  return null;
}
