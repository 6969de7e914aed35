/** The host's settings and plugins, read as the host would: through links, all scopes; but bounded, and never waiting. */
import { realpathSync } from "node:fs";
import type { Node } from "jsonc-parser";
import { attempt } from "../../kernel/attempt.ts";
import { errorCode, isObject, lookAt, messageOf, namesOrNone, parseJson, readText } from "../../store/files.ts";
import { inMainCheckout } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { hookEntries, isOurs, type Scope } from "../install/hooks.ts";
import { listProperties, type Position, parseDocument, valueAt } from "../install/jsonc.ts";
import { clean, type DoctorContext, shortPath } from "./finding.ts";

const LARGEST = 1024 * 1024;
/** Settings are a few levels deep; a parser that recurses must not meet a million. */
const DEEPEST = 100;

export interface SettingsFile {
  scope: Scope | "managed";
  /** as the person knows it */
  name: string;
  text: string;
  /** null: it could not be read as JSON with comments */
  tree: Node | null;
  /** as the host understands it: strict JSON, an object */
  value: Record<string, unknown>;
  problem: { why: string; at?: Position } | null;
  /** the main checkout's, seen from a worktree */
  ofMain?: true;
}

/** Those that exist; the last one wins where they disagree. */
export function readAllSettings(ground: DoctorContext): SettingsFile[] {
  const { root, claude, managed, home } = ground;
  const read = (scope: SettingsFile["scope"], path: string) => readSettings(scope, path, shortPath(path, ground)) ?? [];
  const own = (folder: string) => read("local", join(folder, ".claude/settings.local.json"));
  const main = inMainCheckout(root);
  return [
    read("user", join(claude, "settings.json")),
    main === root ? [] : [own(main)].flat().map((file) => ({ ...file, ofMain: true as const })),
    root === home ? [] : [read("project", join(root, ".claude/settings.json")), own(root)].flat(),
    managedFiles(managed).flatMap((path) => read("managed", path)),
  ].flat();
}

function managedFiles(folder: string): string[] {
  const more = namesOrNone(join(folder, "managed-settings.d")).filter((name) => name.endsWith(".json"));
  const first = more.sort().slice(0, 20);
  return [join(folder, "managed-settings.json"), ...first.map((name) => join(folder, "managed-settings.d", name))];
}

function readSettings(scope: SettingsFile["scope"], path: string, name: string): SettingsFile | null {
  const file = { scope, name, text: "", tree: null, value: {}, problem: null };
  const read = readThroughLinks(path);
  if (read === null) return null;
  if (!read.ok) return { ...file, problem: { why: read.why } };
  const text = read.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return { ...file, text };
  if (measureDepth(text) > DEEPEST)
    return { ...file, text, problem: { why: `it is nested more than ${DEEPEST} levels deep` } };
  const parsed = parseDocument(text);
  if (!parsed.ok) return { ...file, text, problem: { why: parsed.why, at: parsed.at } };
  const value = parseJson(text);
  const problem = parsed.root.type === "object" ? null : { why: "it holds no object", at: { line: 1, column: 1 } };
  return { ...file, text, tree: parsed.root, value: isObject(value) ? value : {}, problem };
}

type LinkedText = { ok: true; text: string } | { ok: false; why: string };

/** null: nothing there. */
function readThroughLinks(path: string): LinkedText | null {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    if (errorCode(error) === "ELOOP") return { ok: false, why: "is a link that leads in a circle" };
    const missing = attempt(() => lookAt(path) === undefined, false);
    return missing ? null : { ok: false, why: `cannot be followed (${errorCode(error) || messageOf(error)})` };
  }
  const file = readText(real, LARGEST);
  if (file.ok) return file;
  if (file.why === "missing") return null;
  if (file.why === "too large") return { ok: false, why: `is larger than ${LARGEST >> 20} MB` };
  return { ok: false, why: file.why === "unreadable" ? `cannot be read (${file.detail})` : `is ${file.why}` };
}

/** Brackets outside of strings; exact for JSON, and good enough for anything else. */
export function measureDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  // A string ends at its line's end at the latest: a quote in a comment begins none.
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\[\s\S])*["\n]?|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}

// ── Hooks in it ─────────────────────────────────────────────────────────────

export interface HookEntry {
  event: string;
  node: Node;
  ours: boolean;
}

export function hooksIn({ tree }: SettingsFile): HookEntry[] {
  const hooks = tree?.type === "object" ? valueAt(tree, "hooks") : undefined;
  if (hooks?.type !== "object") return [];
  return listProperties(hooks).flatMap(({ key, value }) =>
    (value.type === "array" ? (value.children ?? []) : [])
      .flatMap(hookEntries)
      .map((node) => ({ event: key, node, ours: isOurs(node) })),
  );
}

export const readField = (node: Node, key: string): unknown =>
  node.type === "object" ? valueAt(node, key)?.value : undefined;

export const callsPawl = (file: SettingsFile) => hooksIn(file).some(({ ours }) => ours);

// ── Plugins ─────────────────────────────────────────────────────────────────

export interface Plugin {
  /** name@marketplace */
  id: string;
  name: string;
  enabled: boolean;
  /** null: not on this machine */
  folder: string | null;
  version: string;
  hooks: SettingsFile | null;
}

const MOST_PLUGINS = 200;

export function readPlugins(ground: DoctorContext, files: SettingsFile[]): Plugin[] {
  const enabled = new Map<string, boolean>();
  for (const { value } of files)
    for (const [id, on] of Object.entries(isObject(value.enabledPlugins) ? value.enabledPlugins : {}))
      enabled.set(id, on === true);
  const registry = readRegistry(join(ground.claude, "plugins/installed_plugins.json"));
  return [...enabled]
    .slice(0, MOST_PLUGINS)
    .map(([id, on]) => buildPlugin(id, on, findInstallation(registry[id], ground.root)));
}

function readRegistry(path: string): Record<string, unknown> {
  const file = readThroughLinks(path);
  const value = file?.ok ? parseJson(file.text) : undefined;
  return isObject(value) && isObject(value.plugins) ? value.plugins : {};
}

/** A plugin may be installed for the person and, in other versions, for single projects. */
function findInstallation(installed: unknown, root: string): Record<string, unknown> {
  const all = (Array.isArray(installed) ? installed : [installed]).filter(isObject);
  return all.find((one) => one.projectPath === root) ?? all.find((one) => one.projectPath === undefined) ?? {};
}

function buildPlugin(id: string, enabled: boolean, fields: Record<string, unknown>): Plugin {
  const folder =
    typeof fields.installPath === "string" && fields.installPath.startsWith("/") ? fields.installPath : null;
  const name = clean(id.split("@", 1)[0] ?? id, 60);
  const path = folder && join(folder, "hooks/hooks.json");
  const hooks = path ? readSettings("user", path, `the plugin ${name}`) : null;
  return { id: clean(id, 80), name, enabled, folder, version: clean(String(fields.version ?? ""), 20), hooks };
}

export const ourPlugin = (plugins: Plugin[]): Plugin | null => plugins.find(({ name }) => name === "pawl") ?? null;
