/** What is done only when the person asks for it, or says no to it. */
import fragment from "../../../plugin/fragments/execute-rule.md" with { type: "text" };
import projectSchema from "../../../schema/project.json";
import { hashOf, lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { isOff } from "../../store/place.ts";
import { SCHEMA } from "./checks.ts";
import {
  buildChange,
  type Draft,
  isAsWritten,
  PRIVATE,
  readExisting,
  record,
  SHORTCUTS_OFF,
  type Target,
  type Wishes,
  write,
} from "./target.ts";

export function planAsked(draft: Draft, wishes: Wishes): void {
  planProse(draft, wishes);
  if (wishes.config !== null) planConfig(draft, wishes.config);
  if (wishes.parts.shortcuts !== undefined) planShortcuts(draft, wishes.parts.shortcuts);
}

// ── In what the agent reads ─────────────────────────────────────────────────

const FRAGMENT = ".claude/execute-rule.md";
const NONE_MADE = "and none is created: a new one would hide AGENTS.md";

/** One file may get both blocks, so its text is put together before it is planned. */
interface Prose {
  name: string;
  now: string;
  after: string;
  whys: string[];
  /** hash of what was written out in it */
  inline?: string;
}

function planProse(draft: Draft, wishes: Wishes): void {
  const { target, known, notes } = draft;
  const about = wishes.claudeMd ? findProse(target, claudeFiles(target)) : null;
  if (about) addTo(about, withBlock(about.after, ABOUT), "a marked block that explains Pawl's signals");
  else if (wishes.claudeMd) notes.push(`there is no CLAUDE.md, ${NONE_MADE}`);
  const installed = [...known.values()].some(({ kind, inline }) => kind === "fragment" || inline !== undefined);
  const place = wishes.fragment || installed ? findProse(target, proseFiles(target)) : null;
  const prose = place?.name === about?.name ? about : place;
  if (wishes.fragment && !prose) notes.push(noPlace(target));
  if (prose?.name === "AGENTS.md") planInline(draft, prose, wishes.fragment === true);
  else if (prose) planImport(draft, prose, wishes.fragment === true);
  for (const one of new Set([about, prose])) if (one) writeProse(draft, one);
}

const noPlace = ({ scope }: Target) =>
  scope === "user"
    ? "there is no ~/.claude/CLAUDE.md, and none is created: the shortcuts are not explained to the agent"
    : `there is neither CLAUDE.md nor AGENTS.md, ${NONE_MADE}; the shortcuts are not explained to the agent`;

const claudeFiles = ({ scope }: Target) => [...(scope === "user" ? [] : ["CLAUDE.md"]), ".claude/CLAUDE.md"];

const proseFiles = (target: Target) => [...claudeFiles(target), ...(target.scope === "user" ? [] : ["AGENTS.md"])];

/** The first that is a plain file: a CLAUDE.md may be but a link to AGENTS.md. Where all are links, that is refused. */
function findProse(target: Target, names: string[]): Prose | null {
  const there = names.filter((name) => lookAt(join(target.base, name)) !== undefined);
  const name = there.find((one) => lookAt(join(target.base, one))?.isFile()) ?? there[0];
  const now = name === undefined ? null : readExisting(target.base, name);
  return name === undefined || now === null ? null : { name, now, after: now, whys: [] };
}

function addTo(prose: Prose, after: string, why: string): void {
  if (after !== prose.after) prose.whys.push(why);
  prose.after = after;
}

function writeProse(draft: Draft, { name, now, after, whys, inline }: Prose): void {
  if (after === now) return;
  const entry = draft.known.get(name);
  const before = isAsWritten(entry, now) ? entry.before : withoutBlocks(now);
  write(draft, { path: name, kind: "block", before }, now, after, whys.join(", "));
  const kept = inline ?? entry?.inline;
  if (kept) draft.entries.set(name, { ...draft.entries.get(name)!, inline: kept });
}

/** Unasked only what was installed is renewed; an import that was taken out stays out. */
function planImport(draft: Draft, prose: Prose, asked: boolean): void {
  const { target, known, notes } = draft;
  const entry = known.get(FRAGMENT);
  if (!asked && !entry?.scopes.includes(target.scope)) return;
  const now = readExisting(target.base, FRAGMENT);
  if (now !== null && !entry && now !== fragment)
    return void notes.push(`${FRAGMENT} exists and is not Pawl's: unchanged, and not imported`);
  const why = "explains the shortcuts to the agent";
  if (now === fragment && entry) record(draft, entry, fragment);
  else if (now === null) write(draft, { path: FRAGMENT, kind: "fragment", before: null }, null, fragment, why);
  else if (isAsWritten(entry, now)) write(draft, entry, now, fragment, `${why}, renewed`);
  else if (now !== fragment) notes.push(`${FRAGMENT} was edited since it was installed: unchanged`);
  if (!asked) return;
  const line = prose.name.startsWith(".claude/") ? "@execute-rule.md" : `@${FRAGMENT}`;
  addTo(prose, withBlock(prose.after, shortcutsBlock(line)), `imports ${FRAGMENT}`);
}

function planInline({ known, notes }: Draft, prose: Prose, asked: boolean): void {
  const block = shortcutsBlock(fragment);
  const there = blockIn(prose.now, block);
  if (!asked && (there === null || known.get(prose.name)?.inline === undefined)) return;
  const fresh = blockIn(withBlock("", block), block)!;
  if (there === fresh) return;
  if (there !== null && hashOf(there) !== known.get(prose.name)?.inline)
    return void notes.push(`${prose.name}: its lines about shortcuts were edited since: left as they are`);
  addTo(prose, withBlock(prose.after, block), "a marked block that explains the shortcuts to the agent");
  prose.inline = hashOf(fresh);
}

// ── Marked lines in an existing CLAUDE.md or AGENTS.md ──────────────────────

interface Block {
  begin: string;
  end: string;
  lines: string[];
}

const ABOUT: Block = {
  begin: "<!-- pawl: begin (`pawl uninstall` removes this) -->",
  end: "<!-- pawl: end -->",
  lines: [
    "## Pawl",
    "",
    "Pawl keeps this session on a workflow once the person types `/complete-work`. Its instructions begin with `[pawl]`.",
    "A step counts only when its signal, e.g. `<promise>REVIEW_COMPLETE</promise>`, is alone on a line of your answer",
    "and what it claims is true: Pawl checks. `pawl runs` shows how far a run is.",
    "",
    "A formal workflow (phases, required reading) begins with `pawl runs start <type> --name … --phases … --reading @…`; say",
    "`pawl runs phase next` at each phase's end. After a compaction Pawl gives it back to you: acknowledge it with the line it",
    "asks for, read ALL required files, and do not go on from memory. The skill `workflow` tells more.",
  ],
};

/** The shortcuts in prose: imported, or where nothing can be imported, written out. */
const shortcutsBlock = (text: string): Block => ({
  begin: "<!-- pawl shortcuts: begin (`pawl uninstall` removes this) -->",
  end: "<!-- pawl shortcuts: end -->",
  lines: text.replace(/\n$/, "").split("\n"),
});

function withBlock(text: string, { begin, end, lines }: Block): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = [begin, ...lines, end].join(eol);
  const found = findRange(text, begin, end);
  if (found) return text.slice(0, found[0]) + block + text.slice(found[1]);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${block}${eol}`;
}

export const withoutBlocks = (text: string) => withoutBlock(withoutBlock(text, shortcutsBlock("")), ABOUT);

function withoutBlock(text: string, { begin, end }: Block): string {
  const found = findRange(text, begin, end);
  if (!found) return text;
  const head = text.slice(0, found[0]).replace(/(\r?\n)\r?\n$/, "$1");
  return head + text.slice(found[1]).replace(/^\r?\n/, "");
}

/** What is between the marks, whatever the line ends are; null: there is no such block. */
function blockIn(text: string, { begin, end }: Block): string | null {
  const found = findRange(text, begin, end);
  if (!found) return null;
  const inner = text.slice(found[0] + begin.length, found[1] - end.length);
  return inner.replaceAll("\r\n", "\n").replace(/^\n/, "");
}

function findRange(text: string, begin: string, end: string): [number, number] | null {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  return from < 0 || to < 0 ? null : [from, to + end.length];
}

// ── Configuration ───────────────────────────────────────────────────────────

function planConfig(draft: Draft, text: string): void {
  const { target, notes } = draft;
  if (target.scope === "user") return void notes.push("a configuration belongs to a project: none with --user");
  const now = readExisting(target.base, "pawl.yaml");
  if (now !== null) return void notes.push("pawl.yaml exists: unchanged");
  write(draft, { path: "pawl.yaml", kind: "config", before: null }, null, text, "the definition of done");
  if (readExisting(target.base, SCHEMA) !== null) return;
  write(
    draft,
    { path: SCHEMA, kind: "ignore", before: null },
    null,
    `${JSON.stringify(projectSchema, null, 2)}\n`,
    "lets your editor check pawl.yaml",
  );
}

/** Off is a file: sealed in a project, as `pawl off shortcuts` writes it; a line in the person's own configuration. */
function planShortcuts(draft: Draft, on: boolean): void {
  const { target, known, entries, changes } = draft;
  if (target.scope === "user") return void planOwnShortcuts(draft, on);
  if (on !== isOff(target.base, "shortcuts-off")) return;
  const now = readExisting(target.base, SHORTCUTS_OFF);
  const before = known.get(SHORTCUTS_OFF)?.before ?? null;
  const change = buildChange(target, SHORTCUTS_OFF, now, on ? before : '{"off":true}', on ? BACK : OFF, PRIVATE);
  changes.push(on ? change : { ...change, sealed: `shortcuts-off ${target.base}` });
  entries.delete(SHORTCUTS_OFF);
  if (!on) record(draft, { path: SHORTCUTS_OFF, kind: "switch", before: now }, "");
}

const OFF = "one-key shortcuts are off";
const BACK = "one-key shortcuts are on";
const OWN_CONFIG = ".config/pawl/config.yaml";

function planOwnShortcuts(draft: Draft, on: boolean): void {
  const { target, known, entries, changes, notes } = draft;
  const now = readExisting(target.base, OWN_CONFIG);
  const off = now !== null && /^shortcuts:\s*["']?off\b/m.test(now);
  if (on !== off) return;
  if (now === null)
    return void write(draft, { path: OWN_CONFIG, kind: "config", before: null }, null, "shortcuts: off\n", OFF);
  if (!on) return void notes.push(`~/${OWN_CONFIG} is there: write \`shortcuts: off\` into it to have none`);
  if (!isAsWritten(known.get(OWN_CONFIG), now))
    return void notes.push(`~/${OWN_CONFIG} says \`shortcuts: off\`: take that out to have them`);
  changes.push(buildChange(target, OWN_CONFIG, now, null, BACK));
  entries.delete(OWN_CONFIG);
}
