/** Finds git's own folders without starting git. */
import { attempt } from "../kernel/attempt.ts";
import { realpath, stat } from "../native/disk.ts";
import { readText } from "./files.ts";
import { dirname, join } from "./names.ts";

/** The git folder of a working tree whose top is `top`; null where it is no top. */
export function findGitDir(top: string): string | null {
  const dot = join(top, ".git");
  const found = attempt(() => stat(dot), null);
  if (found === null || found.isDirectory()) return found && dot;
  const file = readText(dot, 64 * 1024);
  const target = file.ok ? /^gitdir: ([^\n\r]+)/.exec(file.text)?.[1] : undefined;
  return target === undefined ? null : below(top, target);
}

export function isLinkedWorktree(top: string): boolean {
  const gitDir = findGitDir(top);
  return gitDir !== null && readText(join(gitDir, "commondir"), 64 * 1024).ok;
}

/** What all worktrees of a repository share; null where it does not look like git. */
function findCommonDir(gitDir: string): string | null {
  const file = readText(join(gitDir, "commondir"), 64 * 1024);
  const common = file.ok ? below(gitDir, file.text.trim()) : gitDir;
  return attempt(() => (stat(join(common, "objects")).isDirectory() ? realpath(common) : null), null);
}

export function findGit(root: string): { top: string; common: string } | null {
  for (let dir = root; ; dir = dirname(dir)) {
    const gitDir = findGitDir(dir);
    const common = gitDir === null ? null : findCommonDir(gitDir);
    if (common !== null) return { top: dir, common };
    if (gitDir !== null || dir === dirname(dir)) return null;
  }
}

const READ_BY_GIT = ["HEAD", "index", "config", "config.worktree", "packed-refs", "info/exclude", "info/attributes"];
const READ_IN_TREE = [".gitignore", ".gitattributes", ".gitmodules"];

/** A file that git reads at each question and that is none: a FIFO would let it wait for ever. */
export function oddGitFile({ top, common }: { top: string; common: string }): string | null {
  const own = findGitDir(top) ?? common;
  const paths = [...new Set([own, common])].flatMap((folder) => READ_BY_GIT.map((name) => join(folder, name)));
  const isOdd = (path: string) => attempt(() => !stat(path).isFile() && !stat(path).isDirectory(), false);
  return [...paths, ...READ_IN_TREE.map((name) => join(top, name))].find(isOdd) ?? null;
}

/**
 * The same project in the main checkout, for what all worktrees of a repository share. The project itself where it is in
 * no linked worktree, or where there is no main checkout (a bare repository, a branch without that folder).
 */
export function inMainCheckout(root: string): string {
  const git = findGit(root);
  if (git === null || !git.common.endsWith("/.git") || !isLinkedWorktree(git.top) || isBare(git.common)) return root;
  const main = dirname(git.common) + root.slice(git.top.length);
  return attempt(() => stat(main).isDirectory(), false) ? main : root;
}

function isBare(common: string): boolean {
  const config = readText(join(common, "config"), 64 * 1024);
  return config.ok && /^\s*bare\s*=\s*true\s*$/im.test(config.text);
}

/** Absolute as it is, else seen from the folder. */
const below = (folder: string, named: string) => (named.startsWith("/") ? named : join(folder, named));
