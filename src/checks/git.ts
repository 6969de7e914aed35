import type { Fact, GitFact } from "../kernel/types/run.ts";
import { hashOf, lookAt, messageOf } from "../store/files.ts";
import { findGit, oddGitFile } from "../store/git-dir.ts";
import { isOwned } from "../store/place.ts";

/** Asks git about the tree. */
export function gatherGit(root: string): Fact<GitFact> {
  const place = findGit(root);
  const odd = place && oddGitFile(place);
  if (odd) return { ok: false, why: `${odd} is not a regular file` };
  const status = git(root, ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"]);
  if (!status.ok) return status;
  const fields = status.value.split("\0");
  const header = (name: string) => fields.find((field) => field.startsWith(name))?.slice(name.length) ?? "";
  const oid = header("# branch.oid ");
  const head = /^[0-9a-f]{7,64}$/.test(oid) ? oid : "";
  const branch = header("# branch.head ").replace("(detached)", "");
  const changed = changedPaths(fields).filter((path) => !isOwned(path));
  const time = head === "" ? { ok: true as const, value: "" } : git(root, ["log", "-1", "--format=%ct", head]);
  if (!time.ok) return time;
  const seconds = Number.parseInt(time.value, 10);
  const head_at = Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : "";
  const hidden = hiddenPaths(root);
  if (!hidden.ok) return hidden;
  const seen = { head, branch, head_at, dirty: changed.length > 0, changed: changed.slice(0, 5) };
  return { ok: true, value: { ...seen, hidden: hidden.value } };
}

const MOST_HIDDEN = 1000;

/** `ls-files -v`: a small letter is assumed unchanged; S is skipped, as in sparse checkouts, where the file is not there. */
function hiddenPaths(root: string): Fact<string[]> {
  const listed = git(root, ["ls-files", "-v", "-z"], { timeout: 10_000, maxBuffer: 256 << 20 });
  if (!listed.ok) return listed;
  const marked = listed.value.split("\0").filter((entry) => /^(?:[a-z]|S) /.test(entry));
  const hidden = marked.map((entry) => entry.slice(2)).filter((path) => lookAt(`${root}/${path}`));
  if (hidden.length <= MOST_HIDDEN) return { ok: true, value: hidden };
  // Every save of a run holds them, so these many are one name that is the same only for the same files.
  return { ok: true, value: [`${hidden.length} files (${hashOf(hidden.sort().join("\0")).slice(0, 12)})`] };
}

const WORDS_BEFORE_PATH: Record<string, number> = { "1 ": 8, "2 ": 9, "u ": 10, "? ": 1 };

/** porcelain v2 -z: ordinary "1 … path", renamed "2 … path" + original as the next field, unmerged "u … path", "? path". */
function changedPaths(fields: string[]): string[] {
  const paths: string[] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const before = WORDS_BEFORE_PATH[field.slice(0, 2)];
    if (before !== undefined) paths.push(field.split(" ").slice(before).join(" "));
    if (field.startsWith("2 ")) i += 1;
  }
  return paths;
}

/**
 * Nothing the repository configures is run for it (fsmonitor, hooks, pagers). Bun's own spawn: node:child_process would
 * cost three milliseconds to load.
 */
export function spawnGit(root: string, args: string[], limits = { timeout: 10_000, maxBuffer: 16 << 20 }) {
  return Bun.spawnSync({
    cmd: [gitProgram() ?? "git", "-c", "core.fsmonitor=false", "--no-pager", ...args],
    cwd: root,
    env: {
      PATH: GIT_PLACES,
      HOME: process.env.HOME ?? "/",
      GIT_OPTIONAL_LOCKS: "0",
      LC_ALL: "C",
    },
    stdin: "ignore",
    ...limits,
  });
}

/** git is a witness: the caller's PATH chooses it only where it is in none of the usual places. */
export const GIT_PLACES = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/** null: it is not installed. */
export const gitProgram = (): string | null =>
  Bun.which("git", { PATH: GIT_PLACES }) ?? Bun.which("git", { PATH: process.env.PATH ?? "" });

function git(root: string, args: string[], limits?: Parameters<typeof spawnGit>[2]): Fact<string> {
  try {
    const { exitCode, stdout, stderr, exitedDueToTimeout } = spawnGit(root, args, limits);
    if (exitedDueToTimeout) return { ok: false, why: "git did not answer in 10 s" };
    if (exitCode === 0) return { ok: true, value: stdout.toString() };
    return { ok: false, why: stderr.toString().trim().split("\n")[0] || `git exit ${exitCode}` };
  } catch (error) {
    return { ok: false, why: `git could not be run: ${messageOf(error)}` };
  }
}
