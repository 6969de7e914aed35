/** What a loop left in the repository's history. */
import { spawnGit } from "../checks/git.ts";

/** "": no repository, or nothing in it yet. */
export function headOf(root: string): string {
  const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "-q", "HEAD"]);
  return exitCode === 0 ? stdout.toString().trim() : "";
}

/** null: nobody can tell. */
export function commitsSince(root: string, head: string): number | null {
  if (head === "") return null;
  const { exitCode, stdout } = spawnGit(root, ["rev-list", "--count", `${head}..HEAD`]);
  const count = Number(stdout.toString().trim());
  return exitCode === 0 && Number.isSafeInteger(count) ? count : null;
}
