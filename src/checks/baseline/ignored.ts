/** Files of test class that git ignores: no tree holds them, so they are looked for on disk. */

import { readdirSync, readFileSync } from "node:fs";
import { hashOf, lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { isOwned } from "../../store/owned.ts";
import { isTestClass, LEFT_OUT } from "../core/test-class.ts";
import { spawnGit } from "../git.ts";

/** More are never written by hand; what is beyond is not compared. */
const MOST_FILES = 2_000;
const MOST_VISITED = 20_000;
const MOST_BYTES = 32 << 20;
const NONE: ReadonlySet<string> = new Set();

/** sha256 by path, as seen from the project. */
export function ignoredTests(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const room = { files: MOST_FILES, visited: MOST_VISITED, bytes: MOST_BYTES };
  const visit = (path: string) => {
    if (isOwned(path) || room.visited-- <= 0) return;
    const stat = lookAt(join(root, path));
    if (stat?.isDirectory()) {
      if (LEFT_OUT.test(path.slice(path.lastIndexOf("/") + 1)) || lookAt(join(root, path, ".git"))) return;
      for (const name of readdirSync(join(root, path)).sort()) visit(`${path}/${name}`);
    } else if (stat?.isFile() && isTestClass(path, NONE) && room.files > 0 && room.bytes > stat.size) {
      room.files -= 1;
      room.bytes -= stat.size;
      found[path] = hashOf(readFileSync(join(root, path)));
    }
  };
  for (const path of ignoredPaths(root)) visit(path);
  return found;
}

function ignoredPaths(root: string): string[] {
  const args = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"];
  const { exitCode, stdout, stderr } = spawnGit(root, args, { timeout: 30_000, maxBuffer: 64 << 20 });
  if (exitCode !== 0) throw new Error(`git: ${stderr.toString().trim().split("\n")[0]}`);
  return stdout
    .toString()
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => path.replace(/\/$/, ""));
}
