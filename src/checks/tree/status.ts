/** What on disk differs from git's index: git's own answer, taken apart. */
import { lstatSync, type Stats } from "node:fs";
import { askGit, type GitCall, type Repo, readable, type Settings, toBytes } from "./git.ts";
import { REPOSITORY } from "./index.ts";

/** More than this is not read: such files should be ignored by git. */
const MOST_BYTES = 512 << 20;

export interface Look {
  repo: Repo;
  settings: Settings;
  /** a folder for this look only */
  temp: string;
  /** the index (a private one before anything writes), where new objects go (the caller's folder, or `temp`), filters off */
  call: GitCall & { index: string };
  /** whether the caller keeps the objects */
  kept: boolean;
  isOwn(path: string): boolean;
}

export interface DiskChanges {
  removed: string[];
  /** changed and new files and links */
  files: Map<string, Stats>;
  /** repositories that the index does not have, or has with another commit */
  repositories: string[];
}

const STATUS = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];

export function readStatus({ repo, call, isOwn }: Look): DiskChanges {
  const below = repo.prefix === "" ? [] : ["--", readable(repo.prefix.slice(0, -1))];
  const out = askGit(repo, ["--literal-pathspecs", ...STATUS, ...below], call);
  const changes: DiskChanges = { removed: [], files: new Map(), repositories: [] };
  let bytes = 0;
  for (const { path, mode } of out.split("\0").flatMap(parseField)) {
    if (isOwn(path)) continue;
    if (mode === 0) changes.removed.push(path);
    else if (mode === REPOSITORY) changes.repositories.push(path);
    else {
      const stats = lstatSync(onDisk(repo, path));
      bytes += stats.size;
      changes.files.set(path, stats);
    }
  }
  if (bytes > MOST_BYTES)
    throw new Error(`more than ${MOST_BYTES >> 20} MB of changed or new files that git does not ignore`);
  return changes;
}

const NEW_FILE = 0o100644;

/**
 * "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path", "? path", where mW is the mode on disk, 0 for a
 * missing file. The second of XY is about the disk. An untracked path that ends with a slash is a repository.
 */
function parseField(field: string): { path: string; mode: number }[] {
  if (field.startsWith("? "))
    return field.endsWith("/")
      ? [{ path: field.slice(2, -1), mode: REPOSITORY }]
      : [{ path: field.slice(2), mode: NEW_FILE }];
  const unmerged = field.startsWith("u ");
  if (!unmerged && !(field.startsWith("1 ") && field[3] !== ".")) return [];
  const parts = field.split(" ");
  return [{ path: parts.slice(unmerged ? 10 : 8).join(" "), mode: Number.parseInt(parts[unmerged ? 6 : 5]!, 8) }];
}

export const onDisk = (repo: Repo, path: string) => Buffer.concat([Buffer.from(`${repo.top}/`), toBytes(path)]);
