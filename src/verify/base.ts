/** The commit that this tree is compared with. */
import { spawnGit } from "../checks/git.ts";

export interface Base {
  /** as it was named */
  ref: string;
  commit: string;
}

/** Where this branch left REF: what others did there since is not our change. */
export function findBase(root: string, ref: string): { base: Base } | { why: string; hint: string } {
  const named = resolve(root, ref);
  if (named === null) {
    const hint = "name a branch, tag or commit that is here; in CI, fetch it first (actions/checkout: fetch-depth: 0)";
    return { why: `git knows no commit ${JSON.stringify(ref.slice(0, 100))}`, hint };
  }
  const { exitCode, stdout } = spawnGit(root, ["merge-base", named, "HEAD"]);
  const commit = stdout.toString().trim();
  if (exitCode === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return { base: { ref, commit } };
  return {
    why: `${JSON.stringify(ref.slice(0, 100))} and HEAD have no commit in common`,
    hint: "a shallow clone ends too early: fetch all of it (git fetch --unshallow; actions/checkout: fetch-depth: 0)",
  };
}

function resolve(root: string, ref: string): string | null {
  if (ref === "" || ref.startsWith("-") || /[\0\n]/.test(ref)) return null;
  const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "-q", "--end-of-options", `${ref}^{commit}`]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}
