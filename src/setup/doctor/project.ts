/** The project itself: switched on, known to git, out of git's sight; a disk that can keep runs, and the clock. */
import { accessSync, constants, linkSync, statfsSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { isFolder } from "../../store/commits.ts";
import { errorCode, lookAt, messageOf, nearestThere, readText, removeQuietly, withTemp } from "../../store/files.ts";
import { findGit } from "../../store/git-dir.ts";
import { statePath } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { excludePlace, isOwned } from "../../store/owned.ts";
import { isOff } from "../../store/place.ts";
import {
  clean,
  type DoctorContext,
  type Finding,
  formatAge,
  MOST_SHOWN,
  note,
  ok,
  shortPath,
  trouble,
} from "./finding.ts";
import { runBounded } from "./process.ts";

export function checkOff({ root }: DoctorContext): Finding[] {
  if (isOff(root)) return note("off", "Pawl is switched off in this project", "`pawl on` switches it on");
  return ok("on", `Pawl is not switched off in ${clean(root, 200)}`);
}

export function checkShortcuts({ root, home }: DoctorContext): Finding[] {
  if (isOff(root, "shortcuts-off"))
    return ok("shortcuts-off", "one-key shortcuts are off here (`pawl add shortcuts` turns them on)");
  const files = {
    "~/.config/pawl/config.yaml": join(home, ".config/pawl/config.yaml"),
    "pawl.yaml": join(root, "pawl.yaml"),
  };
  const name = Object.entries(files).find(([, path]) => saysOff(path))?.[0];
  if (name === undefined) return [];
  return note("shortcuts-off", `${name} switches one-key shortcuts off`, "take `shortcuts: off` out of it");
}

function saysOff(path: string): boolean {
  const file = readText(path, 64 * 1024);
  return file.ok && /^shortcuts:\s*["']?off\b/m.test(file.text);
}

const START_OF_2025 = Date.UTC(2025, 0, 1);

export function checkClock({ now }: DoctorContext): Finding[] {
  const what = `the clock says ${new Date(now).toISOString().slice(0, 10)}`;
  return now >= START_OF_2025 ? [] : trouble("clock", what, "set the clock: runs are ordered by time");
}

// ── Git ─────────────────────────────────────────────────────────────────────

const GIT_TIMEOUT_MS = 3_000;

function slowGit(): Finding[] {
  const fix = "look for a stuck git process, a dead network disk, or a file in .git that is none";
  return trouble("git-slow", `git does not answer within ${GIT_TIMEOUT_MS / 1000} s`, fix);
}

export async function checkGit(ground: DoctorContext): Promise<Finding[]> {
  const repository = findGit(ground.root) !== null;
  if (Bun.which("git", { PATH: ground.env.PATH ?? "" }) === null) {
    if (!repository) return note("git-missing", "git is not on the PATH", "install git to let commits be checked");
    return trouble("git-missing", "git is not on the PATH: no commit can be checked", "install git, or fix PATH");
  }
  if (!repository)
    return note("git-none", "not a git repository: commits cannot be checked", "run `git init` if you want that");
  const head = await git(ground, ["log", "-1", "--format=%ct"]);
  if (head.late) return slowGit();
  if (head.code !== 0 && !head.err.includes("not have any commits yet"))
    return trouble("git-refuses", `git cannot read this repository: ${clean(head.err, 160)}`, "fix what git reports");
  return [
    ...ok("git", "git answers"),
    ...checkHead(ground, head.out),
    ...checkExclude(ground),
    ...(await checkVisible(ground)),
  ];
}

/** Asks without taking locks, and runs nothing that the repository configures. */
const git = ({ root, env }: DoctorContext, args: string[]) =>
  runBounded(["git", "-c", "core.fsmonitor=false", "--no-pager", "--literal-pathspecs", ...args], {
    cwd: root,
    env: { PATH: env.PATH, HOME: env.HOME, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
    most: GIT_TIMEOUT_MS,
  });

function checkHead({ now }: DoctorContext, seconds: string): Finding[] {
  const ahead = Number.parseInt(seconds, 10) * 1000 - now;
  if (!(ahead > 60_000)) return [];
  const what = `the newest commit is ${formatAge(ahead)} in the future: whether a commit was made in a step is judged by time`;
  return note("clock-commit", what, "set the clock; a commit from now on is dated rightly");
}

function checkExclude(ground: DoctorContext): Finding[] {
  const place = isFolder(join(ground.root, ".pawl")) ? excludePlace(ground.root) : null;
  if (place === null) return [];
  const file = readText(place.path);
  if (!file.ok && file.why !== "missing") {
    const what = `${shortPath(place.path, ground)} cannot be used (${file.detail ?? file.why})`;
    return note("exclude", what, "make it a plain file");
  }
  const present = new Set(file.ok ? file.text.split(/\r?\n/) : []);
  const missing = place.lines.filter((line) => !present.has(line));
  if (missing.length === 0) return ok("exclude", "git leaves Pawl's files out, for you only (info/exclude)");
  const what = `${missing.length} of ${place.lines.length} lines are missing in git's info/exclude: Pawl's files may show up in git status`;
  return note("exclude", what, "`pawl init` adds them; so does the next /complete-work");
}

/** Owned files that git tracks or shows. */
async function checkVisible(ground: DoctorContext): Promise<Finding[]> {
  const where = [".pawl", ".claude", "untracked"];
  const tracked = await git(ground, ["ls-files", "-z", "--", ...where]);
  const fresh = await git(ground, ["ls-files", "-z", "--others", "--exclude-standard", "--", ...where]);
  if (tracked.late || fresh.late) return slowGit();
  return [
    ...ownIn(tracked.out, "git-tracked", "git tracks files of Pawl's", "`git rm -r --cached <them>`, then commit"),
    ...ownIn(fresh.out, "git-dirty", "git status shows files of Pawl's", "`pawl init` adds them to info/exclude"),
  ];
}

function ownIn(listed: string, id: string, what: string, fix: string): Finding[] {
  const paths = listed.split("\0").filter((path) => path !== "" && isOwned(path));
  if (paths.length === 0) return [];
  const names = paths.slice(0, MOST_SHOWN).map((path) => clean(path, 80));
  const rest = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : "";
  return note(id, `${what}: ${names.join(", ")}${rest}`, fix);
}

// ── Disk: writable folders, hard links, room. What is tried is tried under a temporary name ─

const MB = 1024 * 1024;
const LITTLE = 200 * MB;
const TOO_LITTLE = 20 * MB;

export function checkDisk(ground: DoctorContext): Finding[] {
  const pawl = join(ground.root, ".pawl");
  const found = [
    ...checkFolder(ground, pawl, "no run can be kept in this project"),
    ...checkFolder(ground, statePath("sessions"), "no session can be bound to a run"),
    ...checkRoom(ground, ground.root),
    ...checkRoom(ground, statePath()),
  ];
  const bad = found.some(({ level }) => level === "trouble");
  if (!bad && lookAt(pawl)?.isDirectory()) found.push(...checkLinks(ground, pawl));
  const all = [...new Map(found.map((one) => [one.what, one])).values()];
  return all.length > 0 ? all : ok("disk", "the disk can be written, has room and hard links");
}

function checkFolder(ground: DoctorContext, path: string, means: string): Finding[] {
  const name = shortPath(path, ground);
  const found = lookAt(path);
  const link = `${name} is a symbolic link: Pawl writes through none, so ${means}`;
  if (found?.isSymbolicLink()) return trouble("disk-link", link, "make it a real folder");
  if (found && !found.isDirectory()) return trouble("disk-folder", `${name} is not a folder: ${means}`, "move it away");
  const nearest = nearestThere(path);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const what = `${shortPath(nearest, ground)} cannot be written (${errorCode(error)}): ${means}`;
    return trouble("disk-read-only", what, "fix its permissions, or use a disk that is not read-only");
  }
}

function checkLinks(ground: DoctorContext, folder: string): Finding[] {
  try {
    withTemp(folder, "", 0o600, tryLink, "unsynced");
    return [];
  } catch (error) {
    const what = `cannot create a hard link in ${shortPath(folder, ground)} (${clean(errorCode(error) || messageOf(error))}): Pawl cannot keep runs there`;
    return trouble("disk-links", what, "work on a file system that has hard links");
  }
}

function tryLink(temp: string): void {
  try {
    linkSync(temp, `${temp}-2`);
  } finally {
    removeQuietly(`${temp}-2`);
  }
}

function checkRoom(ground: DoctorContext, path: string): Finding[] {
  const disk = attempt(() => statfsSync(nearestThere(path)), null);
  const free = disk === null || disk.blocks === 0 ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize;
  if (free > LITTLE) return [];
  const say = free < TOO_LITTLE ? trouble : note;
  const what = `${Math.floor(free / MB)} MB are left on the disk of ${shortPath(path, ground)}`;
  return say("disk-room", what, "make room");
}
