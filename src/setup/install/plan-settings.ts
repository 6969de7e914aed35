/** The settings file: our hooks, and our status line. */
import { hashOf, parseJson } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { type Draft, write } from "./draft.ts";
import { InstallError } from "./error.ts";
import { callsUs } from "./hooks.ts";
import { ignoredByHost, isEmptySettings, withHooks, withoutHooks } from "./settings.ts";
import { type Elsewhere, hasStatusLine, isOurLine, lineIn, withoutStatusLine, withStatusLine } from "./status-line.ts";
import { type Entry, readExisting, readQuietly, type Target } from "./target.ts";

export interface Parts {
  hooks: boolean;
  /** null: not ours to say, what is there stays */
  line: boolean | null;
}

/** A team's or a person's own hooks serve a project as well; two would only cost time. */
export function hooksElsewhere(target: Target): string | null {
  if (target.scope !== "local" || hasOurHooks(readExisting(target.base, target.settings))) return null;
  return others(target).find(({ text }) => callsUs(parseJson(text ?? "")))?.shown ?? null;
}

const hasOurHooks = (text: string | null) =>
  text?.includes(".local/share/pawl/bin/pawl") && / (hook|rewake) \w/.test(text);

/** Files that count for this project besides a person's own one, nearest first. */
const others = ({ base }: Target) => [
  { shown: ".claude/settings.json", text: readQuietly(base, ".claude/settings.json") },
  { shown: "~/.claude/settings.json", text: readQuietly(homeDir(), ".claude/settings.json") },
];

export function planSettings(draft: Draft, parts: Parts): void {
  const { target, known, notes } = draft;
  const now = readExisting(target.base, target.settings);
  if (!parts.hooks && (parts.line === null || (now === null && !parts.line))) return;
  const hooked = hookedText(target, now);
  const start = parts.hooks ? hooked : now === null || isBlank(now) ? "{}\n" : now;
  const after = parts.line === null ? start : linedText(draft, start, parts.line);
  warn(target, after, notes);
  if (after === now || (now === null && isEmptySettings(after))) return;
  const original = originalSettings(known.get(target.settings), now);
  write(draft, target.settings, "settings", now, after, original, whyOf(parts, after));
}

const isBlank = (text: string) => /^\uFEFF?\s*$/.test(text);

/** Refuses what cannot be edited. */
function hookedText(target: Target, now: string | null): string {
  const edited = withHooks(now, target.scope);
  if (edited.ok) return edited.text;
  const path = join(target.base, target.settings);
  throw new InstallError(`${path}, ${edited.why}`, "fix it and try again; nothing was changed");
}

function warn({ settings }: Target, text: string, notes: string[]): void {
  const lenient = ignoredByHost(text);
  if (lenient)
    notes.push(
      `WARNING: Claude Code 2.1 ignores the whole of ${settings} (${lenient}); take that out, or no hook in it runs`,
    );
  if (/"disableAllHooks"\s*:\s*true/.test(text)) notes.push(`WARNING: ${settings} says disableAllHooks: no hook runs`);
}

function whyOf({ hooks, line }: Parts, after: string): string {
  const shows = line === true && after.includes(" statusline");
  const does = [
    ...(hooks ? ["calls Pawl at 10 events of a session"] : []),
    ...(shows ? [`shows Pawl's status line${after.includes(" statusline --wrap ") ? " below yours" : ""}`] : []),
  ];
  return `${does.join(", ") || "no status line of Pawl's"}; nothing else in it changes`;
}

/** What the file would be without us, to the byte where it is still as we wrote it. */
function originalSettings(entry: Entry | undefined, now: string | null): string | null {
  if (now === null) return null;
  if (entry && hashOf(now) === entry.wrote) return entry.before;
  const before = entry ? entry.before : now;
  const clean = withoutHooks(now, before);
  const text = clean.ok ? withoutStatusLine(clean.text, before).text : now;
  return entry?.before === null && isEmptySettings(text) ? null : text;
}

// ── The status line ─────────────────────────────────────────────────────────

function linedText({ target, known, notes }: Draft, text: string, wanted: boolean): string {
  if (!wanted) return withoutStatusLine(text, known.get(target.settings)?.before ?? null).text;
  const hidden = lineElsewhere(target, notes);
  const doubled = hidden !== null && isOurLine(hidden.command);
  if (doubled && !hasStatusLine(text)) {
    notes.push(`${hidden.from} shows Pawl's status line already`);
    return text;
  }
  const lined = withStatusLine(text, doubled ? null : hidden);
  if (lined.note) notes.push(`${target.settings}: ${lined.note}`);
  return lined.text;
}

/** The line that ours in this file would hide. A person's own is no business of a team's file. */
function lineElsewhere(target: Target, notes: string[]): Elsewhere | null {
  if (target.scope === "user") return null;
  const lines = others(target).flatMap(({ text, shown }) => lineIn(text, shown) ?? []);
  if (target.scope === "local") return lines[0] ?? null;
  const own = lines.find(({ from }) => from?.startsWith("~"));
  if (own) notes.push(`${own.from} has a status line of your own, which the team's hides in this project`);
  return null;
}
