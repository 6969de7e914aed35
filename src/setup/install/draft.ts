/** A plan while it is made: what will be written, and the record of it. */
import type { Change } from "./apply.ts";
import { type Entry, type Kind, modeOf, placed, recorded, type Target } from "./target.ts";

export interface Plan {
  changes: Change[];
  /** what the person should know: left alone, already there, of no use */
  notes: string[];
}

export interface Wishes {
  claudeMd: boolean;
  config: boolean;
  /** the shortcuts in prose, imported where the agent reads */
  fragment?: boolean;
  /** left out: as they are */
  shortcuts?: boolean;
  /** left out: on for one person, unless they once said no; off for a team */
  statusline?: boolean;
}

export interface Draft extends Plan {
  target: Target;
  known: Map<string, Entry>;
  entries: Map<string, Entry>;
}

const PUBLIC = 0o644;
export const PRIVATE = 0o600;

export function changeOf(
  target: Target,
  name: string,
  before: string | null,
  after: string | null,
  why: string,
  mode = PUBLIC,
): Change {
  const path = placed(target.base, name);
  return { path, before, after, mode: modeOf(path, mode), why };
}

/** Plans to write, and remembers what was there before us. */
export function write(
  draft: Draft,
  name: string,
  kind: Kind,
  now: string | null,
  after: string,
  original: string | null,
  why: string,
): void {
  const { target, known, entries, changes } = draft;
  changes.push(changeOf(target, name, now, after, why));
  entries.set(name, recorded(known.get(name), { path: name, kind, before: original }, after, target.scope));
}
