import { realpathSync } from "node:fs";
import { UserError } from "../kernel/user-error.ts";
import { type Applied, applyPlan } from "../setup/helpers/archive.ts";
import { withLock } from "../setup/helpers/lock.ts";
import { addEntry, type Entry, KINDS, type Kind, listEntries, memoryPath } from "../setup/helpers/memory.ts";
import { ARCHIVE_DIR, makePlan, type Plan, type PlanFile, savePlan } from "../setup/helpers/plan.ts";
import { restore } from "../setup/helpers/restore.ts";
import { RULES_FILE } from "../setup/helpers/rules.ts";
import { inUnits, shown } from "../setup/helpers/words.ts";
import { messageOf } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "./shared/args.ts";

export const summary = "memory and archive for the agents of complete-work";
export const usage = `usage: pawl helper memory add decision|issue|progress --text TEXT [--title TITLE]   (or the text on stdin)
       pawl helper memory list [decision|issue|progress] [--json]
       pawl helper archive plan [--tracked] [--all] [--json]      show what could be archived, and the plan's id
       pawl helper archive apply <plan-id> [--only 1,3-5] [--tracked] [--json]
       pawl helper archive restore <folder> [--only 1,3-5] [--json]

Memory: dated entries at the end of .claude/memory/{decisions,issues,progress}.md; duplicates are not added.
Archive: files move to ${ARCHIVE_DIR}/YYYY-MM-DD-HH-MM/ with a MANIFEST.md. Apply a plan only after the person has agreed to it.
Own rules in the front matter of ${RULES_FILE}: archive_always, never_archive (lists of patterns),
archive_if_old_days (180), archive_if_larger_mb (50); the last two count for files git neither tracks nor ignores.

Exit codes: 0 done (or a duplicate), 1 failed or something was left, 2 wrong usage.`;

const SHOWN_ROWS = 60;

export async function run(args: string[], io: Io): Promise<number> {
  const [what = "", action = "", ...rest] = args;
  const root = projectOf(io);
  const command = COMMANDS[`${what} ${action}`];
  if (!command) throw new UserError(`unknown helper command ${what} ${action}`.trimEnd(), "see `pawl helper --help`");
  try {
    return await command(root, rest, io);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(messageOf(error), HINTS[what] ?? "`pawl helper --help`", 1);
  }
}

const COMMANDS: Record<string, (root: string, args: string[], io: Io) => number | Promise<number>> = {
  "memory add": addMemory,
  "memory list": listMemory,
  "archive plan": plan,
  "archive apply": apply,
  "archive restore": putBack,
};

const HINTS: Record<string, string> = {
  memory: "fix the file's permissions or what is in its place, then try again (in complete-work: MEMORY_UPDATE_FAILED)",
  archive: "run `pawl helper archive plan` for a new plan",
};

function projectOf(io: Io): string {
  const root = rootOf(io);
  if (root !== realHome()) return root;
  throw new UserError("your home folder is not a project", "run it in a project folder");
}

function realHome(): string {
  try {
    return realpathSync(homeDir());
  } catch {
    return homeDir();
  }
}

// ── Memory ──────────────────────────────────────────────────────────────────

async function addMemory(root: string, args: string[], io: Io): Promise<number> {
  const { words, values } = parseArgs(args, ["--text=", "--title="]);
  const kind = kindOf(words[0] ?? "");
  if (words.length > 1) throw new UserError("the text is one argument", 'write it in quotes: --text "…"');
  const given = { text: values["--text"] ?? (await readInput()), title: values["--title"] ?? "" };
  const same = addEntry(root, kind, given, new Date());
  const path = memoryPath(kind);
  io.out(
    same ? `${path}: has this already${same.date ? ` (${same.date})` : ""}; nothing added\n` : `${path}: +1 entry\n`,
  );
  return 0;
}

function kindOf(word: string): Kind {
  const kind = word === "decisions" || word === "issues" ? word.slice(0, -1) : word;
  if (Object.hasOwn(KINDS, kind)) return kind as Kind;
  throw new UserError(`memory has no ${word || "(nothing)"}`, `it has ${Object.keys(KINDS).join(", ")}`);
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new UserError("there is no text", 'give it with --text "…" or on stdin');
  return await Bun.stdin.text();
}

function listMemory(root: string, args: string[], io: Io): number {
  const { words, flags } = parseArgs(args, ["--json"]);
  const kinds = words[0] === undefined ? (Object.keys(KINDS) as Kind[]) : [kindOf(words[0])];
  const entries = kinds.flatMap((kind) => listEntries(root, kind));
  if (flags.has("--json")) io.out(`${JSON.stringify(entries, null, 2)}\n`);
  else io.out(entries.length === 0 ? "The memory is empty.\n" : `${entries.map(inOneBlock).join("\n")}\n`);
  return 0;
}

const inOneBlock = ({ kind, date, title, text }: Entry) =>
  `${[kind, date, title].filter((part) => part !== "").join("  ")}\n${text.replace(/^(?=.)/gm, "    ")}`;

// ── Archive ─────────────────────────────────────────────────────────────────

