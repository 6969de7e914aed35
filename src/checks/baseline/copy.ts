/**
 * A real copy of the project, where private mounts do not work. No hard links, and no link back: nothing that the command
 * writes there reaches the project. Where the disk can, files share their blocks until one is written.
 */

import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { attempt } from "../../kernel/attempt.ts";
import { isOwned } from "../../store/owned.ts";
import type { Prepared } from "../../store/processes/command.ts";

export interface CopyLimits {
  files: number;
  bytes: number;
  ms: number;
}

const LIMITS: CopyLimits = { files: 200_000, bytes: 4 * 2 ** 30, ms: 120_000 };

/** Where the copy is, below `folder`: with the project's own name, since some tools go by it. */
export function copyProject(root: string, folder: string, limits = LIMITS): string {
  const copy = join(folder, "copy", basename(root) || "project");
  const links: string[] = [];
  const until = performance.now() + limits.ms;
  let [files, bytes] = [0, 0];
  const visit = (path: string) => {
    mkdirSync(join(copy, path), { recursive: true, mode: 0o700 });
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const inside = path === "" ? entry.name : `${path}/${entry.name}`;
      if (isLeftOut(root, inside, entry.name)) continue;
      if (++files > limits.files) throw new Error(`more than ${limits.files} files, too many to copy`);
      if (performance.now() > until) throw new Error(`copying it takes longer than ${limits.ms / 1000} s`);
      if (entry.isDirectory()) visit(inside);
      else if (entry.isSymbolicLink()) links.push(inside);
      else if (entry.isFile()) {
        bytes += lstatSync(join(root, inside)).size;
        if (bytes > limits.bytes) throw new Error(`more than ${limits.bytes >> 20} MB, too much to copy`);
        copyFile(join(root, inside), join(copy, inside));
      }
    }
  };
  visit("");
  for (const path of links) symlinkSync(linkTarget(root, path), join(copy, path));
  checkLinks(root, copy, links);
  return copy;
}

/** Git and build folders know the project by its own path, and compiled files are made again. */
const isLeftOut = (root: string, path: string, name: string) =>
  name === ".git" ||
  name === "__pycache__" ||
  (name === "target" && existsSync(join(root, dirname(path), "Cargo.toml"))) ||
  isOwned(path);

/** Some file systems keep the time of a file that shares its blocks; build tools would take old results for new ones. */
function copyFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const now = new Date();
  attempt(() => utimesSync(to, now, now), undefined);
}

// ── Links ───────────────────────────────────────────────────────────────────

const isIn = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);
const rootsOf = (root: string) => [...new Set([root, realpathSync(root)])];

/** A link within the project leads to the same place in the copy, one out of it to where it led. */
function linkTarget(root: string, path: string): string {
  const target = readlinkSync(join(root, path));
  const folder = dirname(join(root, path));
  const aim = resolve(folder, target);
  const own = rootsOf(root).find((one) => isIn(one, aim));
  if (own === undefined) return aim;
  return target.startsWith("/") ? relative(dirname(path), aim.slice(own.length + 1)) || "." : target;
}

/** A link out of the project may lead back into it on a detour. */
function checkLinks(root: string, copy: string, links: string[]): void {
  const live = realpathSync(root);
  for (const path of links) {
    const end = attempt(() => realpathSync(join(copy, path)), null);
    if (end !== null && isIn(live, end)) throw new Error(`${path} leads back into the project`);
  }
}

// ── The command ─────────────────────────────────────────────────────────────

/** Whatever names the project names the copy. */
export function inCopy(root: string, copy: string, { cmd, cwd, env }: Prepared): Prepared {
  const moved = (word: string) => {
    const own = rootsOf(root).find((one) => isIn(one, word));
    return own === undefined ? word : copy + word.slice(own.length);
  };
  const lists = Object.entries(env).map(([name, value]) => [name, value.split(":").map(moved).join(":")] as const);
  const plain = { ...Object.fromEntries(lists), CARGO_TARGET_DIR: `${dirname(dirname(copy))}/target` };
  const python = pythonPath(copy, plain);
  return {
    cmd: cmd.map(moved),
    cwd: moved(cwd),
    env: { ...plain, ...(python !== "" && { PYTHONPATH: python }) },
  };
}

/** A package that is installed for editing is found by the project's path: the copy's code has to come first. */
function pythonPath(copy: string, env: Record<string, string>): string {
  const isPython = ["pyproject.toml", "setup.py", "setup.cfg"].some((name) => existsSync(join(copy, name)));
  const folders = isPython ? [join(copy, "src"), copy].filter((folder) => existsSync(folder)) : [];
  return [...folders, env.PYTHONPATH].filter(Boolean).join(":");
}
