/**
 * Loaded before every test file (bunfig.toml): throw-away folders are made in memory where there is room. On a disk,
 * making and removing them is a third of the suite's work.
 */
import { accessSync, constants, statfsSync } from "node:fs";

const MEMORY = "/dev/shm";
const ROOM = 1024 ** 3;

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

if (process.env.TMPDIR === undefined && hasRoom(MEMORY)) process.env.TMPDIR = MEMORY;
