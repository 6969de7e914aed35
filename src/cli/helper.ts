import { counted } from "../kernel/text/counted.ts";
import { UserError } from "../kernel/user-error.ts";
import { type ArchiveResult, applyPlan, restore } from "../setup/helpers/archive.ts";
import { requireConsent } from "../setup/helpers/consent.ts";
import { addEntry, type Entry, KINDS, type Kind, listEntries, memoryPath } from "../setup/helpers/memory.ts";
import { ARCHIVE_DIR, loadPlan, makePlan, type Plan, type PlanFile, savePlan } from "../setup/helpers/plan.ts";
import { RULES_FILE } from "../setup/helpers/rules.ts";
import { inUnits, shown, withLock } from "../setup/helpers/shared.ts";
import { messageOf } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import {
  type Action,
  type Io,
  type Parsed,
  parseArgs,
  print,
  projectRoot,
  readInput,
  realPath,
} from "./shared/args.ts";

export const usage = `usage: pawl helper memory add decision|issue|progress --text TEXT [--title TITLE]   (or the text on stdin)
       pawl helper memory list [decision|issue|progress] [--json]
       pawl helper archive plan [--tracked] [--all] [--json]      show what could be archived, and the plan's id
       pawl helper archive apply <plan-id> [--only 1,3-5] [--tracked] [--json]
       pawl helper archive restore <folder> [--only 1,3-5] [--json]

Memory: dated entries at the end of .claude/memory/{decisions,issues,progress}.md; duplicates are not added.
Archive: files move to ${ARCHIVE_DIR}/YYYY-MM-DD-HH-MM/ with a MANIFEST.md. A plan is applied only
after the person agreed to it: at a terminal of their own, or by an answer to the agent that Pawl or the client recorded.
Own rules in the front matter of ${RULES_FILE}: archive_always, never_archive (lists of patterns),
archive_if_old_days (180), archive_if_larger_mb (50); the last two count for files git neither tracks nor ignores.

Exit codes: 0 done (or a duplicate), 1 failed or something was left, 2 wrong usage.`;

const SHOWN_ROWS = 60;

export async function run({ words: [what = "", action = "", ...rest] }: Parsed, io: Io): Promise<number> {
  const root = projectRoot(io);
  if (root === realPath(homeDir()))
    throw new UserError("your home folder is not a project", "run it in a project folder");
  const command = COMMANDS[`${what} ${action}`];
  if (!command) throw new UserError(`unknown helper command ${what} ${action}`.trimEnd(), "see `pawl helper --help`");
  try {
    return await command.run(root, parseArgs(rest, command.options), io);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(messageOf(error), HINTS[what] ?? "`pawl helper --help`", 1);
  }
}

const COMMANDS: Record<string, Action> = {
  "memory add": { options: ["--text=", "--title="], run: addMemory },
  "memory list": { options: ["--json"], run: listMemory },
  "archive plan": { options: ["--tracked", "--all", "--json"], run: plan },
  "archive apply": { options: ["--only=", "--tracked", "--json"], run: apply },
  "archive restore": { options: ["--only=", "--json"], run: putBack },
};

const HINTS: Record<string, string> = {
  memory: "fix the file's permissions or what is in its place, then try again (in complete-work: MEMORY_UPDATE_FAILED)",
  archive: "run `pawl helper archive plan` for a new plan",
};

// ── Memory ──────────────────────────────────────────────────────────────────

async function addMemory(root: string, { words, values }: Parsed, io: Io): Promise<number> {
  const kind = parseKind(words[0] ?? "");
  if (words.length > 1) throw new UserError("the text is one argument", 'write it in quotes: --text "…"');
  const text = values["--text"] ?? (await readInput("there is no text", 'give it with --text "…" or on stdin'));
  const same = addEntry(root, kind, { text, title: values["--title"] ?? "" }, new Date());
  const done = same ? `has this already${same.date ? ` (${same.date})` : ""}; nothing added` : "+1 entry";
  io.out(`${memoryPath(kind)}: ${done}\n`);
  return 0;
}

function parseKind(word: string): Kind {
  const kind = word === "decisions" || word === "issues" ? word.slice(0, -1) : word;
  if (Object.hasOwn(KINDS, kind)) return kind as Kind;
  throw new UserError(`memory has no ${word || "(nothing)"}`, `it has ${Object.keys(KINDS).join(", ")}`);
}

