/** What is done only when the person asks for it, or says no to it. */
import fragment from "../../../plugin/fragments/execute-rule.md" with { type: "text" };
import { hashOf, lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { isOff } from "../../store/place.ts";
import { configText, detectChecks } from "./checks.ts";
import { ABOUT, blockIn, CLAUDE_MD, shortcutsBlock, withBlock, withoutBlocks } from "./claude-md.ts";
import { changeOf, type Draft, PRIVATE, type Wishes, write } from "./draft.ts";
import { type Entry, readExisting, recorded, SHORTCUTS_OFF, type Target } from "./target.ts";

export function planAsked(draft: Draft, wishes: Wishes): void {
  planProse(draft, wishes);
  if (wishes.config) planConfig(draft);
  if (wishes.shortcuts !== undefined) planShortcuts(draft, wishes.shortcuts);
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
  const about = wishes.claudeMd ? proseOf(target, claudeFiles(target)) : null;
  if (about) addTo(about, withBlock(about.after, ABOUT), "a marked block that explains Pawl's signals");
  else if (wishes.claudeMd) notes.push(`there is no CLAUDE.md, ${NONE_MADE}`);
  const installed = [...known.values()].some(({ kind, inline }) => kind === "fragment" || inline !== undefined);
  const place = wishes.fragment || installed ? proseOf(target, proseFiles(target)) : null;
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

const claudeFiles = ({ scope }: Target) => (scope === "user" ? [".claude/CLAUDE.md"] : CLAUDE_MD);

const proseFiles = (target: Target) => [...claudeFiles(target), ...(target.scope === "user" ? [] : ["AGENTS.md"])];

/** Where the shortcuts could be explained; null: nowhere. */
export const proseName = (target: Target): string | null =>
  proseFiles(target).find((name) => lookAt(join(target.base, name))?.isFile()) ?? null;

/** The first that is a plain file: a CLAUDE.md may be but a link to AGENTS.md. Where all are links, that is refused. */
function proseOf(target: Target, names: string[]): Prose | null {
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
  const original = entry && hashOf(now) === entry.wrote ? entry.before : withoutBlocks(now);
  write(draft, name, "block", now, after, original, whys.join(", "));
  const kept = inline ?? entry?.inline;
  if (kept) draft.entries.set(name, { ...draft.entries.get(name)!, inline: kept });
}

/** Unasked only what was installed is renewed; an import that was taken out stays out. */
function planImport(draft: Draft, prose: Prose, asked: boolean): void {
  const { target, known, entries, notes } = draft;
  const entry = known.get(FRAGMENT);
  if (!asked && !entry?.scopes.includes(target.scope)) return;
  const now = readExisting(target.base, FRAGMENT);
  if (now !== null && !entry && now !== fragment)
    return void notes.push(`${FRAGMENT} exists and is not Pawl's: unchanged, and not imported`);
  const why = "explains the shortcuts to the agent";
  if (now === fragment && entry) entries.set(FRAGMENT, recorded(entry, entry, fragment, target.scope));
  else if (now === null) write(draft, FRAGMENT, "fragment", null, fragment, null, why);
  else if (entry && hashOf(now) === entry.wrote)
    write(draft, FRAGMENT, "fragment", now, fragment, entry.before, `${why}, renewed`);
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

// ── Configuration ───────────────────────────────────────────────────────────

function planConfig(draft: Draft): void {
  const { target, notes } = draft;
  if (target.scope === "user") return void notes.push("a configuration belongs to a project: none with --user");
  const now = readExisting(target.base, "pawl.yaml");
  if (now !== null) return void notes.push("pawl.yaml exists: unchanged");
  const why = "suggests this project's own checks, as comments";
  write(draft, "pawl.yaml", "config", null, configText(detectChecks(target.base)), null, why);
}

/** Off is a file: sealed in a project, as `pawl off shortcuts` writes it; a line in the person's own configuration. */
function planShortcuts(draft: Draft, on: boolean): void {
  const { target, known, entries, changes } = draft;
  if (target.scope === "user") return void planOwnShortcuts(draft, on);
  if (on !== isOff(target.base, "shortcuts-off")) return;
  const now = readExisting(target.base, SHORTCUTS_OFF);
  const before = known.get(SHORTCUTS_OFF)?.before ?? null;
  const change = changeOf(target, SHORTCUTS_OFF, now, on ? before : '{"off":true}', on ? BACK : OFF, PRIVATE);
  changes.push(on ? change : { ...change, sealed: `shortcuts-off ${target.base}` });
  entries.delete(SHORTCUTS_OFF);
  const entry: Omit<Entry, "wrote" | "scopes"> = { path: SHORTCUTS_OFF, kind: "switch", before: now };
  if (!on) entries.set(SHORTCUTS_OFF, recorded(undefined, entry, "", target.scope));
}

const OFF = "one-key shortcuts are off";
const BACK = "one-key shortcuts are on";
const OWN_CONFIG = ".config/pawl/config.yaml";

function planOwnShortcuts(draft: Draft, on: boolean): void {
  const { target, known, entries, changes, notes } = draft;
  const now = readExisting(target.base, OWN_CONFIG);
  const off = now !== null && /^shortcuts:\s*["']?off\b/m.test(now);
  if (on !== off) return;
  if (now === null) return void write(draft, OWN_CONFIG, "config", null, "shortcuts: off\n", null, OFF);
  if (!on) return void notes.push(`~/${OWN_CONFIG} is there: write \`shortcuts: off\` into it to have none`);
  if (known.get(OWN_CONFIG)?.wrote !== hashOf(now))
    return void notes.push(`~/${OWN_CONFIG} says \`shortcuts: off\`: take that out to have them`);
  changes.push(changeOf(target, OWN_CONFIG, now, null, BACK));
  entries.delete(OWN_CONFIG);
}
