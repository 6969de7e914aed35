/** Can a run be kept here? Writable folders, hard links, room. What is tried is tried under a temporary name. */
import { accessSync, constants, linkSync, statfsSync } from "node:fs";
import { errorCode, lookAt, messageOf, removeQuietly, withTemp } from "../../store/files.ts";
import { statePath } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { clean, type Finding, type Ground, note, ok, shown, trouble } from "./finding.ts";

const MB = 1024 * 1024;
const LITTLE = 200 * MB;
const TOO_LITTLE = 20 * MB;

export function checkDisk(ground: Ground): Finding[] {
  const pawl = join(ground.root, ".pawl");
  const found = [
    ...checkFolder(ground, pawl, "no run can be kept in this project"),
    ...checkFolder(ground, statePath("sessions"), "no session can be bound to a run"),
    ...checkRoom(ground, ground.root),
    ...checkRoom(ground, statePath()),
  ];
  const bad = found.some(({ level }) => level === "trouble");
  const links = !bad && lookAt(pawl)?.isDirectory() ? checkLinks(ground, pawl) : [];
  const all = dropRepeats([...found, ...links]);
  return all.length > 0 ? all : [ok("disk", "the disk can be written, has room and hard links")];
}

function checkFolder(ground: Ground, path: string, means: string): Finding[] {
  const name = shown(path, ground);
  const found = lookAt(path);
  if (found?.isSymbolicLink())
    return [
      trouble(
        "disk-link",
        `${name} is a symbolic link: Pawl writes through none, so ${means}`,
        "make it a real folder",
      ),
    ];
  if (found && !found.isDirectory())
    return [trouble("disk-folder", `${name} is not a folder: ${means}`, "move it away")];
  const nearest = existing(path);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const what = `${shown(nearest, ground)} cannot be written (${errorCode(error)}): ${means}`;
    return [trouble("disk-read-only", what, "fix its permissions, or use a disk that is not read-only")];
  }
}

function existing(path: string): string {
  for (let dir = path; ; dir = dirname(dir)) if (dir === "/" || lookAt(dir) !== undefined) return dir;
}

function checkLinks(ground: Ground, folder: string): Finding[] {
  try {
    withTemp(folder, "", 0o600, tryLink, "unsynced");
    return [];
  } catch (error) {
    const what = `cannot create a hard link in ${shown(folder, ground)} (${clean(errorCode(error) || messageOf(error))}): Pawl cannot keep runs there`;
    return [trouble("disk-links", what, "work on a file system that has hard links")];
  }
}

function tryLink(temp: string): void {
  try {
    linkSync(temp, `${temp}-2`);
  } finally {
    removeQuietly(`${temp}-2`);
  }
}

function checkRoom(ground: Ground, path: string): Finding[] {
  const free = freeBytes(existing(path));
  if (free === null || free > LITTLE) return [];
  const say = free < TOO_LITTLE ? trouble : note;
  return [say("disk-room", `${Math.floor(free / MB)} MB are left on the disk of ${shown(path, ground)}`, "make room")];
}

function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return null;
  }
}

const dropRepeats = (found: Finding[]) =>
  found.filter(({ what }, at) => found.findIndex((other) => other.what === what) === at);
