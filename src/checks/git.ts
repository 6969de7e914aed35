import type { Fact, GitFact } from "../kernel/types/run.ts";
import { lookAt } from "../store/files.ts";
import { isOwned } from "../store/place.ts";

/** Asks git about the tree. */
export function gatherGit(root: string): Fact<GitFact> {
  const status = git(root, ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"]);
  if (!status.ok) return status;
  const fields = status.value.split("\0");
  const oid = fields.find((field) => field.startsWith("# branch.oid "))?.slice("# branch.oid ".length) ?? "";
  const head = /^[0-9a-f]{7,64}$/.test(oid) ? oid : "";
  const on = fields.find((field) => field.startsWith("# branch.head "))?.slice("# branch.head ".length) ?? "";
  const branch = on === "(detached)" ? "" : on;
  const changed = changedPaths(fields).filter((path) => !isOwned(path));
  const time = head === "" ? { ok: true as const, value: "" } : git(root, ["log", "-1", "--format=%ct", head]);
  if (!time.ok) return time;
  const seconds = Number.parseInt(time.value, 10);
  const head_at = Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : "";
  const dirty = changed.length > 0;
  return { ok: true, value: { head, branch, head_at, dirty, changed: changed.slice(0, 5), ...hiddenPaths(root) } };
}

const MOST_HIDDEN = 1000;

/** `ls-files -v`: a small letter is assumed unchanged; S is skipped, as in sparse checkouts, where the file is not there. */
function hiddenPaths(root: string): { hidden?: string[] } {
  const listed = git(root, ["ls-files", "-v", "-z"]);
  if (!listed.ok) return {};
  const marked = listed.value.split("\0").filter((entry) => /^(?:[a-z]|S) /.test(entry));
  const hidden = marked.map((entry) => entry.slice(2)).filter((path) => lookAt(`${root}/${path}`));
  return hidden.length > MOST_HIDDEN ? {} : { hidden };
}

/** porcelain v2 -z: ordinary "1 … path", renamed "2 … path" + original as the next field, unmerged "u … path", "? path". */
function changedPaths(fields: string[]): string[] {
  const paths: string[] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    if (field.startsWith("1 ")) paths.push(field.split(" ").slice(8).join(" "));
    else if (field.startsWith("u ")) paths.push(field.split(" ").slice(10).join(" "));
    else if (field.startsWith("? ")) paths.push(field.slice(2));
    else if (field.startsWith("2 ")) {
      paths.push(field.split(" ").slice(9).join(" "));
      i += 1;
    }
  }
  return paths;
}

/**
 * Nothing the repository configures is run for it (fsmonitor, hooks, pagers). Bun's own spawn: node:child_process would
 * cost three milliseconds to load.
 */
export function spawnGit(root: string, args: string[], limits = { timeout: 10_000, maxBuffer: 16 << 20 }) {
  return Bun.spawnSync({
    cmd: ["git", "-c", "core.fsmonitor=false", "--no-pager", ...args],
    cwd: root,
    env: {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: process.env.HOME ?? "/",
      GIT_OPTIONAL_LOCKS: "0",
      LC_ALL: "C",
    },
    stdin: "ignore",
    ...limits,
  });
}

function git(root: string, args: string[]): Fact<string> {
  try {
    const { exitCode, stdout, stderr, exitedDueToTimeout } = spawnGit(root, args);
    if (exitedDueToTimeout) return { ok: false, why: "git did not answer in 10 s" };
    if (exitCode === 0) return { ok: true, value: stdout.toString() };
    return { ok: false, why: stderr.toString().trim().split("\n")[0] || `git exit ${exitCode}` };
  } catch (error) {
    return { ok: false, why: `git could not be run: ${error instanceof Error ? error.message : error}` };
  }
}
