/** The one list of files that are Pawl's, and how they are kept out of the repository's sight. */
import { attempt } from "../kernel/attempt.ts";
import { appendLine, ensureDir, insideRoot, lookAt, makeDirs, readText, TEMP_PREFIX, writeAtomic } from "./files.ts";
import { findGit } from "./git-dir.ts";
import { dirname, join } from "./names.ts";

const IN_PAWL = [
  "runs/ archive/ journal/ errors.log errors.log.1 off shortcuts-off helper/ jobs/ loops/ receipts/ objects/ tracker/",
  "schema/ install.json .gitignore *.corrupt*",
].flatMap((names) => names.split(" "));

/** As in a .gitignore: "/" at the end means a folder, "*" stays within a name, no inner "/" means anywhere. */
export const OWNED: readonly string[] = [
  ...IN_PAWL.map((name) => `.pawl/${name}`),
  ".claude/work-completion.local.md",
  ".claude/work-completion.*.local.md",
  ".claude/work-completion.*.corrupt*",
  ".claude/logs/",
  ".claude/workflow_orchestrator.log",
  "untracked/workflow-state/",
  `${TEMP_PREFIX}*`,
];

let matchers: RegExp[] | undefined;

export function isOwned(relativePath: string): boolean {
  matchers ??= OWNED.map(matcher);
  const path = relativePath.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
  return matchers.some((regex) => regex.test(path));
}

function matcher(pattern: string): RegExp {
  const folder = pattern.endsWith("/");
  const name = folder ? pattern.slice(0, -1) : pattern;
  const body = name.replace(/[.+^${}()|[\]\\?]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${name.includes("/") ? "" : "(?:.*/)?"}${body}${folder ? "(?:/|$)" : "$"}`, "s");
}

const MARKER = "# Pawl's own files (added by pawl)";

export const IGNORE_TEXT = `${[...IN_PAWL, `${TEMP_PREFIX}*`].join("\n")}\n`;

/** Our files never dirty the repository. false: could not be done, which is no reason to stop. */
export function excludeOurs(root: string): boolean {
  return attempt(() => {
    writeIgnore(root);
    const place = excludePlace(root);
    return place === null || addToExclude(place);
  }, false);
}

function writeIgnore(root: string): void {
  const path = insideRoot(root, ".pawl/.gitignore");
  if (lookAt(path) !== undefined) return;
  ensureDir(root, ".pawl");
  writeAtomic(path, IGNORE_TEXT, 0o644);
}

export interface ExcludePlace {
  path: string;
  /** how a line about this project begins */
  prefix: string;
  marker: string;
  lines: string[];
}

/** Where git looks for what only this person leaves out, and what belongs there; null: no repository. */
export function excludePlace(root: string): ExcludePlace | null {
  const git = findGit(root);
  if (git === null) return null;
  // A project may be a folder of a larger repository, whose exclude file counts from its own top.
  const below = root.startsWith(`${git.top}/`) ? root.slice(git.top.length + 1) : "";
  if (/[\n\r]/.test(below)) throw new Error("a folder name with a line break cannot be excluded");
  const prefix = below === "" ? "/" : `/${below.replace(/[\\*?[\] ]/g, "\\$&")}/`;
  const lines = OWNED.map((line) => (line.includes("/") ? prefix + line : line));
  return { path: join(git.common, "info", "exclude"), prefix, marker: MARKER, lines };
}

function addToExclude({ path, marker, lines }: ExcludePlace): boolean {
  const file = readText(path);
  if (!file.ok && file.why !== "missing") return false;
  const present = new Set(file.ok ? file.text.split(/\r?\n/) : []);
  const wanted = lines.filter((line) => !present.has(line));
  if (wanted.length === 0) return true;
  makeDirs(dirname(path), 0o777);
  appendLine(path, [...(present.has(marker) ? [] : [marker]), ...wanted].join("\n"));
  return true;
}
