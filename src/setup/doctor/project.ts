/** The project itself: switched on, known to git, out of git's sight, and the clock. */
import { isFolder } from "../../store/commits.ts";
import { readText } from "../../store/files.ts";
import { findGit } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { excludePlace, isOwned } from "../../store/owned.ts";
import { isOff } from "../../store/place.ts";
import { ageOf, clean, type Finding, type Ground, note, ok, shown, trouble } from "./finding.ts";
import { runBounded } from "./process.ts";

const MOST_SHOWN = 5;
const GIT_PATIENCE_MS = 3_000;
const SLOW_GIT = trouble(
  "git-slow",
  `git does not answer within ${GIT_PATIENCE_MS / 1000} s`,
  "look for a stuck git process, a dead network disk, or a file in .git that is none",
);
const START_OF_2025 = Date.UTC(2025, 0, 1);

export function checkOff({ root }: Ground): Finding[] {
  if (isOff(root)) return [note("off", "Pawl is switched off in this project", "`pawl on` switches it on")];
  return [ok("on", `Pawl is not switched off in ${clean(root, 200)}`)];
}

export async function checkGit(ground: Ground): Promise<Finding[]> {
  const { root } = ground;
  const repository = findGit(root) !== null;
  if (Bun.which("git", { PATH: ground.env.PATH ?? "" }) === null) {
    if (!repository) return [note("git-missing", "git is not on the PATH", "install git to let commits be checked")];
    return [trouble("git-missing", "git is not on the PATH: no commit can be checked", "install git, or fix PATH")];
  }
  if (!repository)
    return [note("git-none", "not a git repository: commits cannot be checked", "run `git init` if you want that")];
  const head = await git(ground, ["log", "-1", "--format=%ct"]);
  if (head.late) return [SLOW_GIT];
  if (head.code !== 0 && !head.err.includes("not have any commits yet"))
    return [trouble("git-refuses", `git cannot read this repository: ${clean(head.err, 160)}`, "fix what git reports")];
  return [
    ok("git", "git answers"),
    ...checkHead(ground, head.out),
    ...checkExclude(ground),
    ...(await checkSeen(ground)),
  ];
}

/** Asks without taking locks, and runs nothing that the repository configures. */
const git = ({ root, env }: Ground, args: string[]) =>
  runBounded(["git", "-c", "core.fsmonitor=false", "--no-pager", "--literal-pathspecs", ...args], {
    cwd: root,
    env: { PATH: env.PATH, HOME: env.HOME, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
    most: GIT_PATIENCE_MS,
  });

function checkHead({ now }: Ground, seconds: string): Finding[] {
  const ahead = Number.parseInt(seconds, 10) * 1000 - now;
  if (!(ahead > 60_000)) return [];
  const what = `the newest commit is ${ageOf(ahead)} in the future: whether a commit was made in a step is judged by time`;
  return [note("clock-commit", what, "set the clock; a commit from now on is dated rightly")];
}

export function checkClock({ now }: Ground): Finding[] {
  if (now >= START_OF_2025) return [];
  return [
    trouble(
      "clock",
      `the clock says ${new Date(now).toISOString().slice(0, 10)}`,
      "set the clock: runs are ordered by time",
    ),
  ];
}

// ── Out of git's sight ──────────────────────────────────────────────────────

function checkExclude(ground: Ground): Finding[] {
  if (!isFolder(join(ground.root, ".pawl"))) return [];
  const place = excludePlace(ground.root);
  if (place === null) return [];
  const file = readText(place.path);
  if (!file.ok && file.why !== "missing")
    return [
      note(
        "exclude",
        `${shown(place.path, ground)} cannot be used (${file.detail ?? file.why})`,
        "make it a plain file",
      ),
    ];
  const present = new Set(file.ok ? file.text.split(/\r?\n/) : []);
  const missing = place.lines.filter((line) => !present.has(line));
  if (missing.length === 0) return [ok("exclude", "git leaves Pawl's files out, for you only (info/exclude)")];
  const what = `${missing.length} of ${place.lines.length} lines are missing in git's info/exclude: Pawl's files may show up in git status`;
  return [note("exclude", what, "`pawl init` adds them; so does the next /complete-work")];
}

/** Owned files that git tracks or shows. */
async function checkSeen(ground: Ground): Promise<Finding[]> {
  const where = [".pawl", ".claude", "untracked"];
  const tracked = await git(ground, ["ls-files", "-z", "--", ...where]);
  const fresh = await git(ground, ["ls-files", "-z", "--others", "--exclude-standard", "--", ...where]);
  if (tracked.late || fresh.late) return [SLOW_GIT];
  const ours = ({ out }: { out: string }) => out.split("\0").filter((path) => path !== "" && isOwned(path));
  return [
    ...seen("git-tracked", "git tracks files of Pawl's", ours(tracked), "`git rm -r --cached <them>`, then commit"),
    ...seen("git-dirty", "git status shows files of Pawl's", ours(fresh), "`pawl init` adds them to info/exclude"),
  ];
}

function seen(id: string, what: string, paths: string[], remedy: string): Finding[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, MOST_SHOWN).map((path) => clean(path, 80));
  const rest = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : "";
  return [note(id, `${what}: ${names.join(", ")}${rest}`, remedy)];
}
