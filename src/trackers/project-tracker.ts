/** The tracker that people's own commands use: the one pawl.yaml names, or what is there. */
import type { Problem } from "../definitions/problem.ts";
import type { TrackerPlace } from "../definitions/project.ts";
import { link, realpath } from "../native/disk.ts";
import { ensureDir, errorCode, insideRoot, lookAt, messageOf, withTemp } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { dirname, join } from "../store/names.ts";
import { type Answer, beadsFolder, openTracker, type Tracker } from "./index.ts";

/** auto-workflow works through tasks: where it finds them, people do. */
const WORKS_THROUGH_TASKS = "auto-workflow";
const FILE = "session.md";
const NEW_FILE = "## Pending Tasks\n";

export function openProjectTracker(root: string): Answer<Tracker> {
  const place = placeOf(root);
  return place.kind === "ok" ? open(root, place.value) : place;
}

/** A tracker whose program is missing must not look like a project without tasks. */
function open(root: string, place: TrackerPlace): Answer<Tracker> {
  const opened = openTracker(root, place);
  return opened.kind === "absent" && isInProgram(root, place)
    ? { kind: "failed", code: "unsupported", why: opened.why }
    : opened;
}

/** A remote at GitHub alone says nothing of tasks. */
const isInProgram = (root: string, { kind = "auto" }: TrackerPlace) =>
  kind === "auto" ? beadsFolder(root) !== null : kind !== "session-md";

/** A remote at GitHub is no wish to publish: there only what pawl.yaml names is written to. */
export function openForChanging(root: string): Answer<Tracker> {
  const place = placeOf(root);
  if (place.kind !== "ok") return place;
  const opened = open(root, place.value);
  if (opened.kind !== "ok" || opened.value.name !== "github" || place.value.kind === "github") return opened;
  const why = `${opened.value.why}, and nothing is written there unless pawl.yaml says \`tracker: { kind: github }\``;
  return { kind: "failed", code: "refused", why };
}

/** Where there are no tasks yet, a session.md for them is made. */
export function openForAdding(root: string): Answer<Tracker> {
  const place = placeOf(root);
  if (place.kind !== "ok") return place;
  if (isInProgram(root, place.value)) return open(root, place.value);
  const { path } = place.value;
  const file = { kind: "session-md" as const, ...(path && { path }) };
  const opened = openTracker(root, file);
  if (opened.kind !== "absent") return opened;
  const made = makeFile(root, path ?? FILE);
  return made.kind === "ok" ? openTracker(root, file) : made;
}

/** Without a pawl.yaml there is nothing to read, and what reads YAML takes longer to load than all the rest. */
function placeOf(root: string): Answer<TrackerPlace> {
  if (lookAt(join(root, "pawl.yaml")) === undefined) return { kind: "ok", value: {} };
  const { readProject } = require("../definitions/project.ts") as typeof import("../definitions/project.ts");
  const read = readProject(root);
  if ("errors" in read) return { kind: "failed", code: "error", why: read.errors.map(inOneLine).join("; ") };
  const { tracker, workflows } = read.project;
  if (tracker) return { kind: "ok", value: tracker };
  const { tracker: kind, path } = workflows[WORKS_THROUGH_TASKS]?.tasks ?? {};
  return { kind: "ok", value: { ...(kind && { kind }), ...(path && { path }) } };
}

const inOneLine = ({ file, line, column, message, hint }: Problem) =>
  `${file}:${line}:${column}: ${message}${hint === "" ? "" : ` (${hint})`}`;

/** Another session may make it at the same time: then it is there, which is all we want. */
function makeFile(root: string, file: string): Answer<null> {
  try {
    if (root === realpath(homeDir())) throw new Error("your home folder is not a project");
    const path = insideRoot(root, file);
    if (dirname(file) !== ".") ensureDir(root, dirname(file));
    withTemp(dirname(path), NEW_FILE, 0o644, (temp) => linkUnlessThere(temp, path));
    return { kind: "ok", value: null };
  } catch (error) {
    return { kind: "failed", code: "error", why: `${file} cannot be created: ${messageOf(error)}` };
  }
}

function linkUnlessThere(temp: string, path: string): void {
  try {
    link(temp, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
