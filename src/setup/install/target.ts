/** Where an installation goes, how its files are read before anything is decided, and the record of what is ours. */
import { attempt } from "../../kernel/attempt.ts";
import { UserError } from "../../kernel/user-error.ts";
import { realpath, stat } from "../../native/disk.ts";
import { hashOf, insideRoot, isObject, lookAt, messageOf, PathError, parseJson, readText } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { isWorldWritable } from "../../store/place.ts";
import type { Scope } from "./hooks.ts";

export interface Target {
  scope: Scope;
  /** the project, or the person's home */
  base: string;
  settings: string;
  manifest: string;
}

export const SETTINGS: Record<Scope, string> = {
  local: ".claude/settings.local.json",
  project: ".claude/settings.json",
  user: ".claude/settings.json",
};

/** Something the person can fix before trying again; nothing was changed, or everything was restored. */
export const refusal = (what: string, hint: string) => new UserError(what, hint, 1);

export function installTarget(scope: Scope, root: string): Target {
  const user = scope === "user";
  return {
    scope,
    base: user ? homeDir() : root,
    settings: SETTINGS[scope],
    manifest: user ? ".local/share/pawl/install.json" : ".pawl/install.json",
  };
}

/** Everything below such a folder would become part of the project, or anyone could change what Pawl runs in it. */
export function refuseFolder(root: string): void {
  if (root === "/") throw refusal("/ is not a project", "change to a project folder, or use --user");
  if (root === attempt(() => realpath(homeDir()), ""))
    throw refusal("your home folder is not a project", "change to a project folder, or use --user");
  if (isWorldWritable(stat(root)))
    throw refusal(`every user can write to ${root}`, `run \`chmod o-w ${root}\`, or change to a project folder`);
}

/** What a file holds; null: there is none. */
export type Text = string | null;

/** Whatever is no plain UTF-8 file of its own is refused, not guessed at. */
export function readExisting(base: string, name: string): Text {
  const file = readText(placed(base, name));
  if (file.ok) return file.text;
  if (file.why === "missing") return null;
  const why = file.why === "unreadable" ? `cannot be read (${file.detail})` : `is ${file.why}`;
  throw refusal(`${join(base, name)} ${why}`, "move it away or fix it, then try again; nothing was changed");
}

/** For a look at what is not ours to edit: where it cannot be read, there is nothing to say about it. */
export const readQuietly = (base: string, name: string) => attempt(() => readExisting(base, name), null);

function placed(base: string, name: string): string {
  if (name.startsWith("/")) return name;
  try {
    return insideRoot(base, name);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    const hint =
      "Pawl writes through no links; make it a real file or folder, or use another target (--team, --user, --plugin)";
    throw refusal(messageOf(error), hint);
  }
}

/** While it is there, one-key shortcuts are off in this project. */
export const SHORTCUTS_OFF = ".pawl/shortcuts-off";

// ── The record of what is ours ──────────────────────────────────────────────

/** How a file of ours that was edited since is freed of us; "ignore" and "exclude" serve the state and go with it. */
export type Kind = "settings" | "text" | "fragment" | "block" | "config" | "switch" | "ignore" | "exclude";

export interface Entry {
  path: string;
  kind: Kind;
  before: Text;
  /** hash of what we wrote */
  wrote: string;
  scopes: Scope[];
  /** hash of what we wrote out between our marks in a file of the person's */
  inline?: string;
}

export interface Manifest {
  v: 1;
  pawl: string;
  files: Entry[];
  /** that we made, outermost first */
  folders: string[];
}

export function readManifest(target: Target): { text: Text; manifest: Manifest | null } {
  const text = readExisting(target.base, target.manifest);
  if (text === null) return { text, manifest: null };
  const manifest = asManifest(parseJson(text));
  if (manifest) return { text, manifest };
  const path = join(target.base, target.manifest);
  throw refusal(`${path} is damaged`, "move it aside; what it listed is then recognised by its content");
}

function asManifest(value: unknown): Manifest | null {
  if (!isObject(value) || value.v !== 1 || !Array.isArray(value.files) || !Array.isArray(value.folders)) return null;
  const sound = value.files.every(isEntry) && value.folders.every(isFolderName);
  return sound && typeof value.pawl === "string" ? (value as unknown as Manifest) : null;
}

/** A record may come with a stranger's repository: it must not lead us to anything outside of it. */
const isFolderName = (value: unknown) =>
  typeof value === "string" && !value.split("/").includes("..") && (!value.startsWith("/") || value.endsWith("/info"));

function isEntry(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.scopes)) return false;
  const { path, before, wrote, kind } = value;
  if (typeof path !== "string" || typeof wrote !== "string" || typeof kind !== "string") return false;
  return (kind === "exclude" || !path.startsWith("/")) && (before === null || typeof before === "string");
}

export const renderManifest = (manifest: Manifest) => `${JSON.stringify(manifest, null, 2)}\n`;

// ── A plan while it is made: what will be written, and the record of it ─────

export interface Change {
  /** absolute */
  path: string;
  before: Text;
  after: Text;
  /** what `after` is sealed for: only at the moment of writing, as that may make the key */
  sealed?: string;
  mode: number;
  why: string;
}

export interface Plan {
  changes: Change[];
  /** what the person should know: left alone, already there, of no use */
  notes: string[];
}

/** What can be added and removed by itself; hooks and the `/pawl:` commands are always there. */
export const PARTS = {
  "complete-work": "review, clean up and commit when the work is finished: /complete-work and 4 agents",
  shortcuts: "s, x, hc and others at the prompt, tasks, and 6 skills",
  auto: "work through the labeled tasks of your tracker: /auto",
  formal: "phases that survive compaction: the skill /workflow",
  statusline: "one line below the prompt; yours stays above it",
} as const;
export type Part = keyof typeof PARTS;

export interface Wishes {
  claudeMd: boolean;
  /** the text of a new pawl.yaml */
  config: string | null;
  /** the shortcuts in prose, imported where the agent reads */
  fragment?: boolean;
  /** left out: as they are; the first time `complete-work` alone */
  parts: Partial<Record<Part, boolean>>;
}

export interface Draft extends Plan {
  target: Target;
  known: Map<string, Entry>;
  entries: Map<string, Entry>;
}

const PUBLIC = 0o644;
export const PRIVATE = 0o600;

export function buildChange(
  { base }: Target,
  name: string,
  before: Text,
  after: Text,
  why: string,
  mode = PUBLIC,
): Change {
  const path = placed(base, name);
  const found = lookAt(path);
  return { path, before, after, mode: found ? found.mode & 0o7777 : mode, why };
}

type Fresh = Omit<Entry, "wrote" | "scopes">;

/** Plans to write, and remembers what was there before us. */
export function write(draft: Draft, fresh: Fresh, now: Text, after: string, why: string): void {
  draft.changes.push(buildChange(draft.target, fresh.path, now, after, why));
  record(draft, fresh, after);
}

/** After we wrote `text`; what was there before us stays what it was. */
export function record({ target, known, entries }: Draft, fresh: Fresh, text: string): void {
  const scopes = [...new Set([...(known.get(fresh.path)?.scopes ?? []), target.scope])];
  entries.set(fresh.path, { ...fresh, wrote: hashOf(text), scopes });
}

/** Is it still what we wrote? */
export const isAsWritten = (entry: Entry | undefined, now: Text): entry is Entry =>
  entry !== undefined && now !== null && hashOf(now) === entry.wrote;
