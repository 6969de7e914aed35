/**
 * The next task for the status line, from session.md. To read its tasks takes longer than all the rest of a line, and it
 * seldom changes: so what was found is remembered, with the stamps of everything it depends on.
 */
import { type Found, rename } from "./store/disk.ts";
import { lookAt, makeDirs, parseJson, readText, withTemp } from "./store/files.ts";
import { statePath } from "./store/home.ts";
import { dirname } from "./store/names.ts";

interface Remembered {
  folder: string;
  /** the project it lies in */
  root: string;
  at: number;
  /** path and stamp, "" where there is nothing */
  seen: [string, string][];
  next: string;
}

/** A project may get another root by what is made above it, which no stamp tells. */
const VALID_MS = 60_000;

/** "": nothing to start, or not known here. Beads and GitHub are not asked: that takes longer than a line may. */
export async function nextTask(folder: string, now: number): Promise<string> {
  const path = statePath("next", Bun.hash(folder).toString(16));
  const known = remembered(path, folder, now);
  if (known !== null) return known;
  const { lookUp } = await import("./statusline-file.ts");
  const { root, next, files } = await lookUp(folder, now);
  if (files !== null) remember(path, { folder, root, at: now, seen: files.map((file) => [file, stampOf(file)]), next });
  return next;
}

function remembered(path: string, folder: string, now: number): string | null {
  const file = readText(path, 64 * 1024);
  const known = (file.ok ? parseJson(file.text) : null) as Remembered | null | undefined;
  if (known?.folder !== folder || !Array.isArray(known.seen) || typeof known.next !== "string") return null;
  if (!(now >= known.at && now - known.at < VALID_MS)) return null;
  for (const [name, stamp] of known.seen) if (stampOf(name) !== stamp) return null;
  return known.next;
}

function stampOf(path: string): string {
  const found: Found | undefined = lookAt(path);
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

/** What cannot be remembered is looked up again. */
function remember(path: string, known: Remembered): void {
  try {
    makeDirs(dirname(path), 0o700);
    withTemp(dirname(path), JSON.stringify(known), 0o600, (temp) => rename(temp, path), "unsynced");
  } catch {
    // a full disk, or a home that cannot be written
  }
}
