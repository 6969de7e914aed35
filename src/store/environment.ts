/**
 * The environment that a project's checks run in: recorded with its values when the person approves the commands, kept
 * next to the approvals. From then on it does not matter who calls: a hook, the agent's shell, a person, the loop.
 */
import { attempt } from "../kernel/attempt.ts";
import { realpath, stat } from "../native/disk.ts";
import { isObject, removeQuietly, writeAtomic } from "./files.ts";
import { homeDir } from "./home.ts";
import { join } from "./names.ts";
import { isAllowedVariable } from "./processes/allowed-variables.ts";
import { readSealed, seal } from "./seal.ts";
import { findFault, looseness, openForWriting, openStore, type Store } from "./trust-store.ts";

export type Variables = Record<string, string | undefined>;

export interface Environment {
  env: Record<string, string>;
  /** stands for names and values; made with the key, so that it gives no value away */
  hash: string;
}

export interface EnvironmentRecord extends Environment {
  at: string;
  /** names that the person added to the list of ours */
  added: string[];
}

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

export const asEnvironment = (env: Record<string, string>): Environment => ({ env, hash: hashValues(env) });

function hashValues(env: Record<string, string>): string {
  const values = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (JSON.parse(seal("environment", JSON.stringify({ v: 1, values }))) as { seal: string }).seal.slice(0, 16);
}

/** What of these variables a check may have. HOME is where Pawl's own key is. */
export function allowedPart(from: Variables, added: readonly string[] = []): Record<string, string> {
  const isKept = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && (isAllowedVariable(entry[0]) || added.includes(entry[0]));
  const kept = Object.fromEntries(Object.entries(from).filter(isKept));
  return { ...kept, HOME: homeDir(), PATH: usableFolders(from.PATH ?? "") };
}

/** A relative or empty entry means the current folder: the repository would choose the programs. */
function usableFolders(path: string): string {
  const folders = path.split(":").filter((folder) => folder.startsWith("/") && isFolder(folder));
  return folders.length > 0 ? [...new Set(folders.map(lasting))].join(":") : USUAL_PATH;
}

const isFolder = (path: string) => attempt(() => stat(path).isDirectory(), false);

/** Some version managers make a link for every shell, which is gone with it. */
const lasting = (folder: string) => (/^\/(?:run|tmp|var\/folders)\//.test(folder) ? realpath(folder) : folder);

// ── The record ──────────────────────────────────────────────────────────────

const recordPath = (store: Store) => join(store.folder, "environment.json");
const recordContext = (store: Store) => `environment ${store.key}`;

export function recordEnvironment(root: string, from: Variables, added: string[] = []): void {
  const store = openForWriting(root);
  const names = [...new Set(added)].filter((name) => from[name] !== undefined);
  const record = { v: 1, at: new Date().toISOString(), added: names, env: allowedPart(from, names) };
  writeAtomic(recordPath(store), `${seal(recordContext(store), JSON.stringify(record))}\n`);
}

/** null: there is none, or it is not what Pawl wrote for this project. */
export function readRecord(store: Store): EnvironmentRecord | null {
  const path = recordPath(store);
  const value = findFault(path) === null ? readSealed(recordContext(store), path) : null;
  if (!isObject(value?.env)) return null;
  return { ...(value as unknown as EnvironmentRecord), ...asEnvironment(value.env as Record<string, string>) };
}

export const forgetEnvironment = (store: Store) => removeQuietly(recordPath(store));

/** As above; also null where the store cannot be believed. */
export function recordedEnvironment(root: string): EnvironmentRecord | null {
  return attempt(() => {
    const store = openStore(root);
    return looseness(store) === null ? readRecord(store) : null;
  }, null);
}

/** What a check of this project runs in. Without a record, as for a typed command: the allowed part of what is at hand. */
export const environmentFor = (root: string): Environment =>
  recordedEnvironment(root) ?? asEnvironment(allowedPart(process.env));

/** Why checks cannot run in it any more; null: they can. */
export function environmentFault({ env }: Environment): string | null {
  const { PATH = "", TMPDIR = "" } = env;
  const folders = [...PATH.split(":"), TMPDIR].filter(Boolean);
  const gone = folders.find((folder) => !isFolder(folder));
  if (gone !== undefined) return `${gone} is in the recorded environment and is gone`;
  return env.HOME === homeDir() ? null : `the recorded HOME is ${env.HOME}`;
}
