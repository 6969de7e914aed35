/**
 * Replaces a file that a person may be editing, and loses nothing they write meanwhile. Comparing first and renaming then
 * would leave a gap, so the new and the old file trade places in one step, and the old one is read afterwards: lines
 * added to it are added to the new file; if it was changed in any other way, the two trade back.
 *
 * A program that opened the old file earlier may still write to it. So replaced files stay in a folder for a minute, and
 * every later look at the tasks brings over what was added to them:
 *   .pawl/tracker/replaced/<when>-<bytes>-<hash of these bytes>
 */
import { exchange, link, rename } from "../native/disk.ts";
import { appendLine, lookAt, makeDirs, namesOrNone, readText, removeQuietly, withTemp } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";

const KEEP_MS = 60_000;

export interface Replaceable {
  path: string;
  /** where its replaced versions are kept */
  folder: string;
}

/** false: the file no longer holds `before`; it was left as it is. */
export function replaceFile(file: Replaceable, before: string, after: string): boolean {
  const mode = (lookAt(file.path)?.mode ?? 0o600) & 0o777;
  return withTemp(dirname(file.path), after, mode, (temp) => publish(file, temp, before, after));
}

/** `temp` holds `after` and takes the place of the file. */
export function publish(file: Replaceable, temp: string, before: string, after: string): boolean {
  const { path } = file;
  const ours = lookAt(temp)?.ino;
  if (!exchange(temp, path)) return renameOver(file, temp, before);
  const found = readText(temp);
  const added = found.ok ? addedTo(before, found.text) : null;
  if (found.ok && added !== null) {
    if (added !== "") appendLine(path, added);
    keepReplaced(file, temp, found.text);
    return true;
  }
  tradeBack(file, temp, ours, after);
  return false;
}

/** A person saved in between: their file, now in `temp`, goes back, unless they have saved once more. */
export function tradeBack(file: Replaceable, temp: string, ours: number | undefined, after: string): void {
  if (lookAt(file.path)?.ino === ours && exchange(temp, file.path)) keepReplaced(file, temp, after);
  else keepBeside(file, temp);
}

/** Where files cannot trade places, a gap of some microseconds stays between comparing and renaming. */
export function renameOver(file: Replaceable, temp: string, before: string): boolean {
  const found = readText(file.path);
  if (!found.ok || found.text !== before) return false;
  keepReplaced(file, file.path, before, link);
  rename(temp, file.path);
  return true;
}

/** Whole lines below what was there; null: it was changed in another way. */
function addedTo(before: string, now: string): string | null {
  if (!now.startsWith(before)) return null;
  return now.length === before.length || before === "" || before.endsWith("\n") ? now.slice(before.length) : null;
}

/** On another file system it cannot be kept. */
function keepReplaced({ folder }: Replaceable, old: string, text: string, move = rename): void {
  try {
    makeDirs(folder, 0o700);
    const bytes = new TextEncoder().encode(text);
    move(old, join(folder, `${Date.now()}-${bytes.length}-${Bun.hash(bytes).toString(36)}`));
  } catch {
    // the caller removes it
  }
}

/** Next to the file, for the person to look at. */
const keepBeside = ({ path }: Replaceable, other: string) => link(other, `${path}.kept-${Bun.nanoseconds()}`);

// ── Written to a replaced file ──────────────────────────────────────────────

const NAME = /^(\d+)-(\d+)-([0-9a-z]+)$/;
const replacedIn = (folder: string) => namesOrNone(folder).filter((name) => NAME.test(name));

/** Cheap, for every reader: did a program write to a replaced file? */
export const hasLateLines = ({ folder }: Replaceable): boolean =>
  replacedIn(folder).some((name) => lookAt(join(folder, name))?.size !== Number(NAME.exec(name)![2]));

/** To be called with the lock held. */
export function bringOverLateLines(file: Replaceable, now: number): void {
  for (const name of replacedIn(file.folder)) {
    const old = join(file.folder, name);
    const [, when, size, hash] = NAME.exec(name)!;
    const isOver = now - Number(when) > KEEP_MS;
    if (!isOver && lookAt(old)?.size === Number(size)) continue;
    bringOver(file, old, Number(size), hash!);
    if (isOver) removeQuietly(old);
  }
}

function bringOver(file: Replaceable, old: string, size: number, hash: string): void {
  const found = readText(old);
  const bytes = new TextEncoder().encode(found.ok ? found.text : "");
  const known = bytes.subarray(0, size);
  const isKnown = Bun.hash(known).toString(36) === hash;
  if (isKnown && bytes.length === size) return;
  const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(known);
  const added = found.ok && isKnown ? addedTo(before, found.text) : null;
  if (added === null) keepBeside(file, old);
  else appendLine(file.path, added);
  if (found.ok) keepReplaced(file, old, found.text);
  else removeQuietly(old);
}
