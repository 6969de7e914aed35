/** Where approvals and the recorded environment of a project are kept: outside of it, for the person alone. */
import { attempt } from "../kernel/attempt.ts";
import { realpath } from "../native/disk.ts";
import { hashOf, lookAt, makeDirs, readText } from "./files.ts";
import { findGit, findGitDir } from "./git-dir.ts";
import { homeDir, PlaceError } from "./home.ts";
import { dirname, join } from "./names.ts";

export interface Store {
  /** the person's own folder of Pawl */
  share: string;
  trust: string;
  /** of this project */
  folder: string;
  key: string;
}

export function openStore(root: string): Store {
  const share = join(homeDir(), ".local/share/pawl");
  const trust = join(share, "trust");
  const here = realpath(root);
  const real = realOrSame(share);
  if (real === here || real.startsWith(`${here}/`))
    throw new PlaceError("the home folder lies inside the project: nothing in a project can approve its own commands");
  const key = trustKey(here);
  return { share, trust, folder: join(trust, hashOf(key)), key };
}

/** Throws where it would not count: a store that others can write to. */
export function openForWriting(root: string): Store {
  const store = openStore(root);
  for (const folder of [store.share, store.trust, store.folder]) makeDirs(folder, 0o700);
  const wrong = looseness(store);
  if (wrong !== null) throw new PlaceError(wrong);
  return store;
}

function realOrSame(path: string): string {
  const above = () => (path === "/" ? path : join(realOrSame(dirname(path)), path.slice(dirname(path).length)));
  return attempt(() => realpath(path), null) ?? above();
}

/**
 * All worktrees of a repository share its approvals. What merely says it belongs to a repository, as an unpacked archive
 * could, is on its own: git has to know it too.
 */
function trustKey(root: string): string {
  const git = findGit(root);
  if (!git || !belongsTo(git.top, git.common)) return root;
  return git.top === root ? git.common : `${git.common} ${root.slice(git.top.length)}`;
}

function belongsTo(top: string, common: string): boolean {
  const dot = join(top, ".git");
  if (lookAt(dot)?.isDirectory()) return common === dot;
  const gitDir = realpath(findGitDir(top) ?? top);
  const back = readText(join(gitDir, "gitdir"), 64 * 1024);
  return dirname(gitDir) === join(common, "worktrees") && back.ok && realOrSame(back.text.trim()) === dot;
}

/** Why nothing in the store can be believed; null: it is the person's alone. */
export function looseness({ share, trust, folder }: Store): string | null {
  for (const path of [share, join(share, "key"), trust, folder]) {
    const fault = findFault(path);
    if (fault !== null) return `${path} ${fault}: no approval counts`;
  }
  return null;
}

export function findFault(path: string): string | null {
  const found = lookAt(path);
  if (!found) return null;
  if (found.isSymbolicLink()) return "is a symbolic link";
  if (found.uid !== process.getuid?.()) return "belongs to another user";
  return (found.mode & 0o022) === 0 ? null : `can be written by others (mode ${(found.mode & 0o777).toString(8)})`;
}