function plan(root: string, args: string[], io: Io): number {
  const { flags } = parseArgs(args, ["--tracked", "--all", "--json"]);
  const made = makePlan(root, new Date(), flags.has("--tracked"));
  if (made.files.length > 0) withLock(root, () => savePlan(root, made));
  const rows = made.files.map((file, at) => ({ n: at + 1, ...file }));
  if (flags.has("--json")) io.out(`${JSON.stringify({ ...made, files: rows }, null, 2)}\n`);
  else if (made.files.length === 0) io.out("Nothing to archive.\n");
  else io.out(planText(made, rows.slice(0, flags.has("--all") ? rows.length : SHOWN_ROWS)));
  return 0;
}

function planText(made: Plan, rows: (PlanFile & { n: number })[]): string {
  const total = made.files.reduce((sum, file) => sum + file.size, 0);
  const lines = rows.map(
    ({ n, size, path, reason, tracked }) =>
      `${String(n).padStart(4)}  ${inUnits(size).padStart(8)}  ${shown(path)}  (${reason}${tracked ? "; TRACKED by git, moves only with --tracked" : ""})`,
  );
  const hidden = made.files.length - rows.length;
  if (hidden > 0) lines.push(`      … and ${hidden} more, all smaller (--all shows them)`);
  if (!made.git) lines.push("No git here: only patterns count, not age or size.");
  return `Plan ${made.id}: ${files(made.files.length)}, ${inUnits(total)}. Nothing was moved.\n${lines.join("\n")}
After the person's yes: ${self()} helper archive apply ${made.id}   (some of them: --only 1,3-5)
`;
}

function apply(root: string, args: string[], io: Io): number {
  const parsed = parseArgs(args, ["--only=", "--tracked", "--json"]);
  const id = oneWord(parsed, "the plan's id", "pawl helper archive apply <plan-id>");
  const wanted = { plan: id, only: numbers(parsed.values["--only"]), tracked: parsed.flags.has("--tracked") };
  const applied = applyPlan(root, wanted, new Date());
  const bytes = applied.archived.reduce((sum, entry) => sum + entry.size, 0);
  if (parsed.flags.has("--json")) io.out(`${JSON.stringify({ ...applied, bytes }, null, 2)}\n`);
  else io.out(appliedText(applied, bytes));
  return applied.left.length > 0 ? 1 : 0;
}

function appliedText({ folders, archived, left, before, excluded }: Applied, bytes: number): string {
  const lines = before.length > 0 ? [`archived before by this plan: ${files(before.length)}`] : [];
  if (archived.length > 0) {
    lines.push(
      `✓ ${files(archived.length)} archived to ${folders.map((name) => `${ARCHIVE_DIR}/${name}/`).join(", ")}`,
      `✓ ${inUnits(bytes)} freed (the files stay there until you delete them)`,
      "✓ MANIFEST.md created",
      ...folders.map((name) => `to restore: ${self()} helper archive restore ${name}`),
    );
  } else lines.push("Nothing was moved.");
  if (excluded === "added") lines.push(`${ARCHIVE_DIR}/ was added to git's info/exclude (not to your .gitignore)`);
  if (excluded === "failed") lines.push(`${ARCHIVE_DIR}/ could not be excluded from git: keep it out of the commit`);
  return `${[...lines, ...leftLines(left)].join("\n")}\n`;
}

const leftLines = (left: { path: string; why: string }[]) =>
  left.map(({ path, why }) => `left: ${shown(path)} (${why})`);

function putBack(root: string, args: string[], io: Io): number {
  const parsed = parseArgs(args, ["--only=", "--json"]);
  const folder = oneWord(parsed, "the archive's folder", "pawl helper archive restore 2026-01-23-11-45");
  const result = restore(root, folder, numbers(parsed.values["--only"]));
  const notes = result.restored.filter(({ note }) => note !== "").map(({ path, note }) => `${shown(path)}: ${note}`);
  if (parsed.flags.has("--json")) io.out(`${JSON.stringify(result, null, 2)}\n`);
  else io.out(`${[`restored: ${files(result.restored.length)}`, ...notes, ...leftLines(result.left)].join("\n")}\n`);
  return result.left.length > 0 ? 1 : 0;
}

const files = (count: number) => (count === 1 ? "1 file" : `${count} files`);

/** As an agent can call it, whose PATH need not know us. */
function self(): string {
  const home = `${realHome()}/`;
  return process.execPath.startsWith(home) ? `~/${process.execPath.slice(home.length)}` : "pawl";
}

function oneWord({ words }: Parsed, what: string, example: string): string {
  if (words.length === 1) return words[0]!;
  throw new UserError(words.length === 0 ? `${what} is missing` : "that is more than one name", `as in: ${example}`);
}

/** "1,3-5" → {1, 3, 4, 5}; null where nothing was said. */
function numbers(text: string | undefined): Set<number> | null {
  if (text === undefined) return null;
  const found = text.split(",").map((part) => /^\s*(\d{1,7})(?:-(\d{1,7}))?\s*$/.exec(part));
  if (found.includes(null)) throw new UserError(`--only cannot read ${JSON.stringify(text)}`, "write --only 1,3-5");
  return new Set(found.flatMap((match) => range(Number(match![1]), Number(match![2] ?? match![1]))));
}

const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_one, at) => from + at);
