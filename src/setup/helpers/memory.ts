/** The project's memory: dated entries at the end of three Markdown files, which belong to the person. */
import { accessSync, chmodSync, constants, mkdirSync, renameSync } from "node:fs";
import { insideRoot, lookAt, messageOf, readText, withTemp } from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { localStamp, withLock } from "./shared.ts";

export const KINDS = { decision: "decisions", issue: "issues", progress: "progress" } as const;
export type Kind = keyof typeof KINDS;

export interface Entry {
  kind: Kind;
  /** as the heading has it, in local time; "" where the person wrote none */
  date: string;
  title: string;
  text: string;
}

const LONGEST_TEXT = 20_000;
const LONGEST_TITLE = 200;
const LARGEST_FILE = 64 * 1024 * 1024;
const HEADING = /^## +(?:(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)(?: *[—–:-] *| *$))?(.*)$/;

export const memoryPath = (kind: Kind) => `.claude/memory/${KINDS[kind]}.md`;

// ── Reading ─────────────────────────────────────────────────────────────────

export const listEntries = (root: string, kind: Kind): Entry[] => parseEntries(readMemory(root, kind), kind);

/** "" where there is no file yet; whatever else cannot be read must not be written over. */
function readMemory(root: string, kind: Kind): string {
  const path = memoryPath(kind);
  const file = readText(insideRoot(root, path), LARGEST_FILE);
  if (file.ok) return file.text;
  if (file.why === "missing") return "";
  throw new Error(`${path} cannot be read: ${file.why}${file.detail ? ` (${file.detail})` : ""}`);
}

function parseEntries(text: string, kind: Kind): Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split(/\r?\n/)) {
    const heading = HEADING.exec(line);
    const last = entries.at(-1);
    if (heading) entries.push({ kind, date: heading[1] ?? "", title: heading[2]!.trim(), text: "" });
    else if (last) last.text += `${line}\n`;
  }
  return entries.map((entry) => ({ ...entry, text: entry.text.trim() }));
}

// ── Adding ──────────────────────────────────────────────────────────────────

/** The entry that says the same already, or null: it was added. */
export function addEntry(root: string, kind: Kind, given: { text: string; title: string }, now: Date): Entry | null {
  const text = tidyText(given.text);
  const title = given.title
    .replace(/[\s\u0000-\u001f\u007f]+/g, " ")
    .trim()
    .slice(0, LONGEST_TITLE);
  insideRoot(root, memoryPath(kind));
  return withLock(root, () => {
    const before = readMemory(root, kind);
    const same = parseEntries(before, kind).find((entry) => normalised(entry.text) === normalised(text));
    if (same) return same;
    writeMemory(root, memoryPath(kind), appended(before, kind, text, title, now));
    return null;
  });
}

/** Headings of the first two levels separate entries, so those in a text go one or two levels down. */
function tidyText(given: string): string {
  const text = given
    .replaceAll("\r\n", "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "")
    .replace(/^#{1,2}(?= )/gm, "###")
    .trim();
  if (text === "") throw new Error("there is no text to remember");
  if (text.length > LONGEST_TEXT) throw new Error(`the text is longer than ${LONGEST_TEXT} characters`);
  return text;
}

const normalised = (text: string) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[.\s]+$/, "")
    .trim();

function appended(before: string, kind: Kind, text: string, title: string, now: Date): string {
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  const name = KINDS[kind].replace(/^./, (letter) => letter.toUpperCase());
  const start = before.trim() === "" ? `${before}# ${name}\n` : before;
  const gap = start.endsWith("\n") ? "\n" : "\n\n";
  const added = `${gap}## ${localStamp(now)}${title === "" ? "" : ` — ${title}`}\n\n${text}\n`;
  return start + added.replaceAll("\n", eol);
}

function writeMemory(root: string, path: string, text: string): void {
  const file = insideRoot(root, path);
  const found = lookAt(file);
  // A rename would replace a file that its owner has locked; root may do so anyway, but should not.
  if (found && (found.mode & 0o222) === 0) throw new Error(`${path} is read-only`);
  const mode = found === undefined ? 0o666 & ~process.umask() : found.mode & 0o777;
  try {
    if (found) accessSync(file, constants.W_OK);
    mkdirSync(dirname(file), { recursive: true });
    withTemp(dirname(insideRoot(root, path)), text, mode, (temp) => {
      chmodSync(temp, mode);
      renameSync(temp, file);
    });
  } catch (error) {
    throw new Error(`${path} cannot be written: ${messageOf(error)}`);
  }
}
