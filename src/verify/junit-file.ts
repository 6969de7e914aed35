/** Where the JUnit file goes. Looked at before anything runs: a suite of ten minutes for a wrong path is annoying. */
import { accessSync, constants, realpathSync } from "node:fs";
import { ensureDir, insideRoot, lookAt, writeAtomic } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";

/** Throws where it cannot be written. A relative path stays inside the project and goes through no symbolic link. */
export function junitPath(root: string, cwd: string, named: string): string {
  if (named.startsWith("/")) return writable(named);
  const here = realpathSync(cwd);
  const top = realpathSync(root);
  const below = here === top ? "" : here.slice(top.length + 1);
  const relative = below === "" ? named : join(below, named);
  const path = insideRoot(top, relative);
  const folder = dirname(relative.replace(/^(\.\/)+/, ""));
  if (folder !== "" && folder !== "." && folder !== "/") ensureDir(top, folder);
  return writable(path);
}

function writable(path: string): string {
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
  const found = lookAt(path);
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file`);
  return path;
}

export const writeJunit = (path: string, text: string) => writeAtomic(path, text, 0o644);
