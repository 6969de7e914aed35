/** The tracker that people's own commands use: the one pawl.yaml names, or what is there. */
import type { Problem } from "../definitions/problem.ts";
import type { TrackerPlace } from "../definitions/project.ts";
import { realpath } from "../native/disk.ts";
import { ensureDir, insideRoot, linkIfFree, lookAt, withTemp } from "../store/files.ts";
import { inMainCheckout } from "../store/git-dir.ts";
import { homeDir } from "../store/home.ts";
import { dirname, join } from "../store/names.ts";
import { type Answer, beadsFolder, openTracker, type Tracker } from "./index.ts";
import { answering, fail, unwrap } from "./tracker.ts";

/** auto-workflow works through tasks: where it finds them, people do. */
const WORKS_THROUGH_TASKS = "auto-workflow";
const FILE = "session.md";
const NEW_FILE = "## Pending Tasks\n";

export const openProjectTracker = (root: string): Answer<Tracker> => answering(() => open(root, trackerPlace(root)));

/** A tracker whose program is missing must not look like a project without tasks. */
function open(root: string, place: TrackerPlace): Tracker {
  const opened = openTracker(root, place);
  return opened.kind === "absent" && isInProgram(root, place) ? fail("unsupported", opened.why) : unwrap(opened);
}

/** A remote at GitHub alone says nothing of tasks. */
const isInProgram = (root: string, { kind = "auto" }: TrackerPlace) =>
  kind === "auto" ? beadsFolder(root) !== null : kind !== "session-md";

/** A remote at GitHub is no wish to publish: there only what pawl.yaml names is written to. */
export function openForChanging(root: string): Answer<Tracker> {
  return answering(() => {
    const place = trackerPlace(root);
    const tracker = open(root, place);
    if (tracker.name !== "github" || place.kind === "github") return tracker;
    const rule = "nothing is written there unless pawl.yaml says `tracker: { kind: github }`";
    return fail("refused", `${tracker.why}, and ${rule}`);
  });
}

/** Where there are no tasks yet, a session.md for them is made. */
export function openForAdding(root: string): Answer<Tracker> {
  return answering(() => {
    const place = trackerPlace(root);
    if (isInProgram(root, place)) return open(root, place);
    const { path } = place;
    const file = { kind: "session-md" as const, ...(path && { path }) };
    const opened = openTracker(root, file);
    if (opened.kind !== "absent") return unwrap(opened);
    unwrap(answering(() => makeFile(inMainCheckout(root), path ?? FILE), `${path ?? FILE} cannot be created: `));
    return unwrap(openTracker(root, file));
  });
}

/** Without a pawl.yaml there is nothing to read, and what reads YAML takes longer to load than all the rest. */
function trackerPlace(root: string): TrackerPlace {
  if (lookAt(join(root, "pawl.yaml")) === undefined) return {};
  const { readProject } = require("../definitions/project.ts") as typeof import("../definitions/project.ts");
  const read = readProject(root);
  if ("errors" in read) return fail("error", read.errors.map(inOneLine).join("; "));
  const { tracker, workflows } = read.project;
  const { tracker: kind, path } = workflows[WORKS_THROUGH_TASKS]?.tasks ?? {};
  return tracker ?? { ...(kind && { kind }), ...(path && { path }) };
}

const inOneLine = ({ file, line, column, message, hint }: Problem) =>
  `${file}:${line}:${column}: ${message}${hint === "" ? "" : ` (${hint})`}`;

/** Another session may make it at the same time: then it is there, which is all we want. */
function makeFile(root: string, file: string): void {
  if (root === realpath(homeDir())) throw new Error("your home folder is not a project");
  const path = insideRoot(root, file);
  if (dirname(file) !== ".") ensureDir(root, dirname(file));
  withTemp(dirname(path), NEW_FILE, 0o644, (temp) => linkIfFree(temp, path));
}
