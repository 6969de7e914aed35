/** What `pawl init` would change. Reads, decides, writes nothing. */
import { namesIn } from "../../store/commits.ts";
import { hashOf, lookAt } from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { type ExcludePlace, excludePlace, IGNORE_TEXT, isOwned } from "../../store/owned.ts";
import { changeOf, type Draft, type Plan, PRIVATE, type Wishes, write } from "./draft.ts";
import { withExcludes, withoutExcludes } from "./exclude.ts";
import { planAsked } from "./plan-asked.ts";
import { hooksElsewhere, planSettings } from "./plan-settings.ts";
import { planTexts } from "./plan-texts.ts";
import { emptyManifest, type Manifest, readExisting, readManifest, renderManifest, type Target } from "./target.ts";

export function planInit(target: Target, wishes: Wishes, version: string): Plan {
  const record = readManifest(target);
  const manifest = record.manifest ?? emptyManifest(version);
  const known = new Map(manifest.files.map((entry) => [entry.path, entry]));
  const draft: Draft = { target, known, entries: new Map(known), changes: [], notes: [] };
  const elsewhere = hooksElsewhere(target);
  const line = lineWanted(target, wishes, manifest, elsewhere !== null);
  if (elsewhere) draft.notes.push(`${elsewhere} already calls Pawl here: no second hook, no copies of the commands`);
  planSettings(draft, { hooks: elsewhere === null, line });
  if (!elsewhere) planTexts(draft);
  planAsked(draft, wishes);
  if (target.scope !== "user") planIgnores(draft);
  planRecord(draft, record.text, { ...manifest, pawl: version }, line);
  return { changes: draft.changes, notes: draft.notes };
}

/** null: whatever is there stays. A status line is one person's matter, and a no is remembered. */
function lineWanted({ scope }: Target, { statusline }: Wishes, manifest: Manifest, elsewhere: boolean): boolean | null {
  if (statusline !== undefined) return statusline;
  return scope === "project" || elsewhere || manifest.no_statusline ? null : true;
}

function planRecord(draft: Draft, text: string | null, manifest: Manifest, line: boolean | null): void {
  const { target, entries, changes } = draft;
  const { no_statusline: declined, ...rest } = manifest;
  const next = renderManifest({
    ...rest,
    files: [...entries.values()],
    folders: [...new Set([...manifest.folders, ...newFolders(draft)])],
    ...((line === false || (line === null && declined)) && { no_statusline: true }),
  });
  if (next === text || (changes.length === 0 && entries.size === 0)) return;
  const why = "remembers what was there before, for `pawl uninstall`";
  changes.unshift(changeOf(target, target.manifest, text, next, why, PRIVATE));
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
