/** The host's settings, read as the host would: through links, all scopes; but bounded, and never waiting. */
import { readdirSync, realpathSync } from "node:fs";
import type { Node } from "jsonc-parser";
import { errorCode, isObject, lookAt, messageOf, parseJson, readText } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { entriesOf, isOurs, type Scope } from "../install/hooks.ts";
import { type Position, parseDocument, propertiesOf, valueAt } from "../install/jsonc.ts";
import { type Ground, shown } from "./finding.ts";

const LARGEST = 1024 * 1024;
/** Settings are a few levels deep; a parser that recurses must not meet a million. */
const DEEPEST = 100;

export interface SettingsFile {
  scope: Scope | "managed";
  /** as the person knows it */
  name: string;
  path: string;
  text: string;
  /** null: it could not be read as JSON with comments */
  tree: Node | null;
  /** as the host understands it: strict JSON, an object */
  value: Record<string, unknown>;
  problem: { why: string; at?: Position } | null;
}

/** Those that exist; the last one wins where they disagree. */
export function readAllSettings(ground: Ground): SettingsFile[] {
  const { root, claude, managed, home } = ground;
  const places: [SettingsFile["scope"], string][] = [
    ["user", join(claude, "settings.json")],
    ...(root === home
      ? []
      : ([
          ["project", join(root, ".claude/settings.json")],
          ["local", join(root, ".claude/settings.local.json")],
        ] as [Scope, string][])),
    ...managedFiles(managed).map((path) => ["managed", path] as ["managed", string]),
  ];
  return places.flatMap(([scope, path]) => readSettings(scope, path, shown(path, ground)) ?? []);
}

function managedFiles(folder: string): string[] {
  const more = namesIn(join(folder, "managed-settings.d")).filter((name) => name.endsWith(".json"));
  return [
    join(folder, "managed-settings.json"),
    ...more
      .sort()
      .slice(0, 20)
      .map((name) => join(folder, "managed-settings.d", name)),
  ];
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function readSettings(scope: SettingsFile["scope"], path: string, name: string): SettingsFile | null {
  const file = { scope, name, path, text: "", tree: null, value: {}, problem: null };
  const read = readThroughLinks(path);
  if (read === null) return null;
  if (!read.ok) return { ...file, problem: { why: read.why } };
  const text = read.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return { ...file, text };
  if (depthOf(text) > DEEPEST)
    return { ...file, text, problem: { why: `it is nested more than ${DEEPEST} levels deep` } };
  const parsed = parseDocument(text);
  if (!parsed.ok) return { ...file, text, problem: { why: parsed.why, at: parsed.at } };
  const value = parseJson(text);
  const problem = parsed.root.type === "object" ? null : { why: "it holds no object", at: { line: 1, column: 1 } };
  return { ...file, text, tree: parsed.root, value: isObject(value) ? value : {}, problem };
}

type Read = { ok: true; text: string } | { ok: false; why: string };

/** null: nothing there. */
export function readThroughLinks(path: string): Read | null {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    if (errorCode(error) === "ELOOP") return { ok: false, why: "is a link that leads in a circle" };
    return existsAtAll(path)
      ? { ok: false, why: `cannot be followed (${errorCode(error) || messageOf(error)})` }
      : null;
  }
  const file = readText(real, LARGEST);
  if (file.ok) return file;
  if (file.why === "missing") return null;
  if (file.why === "too large") return { ok: false, why: `is larger than ${LARGEST >> 20} MB` };
  return { ok: false, why: file.why === "unreadable" ? `cannot be read (${file.detail})` : `is ${file.why}` };
}

function existsAtAll(path: string): boolean {
  try {
    return lookAt(path) !== undefined;
  } catch {
    return true;
  }
}

/** Brackets outside of strings; exact for JSON, and good enough for anything else. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 34) i = endOfString(text, i);
    else if (char === 91 || char === 123) deepest = Math.max(deepest, ++depth);
    else if (char === 93 || char === 125) depth--;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 92) i++;
    else if (char === 34) return i;
    else if (char === 10) return i; // not a string after all: a quote in a comment
  }
  return text.length;
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
  return propertiesOf(hooks).flatMap(({ key, value }) =>
    (value.type === "array" ? (value.children ?? []) : [])
      .flatMap(entriesOf)
      .map((node) => ({ event: key, node, ours: isOurs(node) })),
  );
}

export const fieldOf = (node: Node, key: string): unknown =>
  node.type === "object" ? valueAt(node, key)?.value : undefined;

export const callsPawl = (file: SettingsFile) => hooksIn(file).some(({ ours }) => ours);
