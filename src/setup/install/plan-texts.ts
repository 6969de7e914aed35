/** Commands, agents and skills: ours under their names, or in our own namespace where a name is taken. */
import { hashOf, lookAt } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { changeOf, type Draft, write } from "./draft.ts";
import { readExisting, readManifest, readQuietly, recorded, type Target, targetOf } from "./target.ts";
import { ownCommands, SHIPPED, type Shipped } from "./texts.ts";

export function planTexts(draft: Draft): void {
  const { target, entries, changes } = draft;
  const own = ownCommands(target);
  const shipped = SHIPPED.map((one) => placedFor(target, one));
  const clash = ({ skill }: Shipped) => own.find(({ path }) => path === `.claude/commands/${skill}.md`)?.path;
  const kept = new Set([...shipped, ...own].flatMap((one) => planText(draft, one, clash(one))));
  if (target.scope === "user") draft.notes.push(EVERYDAY);
  for (const entry of [...entries.values()]) {
    const mine = entry.kind === "text" && entry.scopes.includes(target.scope) && !kept.has(entry.path);
    const now = mine ? readExisting(target.base, entry.path) : null;
    if (now === null || hashOf(now) !== entry.wrote) continue;
    changes.push(changeOf(target, entry.path, now, entry.before, "is no longer part of Pawl"));
    entries.delete(entry.path);
  }
}

const EVERYDAY =
  "type handoff, commit and the others as /pawl:handoff, /pawl:commit: a personal skill would hide a project's own";

/** The host takes a person's skill before a project's, whatever it is called. */
function placedFor({ scope }: Target, shipped: Shipped): Shipped {
  const { otherwise, everyday } = shipped;
  if (scope !== "user" || !everyday || otherwise === undefined) return shipped;
  return { path: otherwise, text: shipped.text, why: `the command ${typedOf(otherwise)}` };
}

/** The paths this text has now. `clash`: a command for the project's own workflow, which a skill of ours would hide. */
function planText(draft: Draft, shipped: Shipped, clash?: string): string[] {
  const { target, known, entries, notes } = draft;
  const { path, text, why } = shipped;
  const entry = known.get(path);
  const now = readExisting(target.base, path);
  const ours = now !== null && entry !== undefined && hashOf(now) === entry.wrote;
  const taken = now === null || ours ? (clash ?? hiddenBy(target, shipped)) : null;
  if (taken !== null) return planAside(draft, shipped, taken);
  if (now === text) {
    if (entry) entries.set(path, recorded(entry, entry, text, target.scope));
    return [path];
  }
  if (now === null) write(draft, path, "text", now, text, null, why);
  else if (ours) write(draft, path, "text", now, text, entry.before, `${why}, renewed`);
  else if (entry) notes.push(`${path} was edited since it was installed: unchanged`);
  else if (shipped.otherwise) return [path, ...planAside(draft, shipped, path)];
  else notes.push(`${path} exists and is not Pawl's: unchanged, and used`);
  return [path];
}

function planAside(draft: Draft, { path, text, otherwise = path }: Shipped, taken: string): string[] {
  const typed = typedOf(otherwise);
  draft.notes.push(`${taken} exists and is not Pawl's: unchanged; type Pawl's own as ${typed}`);
  return planText(draft, { path: otherwise, text, why: `the command ${typed}` });
}

const typedOf = (path: string) => `/pawl:${path.split("/").at(-1)!.replace(/\.md$/, "")}`;

/** What a skill of ours in its own place would hide, or be hidden by; as a person would write its path. */
function hiddenBy({ base, scope }: Target, { path, skill }: Shipped): string | null {
  if (skill === undefined) return null;
  const command = `.claude/commands/${skill}.md`;
  if (lookAt(join(base, command))) return scope === "user" ? `~/${command}` : command;
  if (scope === "user") return null;
  const found = [command, path].find((name) => readQuietly(homeDir(), name) !== null && !isInstalled(name));
  return found === undefined ? null : `~/${found}`;
}

/** By ourselves, for this person in every project. */
function isInstalled(name: string): boolean {
  try {
    const files = readManifest(targetOf("user", "")).manifest?.files ?? [];
    return files.some(({ path }) => path === name);
  } catch {
    return false;
  }
}
