/** Which tracker a project has. */
import { lookAt, messageOf } from "../store/files.ts";
import { findGit } from "../store/git-dir.ts";
import { dirname, join } from "../store/names.ts";
import { type Asking, ask, clock, findProgram } from "./ask.ts";
import { beads } from "./beads.ts";
import { github } from "./github.ts";
import { sessionMd } from "./session-md.ts";
import { type Answer, absent, failed, ok, type Tracker, then } from "./types.ts";

export { withLock } from "./ask.ts";
export type { Answer, Tracker } from "./types.ts";

export interface TrackerConfig {
  kind?: "beads" | "github" | "session-md" | "auto";
  /** session.md's place below the root */
  path?: string;
  /** `owner/name` or `host/owner/name` */
  repo?: string;
  /** for each operation, however many calls it takes */
  deadline_ms?: number;
}

/** Below the ten seconds a hook may have. */
const DEADLINE_MS = 8_000;
const FILES = ["session.md", "agents/session.md"];

/**
 * A project that keeps its tasks in beads and has no `bd` at hand has no tracker: another one, found further down, would
 * have other tasks.
 */
export function openTracker(root: string, config: TrackerConfig): Answer<Tracker> {
  try {
    const { kind = "auto" } = config;
    if (kind === "beads") return openBeads(root, config, "the project's configuration says so");
    if (kind === "session-md") return openSessionMd(root, config);
    if (kind === "github") return openGithub(root, config);
    const folder = beadsFolder(root);
    if (folder !== null) return openBeads(root, config, `its tasks are in ${folder}`);
    const file = openSessionMd(root, config);
    if (file.kind !== "absent") return file;
    const hub = openGithub(root, config);
    return hub.kind === "absent" ? absent(`no .beads folder; ${file.why}; ${hub.why}`) : hub;
  } catch (error) {
    return failed("error", messageOf(error));
  }
}

function openBeads(root: string, config: TrackerConfig, why: string): Answer<Tracker> {
  if (findProgram("bd", root) === null) return absent(`${why}, but bd is not installed (not found in PATH)`);
  return ok(beads(root, why, config.deadline_ms ?? DEADLINE_MS));
}

/** A worktree shares the folder of the main checkout. */
export function beadsFolder(root: string): string | null {
  const git = findGit(root);
  const places = [root, ...(git === null ? [] : [git.top, dirname(git.common)])];
  const found = places.find((place) => lookAt(join(place, ".beads"))?.isDirectory());
  return found === undefined ? null : join(found, ".beads");
}

function openSessionMd(root: string, { path, deadline_ms }: TrackerConfig): Answer<Tracker> {
  const places = path === undefined ? FILES : [path];
  const found = places.find((place) => lookAt(join(root, place)) !== undefined);
  if (found === undefined) return absent(`no ${places.join(" or ")}`);
  return ok(sessionMd(root, found, `its tasks are in ${found}`, deadline_ms ?? DEADLINE_MS));
}

function openGithub(root: string, config: TrackerConfig): Answer<Tracker> {
  const until = clock() + (config.deadline_ms ?? DEADLINE_MS);
  const repo = config.repo === undefined ? remoteOf({ root, until }) : named(config.repo);
  return then(repo, (name) => {
    if (findProgram("gh", root) === null) return absent(`its tasks may be at ${name}, but gh is not installed`);
    return ok(github(root, name, `its tasks are the issues of ${name}`, config.deadline_ms ?? DEADLINE_MS));
  });
}

const REPO = /^(?:[A-Za-z0-9][A-Za-z0-9.-]*\/)?[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;

function named(repo: string): Answer<string> {
  return REPO.test(repo) ? ok(repo) : failed("bad-argument", `${JSON.stringify(repo.slice(0, 80))} is not owner/name`);
}

/** The remotes in gh's own order. */
const PREFERRED = ["upstream", "github", "origin"];
const URL =
  /^(?:(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/|(?:[^@/]+@)?([^/:]+):)([^/]+)\/([^/]+?)(?:\.git)?\/?$/;

function remoteOf(at: Asking): Answer<string> {
  return then(ask(at, "git", ["config", "--get-regexp", "^remote\\..*\\.url$"]), ({ stdout }) => {
    const remotes = stdout.split("\n").flatMap((line) => {
      const [, name = "", url = ""] = /^remote\.(.+)\.url (.+)$/.exec(line) ?? [];
      const parts = URL.exec(url);
      const host = parts?.[1] ?? parts?.[2] ?? "";
      return /(^|\.)github\.|\.ghe\.com$/i.test(host) ? [{ name, repo: `${host}/${parts![3]}/${parts![4]}` }] : [];
    });
    const rank = (name: string) => (PREFERRED.includes(name) ? PREFERRED.indexOf(name) : PREFERRED.length);
    const [first] = remotes.sort((a, b) => rank(a.name) - rank(b.name));
    return first === undefined ? absent("no remote at GitHub") : named(first.repo);
  });
}
