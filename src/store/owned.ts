/** The one list of files that are Pawl's, and how they are kept out of the repository's sight. */
import { mkdirSync } from "node:fs";
import { appendLine, ensureDir, insideRoot, lookAt, readText, TEMP_PREFIX, writeAtomic } from "./files.ts";
import { findGit } from "./git-dir.ts";
import { join } from "./names.ts";

const IN_PAWL = ["runs/", "archive/", "journal/", "errors.log", "errors.log.1", "off", ".gitignore", "*.corrupt*"];

/** As in a .gitignore: "/" at the end means a folder, "*" stays within a name, no inner "/" means anywhere. */
export const OWNED: readonly string[] = [
  ...IN_PAWL.map((name) => `.pawl/${name}`),
  ".claude/work-completion.local.md",
  ".claude/work-completion.*.local.md",
  ".claude/work-completion.*.corrupt*",
  ".claude/logs/",
  "untracked/workflow-state/",
  `${TEMP_PREFIX}*`,
];

const MATCHERS = OWNED.map(matcher);

export function isOwned(relativePath: string): boolean {
  const path = relativePath.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
  return MATCHERS.some((regex) => regex.test(path));
}

function matcher(pattern: string): RegExp {
  const folder = pattern.endsWith("/");
  const name = folder ? pattern.slice(0, -1) : pattern;
  const body = name.replace(/[.+^${}()|[\]\\?]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${name.includes("/") ? "" : "(?:.*/)?"}${body}${folder ? "(?:/|$)" : "$"}`, "s");
}

const MARKER = "# Pawl's own files (added by pawl)";

/** Our files never dirty the repository. false: could not be done, which is no reason to stop. */
export function excludeOurs(root: string): boolean {
  try {
    writeIgnore(root);
    const git = findGit(root);
    return git === null ? true : addToExclude(git.common, prefixOf(git.top, root));
  } catch {
    return false;
  }
}

function writeIgnore(root: string): void {
  const folder = insideRoot(root, ".pawl");
  const path = join(folder, ".gitignore");
  if (lookAt(path) !== undefined) return;
  ensureDir(root, ".pawl");
  writeAtomic(path, `${[...IN_PAWL, `${TEMP_PREFIX}*`].join("\n")}\n`, 0o644);
}

/** A project may be a folder of a larger repository, whose exclude file counts from its own top. */
function prefixOf(top: string, root: string): string {
  const below = root.startsWith(`${top}/`) ? root.slice(top.length + 1) : "";
  if (/[\n\r]/.test(below)) throw new Error("a folder name with a line break cannot be excluded");
  return below === "" ? "/" : `/${below.replace(/[\\*?[\] ]/g, "\\$&")}/`;
}

function addToExclude(common: string, prefix: string): boolean {
  const path = join(common, "info", "exclude");
  const file = readText(path);
  if (!file.ok && file.why !== "missing") return false;
  const present = new Set(file.ok ? file.text.split(/\r?\n/) : []);
  const wanted = OWNED.map((line) => (line.includes("/") ? prefix + line : line)).filter((line) => !present.has(line));
  if (wanted.length === 0) return true;
  mkdirSync(join(common, "info"), { recursive: true });
  appendLine(path, [...(present.has(MARKER) ? [] : [MARKER]), ...wanted].join("\n"));
  return true;
}
