/** Brings archived files back to where they were; never over a file that is there. */
import { linkSync, mkdirSync, renameSync, unlinkSync } from "node:fs";
import { errorCode, insideRoot, lookAt, messageOf } from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { sha256Of } from "./archive.ts";
import { withLock } from "./lock.ts";
import { isFolderName, type Moved, readManifest, writeManifest } from "./manifest.ts";
import { ARCHIVE_DIR, stateOf } from "./plan.ts";

export interface Restored {
  restored: { path: string; note: string }[];
  left: { path: string; why: string }[];
}

export class RestoreError extends Error {
  override name = "RestoreError";
}

/** `only`: numbers of the manifest's rows, counted from 1; null is all that still lies in the archive. */
export function restore(root: string, given: string, only: Set<number> | null): Restored {
  const folder = given.replace(/\/+$/, "").replace(new RegExp(`^(\\./)?${ARCHIVE_DIR.replace(".", "\\.")}/`), "");
  if (!isFolderName(folder))
    throw new RestoreError(`${JSON.stringify(given.slice(0, 80))} is no folder of ${ARCHIVE_DIR}/`);
  return withLock(root, () => {
    const manifest = readManifest(root, folder);
    if (!manifest) throw new RestoreError(`${ARCHIVE_DIR}/${folder} has no MANIFEST.md that can be read`);
    const result: Restored = { restored: [], left: [] };
    const entries = manifest.entries.map((entry, at) => {
      if (only !== null ? !only.has(at + 1) : entry.state === "left" || entry.state === "restored") return entry;
      return putBack(root, entry, result);
    });
    writeManifest(root, { ...manifest, entries });
    return result;
  });
}

function putBack(root: string, entry: Moved, result: Restored): Moved {
  try {
    const note = moveBack(root, entry);
    result.restored.push({ path: entry.from, note });
    return { ...entry, state: "restored" };
  } catch (error) {
    result.left.push({ path: entry.from, why: messageOf(error) });
    return entry;
  }
}

function moveBack(root: string, entry: Moved): string {
  const [from, to] = [insideRoot(root, entry.to), insideRoot(root, entry.from)];
  const archived = stateOf(root, entry.to);
  const there = stateOf(root, entry.from);
  if (archived === null) {
    if (there !== null) return "it is there already";
    throw new RestoreError("it is not in the archive any more");
  }
  const intact = sha256Of(root, entry.to) === entry.sha256;
  if (there?.ino === archived.ino) unlinkSync(from);
  else if (lookAt(to) !== undefined) return keepBoth(root, entry);
  else moveWithoutOverwriting(from, to);
  return intact ? "" : "its content was changed in the archive";
}

function keepBoth(root: string, entry: Moved): string {
  if (stateOf(root, entry.from) !== null && sha256Of(root, entry.from) === sha256Of(root, entry.to))
    return "the same file is there already; the archived copy stays";
  throw new RestoreError("another file is there now; it stays, and so does the archived one");
}

/** A link fails where something is; a rename would not. */
function moveWithoutOverwriting(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(errorCode(error))) throw error;
    if (lookAt(to) !== undefined) throw new RestoreError("another file is there now");
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}
