/** What git says about the files of a project. A failed look is never "nothing there". */
import { spawnGit } from "../../checks/git.ts";
import { findGit } from "../../store/git-dir.ts";

export class GitError extends Error {
  override name = "GitError";
}

/** null: no repository here. */
export interface GitFiles {
  tracked: Set<string>;
  untracked: string[];
  /** ignored one by one; whole ignored folders are somebody's business */
  ignored: string[];
}

export function gitFiles(root: string): GitFiles | null {
  if (findGit(root) === null) return null;
  const others = ["ls-files", "-z", "--others", "--exclude-standard"];
  return {
    tracked: trackedFiles(root),
    untracked: paths(git(root, others)),
    ignored: paths(git(root, [...others, "--ignored", "--directory"])),
  };
}

export const trackedFiles = (root: string): Set<string> =>
  findGit(root) === null ? new Set() : new Set(paths(git(root, ["ls-files", "-z"])));

export function isIgnored(root: string, path: string): boolean {
  const { code } = run(root, ["check-ignore", "-q", "--no-index", "--", path]);
  return code === 0;
}

/** A name with "/" at its end is a folder or another repository. */
const paths = (out: string) => out.split("\0").filter((path) => path !== "" && !path.endsWith("/"));

function git(root: string, args: string[]): string {
  const { code, out, err } = run(root, args);
  if (code !== 0) throw new GitError(`git ${args[0]}: ${err.trim().split("\n")[0] || `exit ${code}`}`);
  return out;
}

function run(root: string, args: string[]): { code: number | null; out: string; err: string } {
  try {
    const { exitCode, stdout, stderr } = spawnGit(root, args, { timeout: 60_000, maxBuffer: 512 << 20 });
    return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
  } catch (error) {
    throw new GitError(`git could not be run: ${error instanceof Error ? error.message : error}`);
  }
}
