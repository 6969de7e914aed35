/** Which files are candidates for the archive, and why: our patterns, the project's, and those approved before. */
import { parse } from "yaml";
import { insideRoot, isObject, messageOf, parseJson, readText, writeAtomic } from "../../store/files.ts";
import { basename } from "../../store/names.ts";
import { HELPER_DIR } from "./shared.ts";

export interface Rules {
  always: string[];
  never: string[];
  oldDays: number;
  largerBytes: number;
  approved: Approval[];
}

interface Approval {
  pattern: string;
  /** day of the newest approval */
  at: string;
}

export const RULES_FILE = ".claude/cleanup-patterns.local.md";
const APPROVED_FILE = `${HELPER_DIR}/approved.json`;
const KEPT_APPROVALS = 500;
const SCRIPTS = "{sh,bash,zsh,py,js,mjs,cjs,ts,rb,pl,php,sql,ps1,ipynb,txt,json,html,csv,out}";

/** As in a .gitignore: without "/" a name anywhere, with "/" at its end a folder, else a path from the root. */
const LEFTOVERS: ArchiveReason[] = Object.entries({
  log: ["*.log", "*.log.[0-9]*"],
  "temporary file": ["*.tmp", "*.temp", "*~"],
  backup: ["*.bak", "*.backup", "*.old"],
  "left by a merge or patch": ["*.orig", "*.rej"],
  dump: ["*.dump", "*.dmp", "*.hprof", "*.heapsnapshot", "*.cpuprofile", "core.[0-9]*", "*.stackdump"],
  "scratch file": ["scratch/", `{scratch,tmp,temp,debug}.${SCRIPTS}`, `{scratch,tmp,temp,debug}[-_]*.${SCRIPTS}`],
}).flatMap(([reason, patterns]) => patterns.map((pattern) => ({ reason, pattern })));

/** What a project needs to run although git does not have it. */
const NEEDED = [".env", ".env.*", ".envrc", "*.pem", "*.key"];

// ── Matching ────────────────────────────────────────────────────────────────

function matches(pattern: string, path: string): boolean {
  const clean = pattern.replace(/^\.?\//, "").replace(/\/$/, "");
  const glob = new Bun.Glob(clean);
  const fromRoot = pattern.startsWith("/") || clean.includes("/");
  if (!pattern.endsWith("/")) return glob.match(fromRoot ? path : basename(path));
  const folders = path.split("/").slice(0, -1);
  return folders.some((part, at) => glob.match(fromRoot ? folders.slice(0, at + 1).join("/") : part));
}

export interface CandidateFile {
  path: string;
  size: number;
  /** milliseconds */
  modified: number;
  tracked: boolean;
  ignored: boolean;
}

export interface ArchiveReason {
  reason: string;
  /** what to remember if the person approves */
  pattern: string;
}

/** null: stays. `now` in milliseconds; age and size count only for what git could have and does not. */
export function whyArchive(file: CandidateFile, rules: Rules, now: number, git: boolean): ArchiveReason | null {
  if (rules.never.some((pattern) => matches(pattern, file.path))) return null;
  const always = rules.always.find((pattern) => matches(pattern, file.path));
  if (always !== undefined) return { reason: `archive_always: ${always}`, pattern: always };
  if (NEEDED.some((pattern) => matches(pattern, file.path))) return null;
  const fits = ({ pattern }: { pattern: string }) => matches(pattern, file.path);
  const approved = rules.approved.find(fits);
  const why =
    LEFTOVERS.find(fits) ??
    (approved ? { reason: `like ${approved.pattern}`, pattern: approved.pattern } : byAgeOrSize(file, rules, now, git));
  const known = rules.approved.find(({ pattern }) => pattern === why?.pattern);
  return why && known ? { ...why, reason: `${why.reason}, approved before (${known.at})` } : why;
}

function byAgeOrSize(file: CandidateFile, rules: Rules, now: number, git: boolean): ArchiveReason | null {
  if (!git || file.tracked || file.ignored) return null;
  const days = Math.floor((now - file.modified) / 86_400_000);
  // The same name with other numbers, in the same folder.
  const escaped = file.path.replace(/[\\*?[\]{}!]/g, "\\$&");
  const at = escaped.lastIndexOf("/") + 1;
  const pattern = `/${escaped.slice(0, at)}${escaped.slice(at).replace(/\d+/g, "*")}`;
  if (file.size > rules.largerBytes)
    return { reason: `larger than ${Math.round(rules.largerBytes / 1_048_576)} MB`, pattern };
  return days > rules.oldDays ? { reason: `not changed for ${days} days`, pattern } : null;
}

// ── The project's own rules ─────────────────────────────────────────────────

export function readRules(root: string): Rules {
  const given = frontMatter(root);
  return {
    always: list(given, "archive_always"),
    never: list(given, "never_archive"),
    oldDays: number(given, "archive_if_old_days", 180),
    largerBytes: number(given, "archive_if_larger_mb", 50) * 1024 * 1024,
    approved: readApproved(root),
  };
}

function frontMatter(root: string): Record<string, unknown> {
  const file = readText(insideRoot(root, RULES_FILE));
  if (!file.ok && file.why === "missing") return {};
  if (!file.ok) throw new Error(`${RULES_FILE} cannot be read: ${file.why}`);
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$/m.exec(file.text);
  if (block?.index !== 0) return {};
  const value = parseYaml(block[1]!);
  if (value === null) return {};
  if (!isObject(value)) throw new Error(`${RULES_FILE}: the front matter is no list of keys and values`);
  return value;
}

function parseYaml(text: string): unknown {
  try {
    return parse(text) ?? null;
  } catch (error) {
    const hint = /[-:[,]\s*\*/.test(text) ? '; a pattern that begins with * needs quotes: "*.log"' : "";
    throw new Error(`${RULES_FILE}: ${messageOf(error).split("\n")[0]} (lines counted after ---)${hint}`);
  }
}

function list(given: Record<string, unknown>, key: string): string[] {
  const value = given[key] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string" && one.trim() !== "")) return value;
  throw new Error(`${RULES_FILE}: ${key} must be a list of patterns, each a text`);
}

function number(given: Record<string, unknown>, key: string, otherwise: number): number {
  const value = given[key] ?? otherwise;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${RULES_FILE}: ${key} must be a number, 0 or more`);
}

// ── What was approved before ────────────────────────────────────────────────

function readApproved(root: string): Approval[] {
  const file = readText(insideRoot(root, APPROVED_FILE));
  const value = file.ok ? parseJson(file.text) : [];
  return Array.isArray(value) ? value.filter(isApproval) : [];
}

const isApproval = (value: unknown): value is Approval =>
  isObject(value) && typeof value.pattern === "string" && typeof value.at === "string";

export function rememberApproved(root: string, patterns: string[], at: string): void {
  const fresh = [...new Set(patterns)];
  if (fresh.length === 0) return;
  const before = readApproved(root).filter(({ pattern }) => !fresh.includes(pattern));
  const all = [...fresh.map((pattern) => ({ pattern, at })), ...before].slice(0, KEPT_APPROVALS);
  writeAtomic(insideRoot(root, APPROVED_FILE), `${JSON.stringify(all, null, 2)}\n`);
}