function listMemory(root: string, parsed: Parsed, io: Io): number {
  const [word] = parsed.words;
  const kinds = word === undefined ? (Object.keys(KINDS) as Kind[]) : [parseKind(word)];
  const entries = kinds.flatMap((kind) => listEntries(root, kind));
  return print(io, parsed, entries, () => `${entries.map(inOneBlock).join("\n") || "The memory is empty."}\n`);
}

const inOneBlock = ({ kind, date, title, text }: Entry) =>
  `${[kind, date, title].filter((part) => part !== "").join("  ")}\n${text.replace(/^(?=.)/gm, "    ")}`;

// ── Archive ─────────────────────────────────────────────────────────────────

function plan(root: string, parsed: Parsed, io: Io): number {
  const made = makePlan(root, new Date(), parsed.flags.has("--tracked"));
  if (made.files.length > 0) withLock(root, () => savePlan(root, made));
  const rows = made.files.map((file, at) => ({ n: at + 1, ...file }));
  const shownRows = rows.slice(0, parsed.flags.has("--all") ? rows.length : SHOWN_ROWS);
  const text = () => (rows.length === 0 ? "Nothing to archive.\n" : planText(made, shownRows));
  return print(io, parsed, { ...made, files: rows }, text);
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
  return `Plan ${made.id}: ${counted(made.files.length, "file")}, ${inUnits(total)}. Nothing was moved.\n${lines.join("\n")}
After the person's yes: ${self()} helper archive apply ${made.id}   (some of them: --only 1,3-5)
`;
}

function apply(root: string, parsed: Parsed, io: Io): number {
  requireConsent(root, loadPlan(root, planIdIn(parsed)));
  return applyAgreed(root, parsed, io);
}

const planIdIn = (parsed: Parsed) => oneWord(parsed, "the plan's id", "pawl helper archive apply <plan-id>");

export function applyAgreed(root: string, parsed: Parsed, io: Io): number {
  const id = planIdIn(parsed);
  const wanted = { plan: id, only: numbers(parsed.values["--only"]), tracked: parsed.flags.has("--tracked") };
  const applied = applyPlan(root, wanted, new Date());
  const bytes = applied.archived.reduce((sum, entry) => sum + entry.size, 0);
  const code = applied.left.length > 0 ? 1 : 0;
  return print(io, parsed, { ...applied, bytes }, () => appliedText(applied, bytes), code);
}

function appliedText({ folders, archived, left, before, excluded }: ArchiveResult, bytes: number): string {
  const lines = before.length > 0 ? [`archived before by this plan: ${counted(before.length, "file")}`] : [];
  if (archived.length > 0) {
    lines.push(
      `✓ ${counted(archived.length, "file")} archived to ${folders.map((name) => `${ARCHIVE_DIR}/${name}/`).join(", ")}`,
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

function putBack(root: string, parsed: Parsed, io: Io): number {
  const folder = oneWord(parsed, "the archive's folder", "pawl helper archive restore 2026-01-23-11-45");
  const result = restore(root, folder, numbers(parsed.values["--only"]));
  const notes = result.restored.filter(({ note }) => note !== "").map(({ path, note }) => `${shown(path)}: ${note}`);
  const lines = [`restored: ${counted(result.restored.length, "file")}`, ...notes, ...leftLines(result.left)];
  return print(io, parsed, result, () => `${lines.join("\n")}\n`, result.left.length > 0 ? 1 : 0);
}

/** As an agent can call it, whose PATH need not know us. */
function self(): string {
  const home = `${realPath(homeDir())}/`;
  return process.execPath.startsWith(home) ? `~/${process.execPath.slice(home.length)}` : "pawl";
}

function oneWord({ words }: Parsed, what: string, example: string): string {
  if (words.length === 1) return words[0]!;
  throw new UserError(words.length === 0 ? `${what} is missing` : "that is more than one name", `as in: ${example}`);
}

/** "1,3-5" → {1, 3, 4, 5}; null: all of them. */
function numbers(text: string | undefined): Set<number> | null {
  if (text === undefined) return null;
  const found = text.split(",").map((part) => /^\s*(\d{1,7})(?:-(\d{1,7}))?\s*$/.exec(part));
  if (found.includes(null)) throw new UserError(`--only cannot read ${JSON.stringify(text)}`, "write --only 1,3-5");
  return new Set(found.flatMap((match) => range(Number(match![1]), Number(match![2] ?? match![1]))));
}

const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_one, at) => from + at);
