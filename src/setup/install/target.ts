/** Where an installation goes, and how its files are read before anything is decided. */

import { hashOf, insideRoot, isObject, lookAt, messageOf, PathError, parseJson, readText } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { InstallError } from "./error.ts";
import type { Scope } from "./hooks.ts";

export interface Target {
  scope: Scope;
  /** the project, or the person's home */
  base: string;
  settings: string;
  manifest: string;
}

const SETTINGS: Record<Scope, string> = {
  local: ".claude/settings.local.json",
  project: ".claude/settings.json",
  user: ".claude/settings.json",
};

export function targetOf(scope: Scope, root: string): Target {
  const user = scope === "user";
  const base = user ? homeDir() : root;
  if (!user && base === homeDir())
    throw new InstallError("your home folder is no project", "change to a project's folder, or say --user");
  return {
    scope,
    base,
    settings: SETTINGS[scope],
    manifest: user ? ".local/share/pawl/install.json" : ".pawl/install.json",
  };
}

/** null: nothing there. Whatever is no plain UTF-8 file of its own is refused, not guessed at. */
export function readExisting(base: string, name: string): string | null {
  const file = readText(placed(base, name));
  if (file.ok) return file.text;
  if (file.why === "missing") return null;
  const why = file.why === "unreadable" ? `cannot be read (${file.detail})` : `is ${file.why}`;
  throw new InstallError(`${join(base, name)} ${why}`, "move it away or fix it, then try again; nothing was changed");
}

/** For a look at what is not ours to edit: where it cannot be read, there is nothing to say about it. */
export function readQuietly(base: string, name: string): string | null {
  try {
    return readExisting(base, name);
  } catch {
    return null;
  }
}

export function placed(base: string, name: string): string {
  if (name.startsWith("/")) return name;
  try {
    return insideRoot(base, name);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    const hint =
      "Pawl writes through no links; make it a real file or folder, or use another target (--team, --user, --plugin)";
    throw new InstallError(messageOf(error), hint);
  }
}

export const modeOf = (path: string, otherwise: number) => {
  const found = lookAt(path);
  return found ? found.mode & 0o7777 : otherwise;
};

/** While it is there, one-key shortcuts are off in this project. */
export const SHORTCUTS_OFF = ".pawl/shortcuts-off";

/** By whatever version: Pawl's own .gitignore begins like this. */
export const isOurIgnore = (text: string) => text.startsWith("runs/\narchive/\n");

// ── The record of what is ours ──────────────────────────────────────────────

/** How a file of ours that was edited since is freed of us; "ignore" and "exclude" serve the state and go with it. */
export type Kind = "settings" | "text" | "fragment" | "block" | "config" | "switch" | "ignore" | "exclude";

export interface Entry {
  path: string;
  kind: Kind;
  before: string | null;
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
  /** the person wants none of ours */
  no_statusline?: true;
}

export const emptyManifest = (version: string): Manifest => ({ v: 1, pawl: version, files: [], folders: [] });

export function readManifest(target: Target): { text: string | null; manifest: Manifest | null } {
  const text = readExisting(target.base, target.manifest);
  if (text === null) return { text, manifest: null };
  const manifest = asManifest(parseJson(text));
  if (manifest) return { text, manifest };
  const path = join(target.base, target.manifest);
  throw new InstallError(`${path} is damaged`, "move it aside; what it listed is then recognised by its content");
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

/** The entry after we wrote `text`; what was there before us stays what it was. */
export function recorded(
  known: Entry | undefined,
  fresh: Omit<Entry, "wrote" | "scopes">,
  text: string,
  scope: Scope,
): Entry {
  const scopes = [...new Set([...(known?.scopes ?? []), scope])];
  return { ...fresh, wrote: hashOf(text), scopes };
}
