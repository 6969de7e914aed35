/** The tree of a folder without git: every file's name, mode and content. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hashOf, lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { timeLeft } from "./git.ts";

const MOST_FILES = 50_000;
const MOST_BYTES = 512 << 20;
/** Rebuilt by tools, and larger than all the rest. */
const LEFT_OUT = new Set([".git", "node_modules"]);

export function walkedHash(root: string, until: number, isOwn: (path: string) => boolean): string {
  const lines: string[] = [];
  let bytes = 0;
  const folder = (dir: string) => {
    timeLeft(until);
    for (const name of readdirSync(join(root, dir)).sort()) {
      const path = dir + name;
      if (LEFT_OUT.has(name) || isOwn(path)) continue;
      const found = lookAt(join(root, path));
      if (found?.isDirectory()) folder(`${path}/`);
      if (!found || found.isDirectory()) continue;
      bytes += found.isFile() ? found.size : 0;
      if (lines.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES} files, and no git to tell which count`);
      if (bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES >> 20} MB, and no git to tell what counts`);
      lines.push(JSON.stringify([path, ...readBytes(join(root, path), found)]));
    }
  };
  folder("");
  return hashOf(lines.join("\n"));
}

function readBytes(path: string, found: NonNullable<ReturnType<typeof lookAt>>): string[] {
  if (found.isSymbolicLink()) return ["link", readlinkSync(path)];
  if (!found.isFile()) return ["other"];
  return [found.mode & 0o100 ? "program" : "file", hashOf(readFileSync(path))];
}
