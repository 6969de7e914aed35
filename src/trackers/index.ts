/** Which tracker a project has. */
import { lookAt } from "../store/files.ts";
import { findGit, inMainCheckout } from "../store/git-dir.ts";
import { dirname, join } from "../store/names.ts";
import { ask, clock, findProgram, type ToolContext } from "./ask.ts";
import { beads } from "./beads.ts";
import { github } from "./github.ts";
import { sessionMd } from "./session-md.ts";
import { type Answer, absent, answering, refuse, type Tracker, unwrap } from "./tracker.ts";

export { withLock } from "./ask.ts";
export type { Answer, Tracker } from "./tracker.ts";

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
export const openTracker = (root: string, config: TrackerConfig): Answer<Tracker> =>
  answering(() => open(root, config));

function open(root: string, config: TrackerConfig): Tracker {
  const { kind = "auto" } = config;
  if (kind === "beads") return openBeads(root, config, "the project's configuration says so");
  if (kind === "session-md") return openSessionMd(root, config);
  if (kind === "github") return openGithub(root, config);
  const folder = beadsFolder(root);
  if (folder !== null) return openBeads(root, config, `its tasks are in ${folder}`);
  const file = answering(() => openSessionMd(root, config));
  if (file.kind !== "absent") return unwrap(file);
  const hub = answering(() => openGithub(root, config));
  return hub.kind === "absent" ? absent(`no .beads folder; ${file.why}; ${hub.why}`) : unwrap(hub);
}

function openBeads(root: string, config: TrackerConfig, why: string): Tracker {
  if (findProgram("bd", root) === null) absent(`${why}, but bd is not installed (not found in PATH)`);
  return beads(root, why, config.deadline_ms ?? DEADLINE_MS);
}

/** A worktree shares the folder of the main checkout. */
export function beadsFolder(root: string): string | null {
  const git = findGit(root);
  const places = [root, ...(git === null ? [] : [git.top, dirname(git.common)])];
  const found = places.find((place) => lookAt(join(place, ".beads"))?.isDirectory());
  return found === undefined ? null : join(found, ".beads");
}

/** A worktree shares the file of the main checkout: in a copy of its own it would claim what another one works on. */
function openSessionMd(root: string, { path, deadline_ms }: TrackerConfig): Tracker {
  const names = path === undefined ? FILES : [path];
  for (const place of new Set([inMainCheckout(root), root])) {
    const file = names.find((name) => lookAt(join(place, name)) !== undefined);
    if (file === undefined) continue;
    const where = place === root ? file : join(place, file);
    return sessionMd({ root: place, file, where, deadline_ms: deadline_ms ?? DEADLINE_MS });
  }
  return absent(`no ${names.join(" or ")}`);
}

function openGithub(root: string, { repo, deadline_ms = DEADLINE_MS }: TrackerConfig): Tracker {
  const name = repo ?? findRemote({ root, until: clock() + deadline_ms });
  if (!REPO.test(name)) refuse(name, "is not owner/name");
  if (findProgram("gh", root) === null) absent(`its tasks may be at ${name}, but gh is not installed`);
  return github(root, name, `its tasks are the issues of ${name}`, deadline_ms);
}

const REPO = /^(?:[A-Za-z0-9][A-Za-z0-9.-]*\/)?[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;

/** The remotes in gh's own order. */
const PREFERRED = ["upstream", "github", "origin"];
const URL =
  /^(?:(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/|(?:[^@/]+@)?([^/:]+):)([^/]+)\/([^/]+?)(?:\.git)?\/?$/;

function findRemote(at: ToolContext): string {
  const { stdout } = ask(at, "git", ["config", "--get-regexp", "^remote\\..*\\.url$"]);
  const remotes = stdout.split("\n").flatMap((line) => {
    const [, name = "", url = ""] = /^remote\.(.+)\.url (.+)$/.exec(line) ?? [];
    const parts = URL.exec(url);
    const host = parts?.[1] ?? parts?.[2] ?? "";
    return /(^|\.)github\.|\.ghe\.com$/i.test(host) ? [{ name, repo: `${host}/${parts![3]}/${parts![4]}` }] : [];
  });
  const rank = (name: string) => (PREFERRED.includes(name) ? PREFERRED.indexOf(name) : PREFERRED.length);
  const [first] = remotes.sort((a, b) => rank(a.name) - rank(b.name));
  return first?.repo ?? absent("no remote at GitHub");
}
