/** Finds git's own folders without starting git. */
import { realpath, stat } from "../native/disk.ts";
import { readText } from "./files.ts";
import { dirname, join } from "./names.ts";

/** The git folder of a working tree whose top is `top`; null where it is no top. */
export function gitDirOf(top: string): string | null {
  const dot = join(top, ".git");
  try {
    if (stat(dot).isDirectory()) return dot;
  } catch {
    return null;
  }
  const file = readText(dot, 64 * 1024);
  const target = file.ok ? /^gitdir: ([^\n\r]+)/.exec(file.text)?.[1] : undefined;
  return target === undefined ? null : below(top, target);
}

export function isLinkedWorktree(top: string): boolean {
  const gitDir = gitDirOf(top);
  return gitDir !== null && readText(join(gitDir, "commondir"), 64 * 1024).ok;
}

/** What all worktrees of a repository share; null where it does not look like git. */
function commonDirOf(gitDir: string): string | null {
  const file = readText(join(gitDir, "commondir"), 64 * 1024);
  const common = file.ok ? below(gitDir, file.text.trim()) : gitDir;
  try {
    return stat(join(common, "objects")).isDirectory() ? realpath(common) : null;
  } catch {
    return null;
  }
}

export function findGit(root: string): { top: string; common: string } | null {
  for (let dir = root; ; dir = dirname(dir)) {
    const gitDir = gitDirOf(dir);
    const common = gitDir === null ? null : commonDirOf(gitDir);
    if (common !== null) return { top: dir, common };
    if (gitDir !== null || dir === dirname(dir)) return null;
  }
}

/** Absolute as it is, else seen from the folder. */
const below = (folder: string, named: string) => (named.startsWith("/") ? named : join(folder, named));
