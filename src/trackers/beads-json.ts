/**
 * What `bd` says, in all the forms its versions use: a bare list, one object, an envelope with `data`, null for nothing,
 * warnings before the JSON, an error as JSON on stdout with any exit status, or plain words on stderr.
 */

import type { Task, TaskState } from "../kernel/types/task.ts";
import { isObject, parseJson } from "../store/files.ts";
import type { Said } from "./ask.ts";
import { type Answer, absent, type Failure, failed, ok } from "./types.ts";

type Json = Record<string, unknown>;

// ── Errors ──────────────────────────────────────────────────────────────────

const SAYS: [RegExp, Failure][] = [
  [/unknown (shorthand )?(flag|command)/i, "unsupported"],
  [/already claimed|claimed by/i, "taken"],
  [/ambiguous|multiple (issues )?match|matches \d+ issues/i, "ambiguous-id"],
  [/not claimable|cannot close|use --force|blocked by|open child|is pinned|template/i, "refused"],
  [/lock(ed|ing)?\b|daemon|connection refused|timed? ?out|deadline exceeded/i, "busy"],
  [/not found|no issues? found|resolving|no such issue|does not exist/i, "unknown-id"],
  [/invalid|cannot be empty|required/i, "bad-argument"],
];

/** bd's own words, and what they mean to us. */
export function complaint(words: string): Answer<never> {
  const json = findJson(words);
  const lines = (isObject(json) && typeof json.error === "string" ? json.error : words)
    .trim()
    .split("\n")
    .filter(Boolean);
  const errors = lines.filter((line) => !/^(warning|note|hint)\b/i.test(line));
  const text = (errors.length > 0 ? errors : lines).slice(0, 3).join("; ").slice(0, 400);
  if (/no beads database found|no \.beads|not a beads/i.test(text)) return absent(`bd: ${text}`);
  const code = SAYS.find(([pattern]) => pattern.test(text))?.[1] ?? "error";
  return failed(code, `bd: ${text || "it failed without a message"}`);
}

// ── Shapes ──────────────────────────────────────────────────────────────────

/** The payload of an answer that is one; an error in it counts whatever the exit status says. */
export function payloadOf(said: Said): Answer<unknown> {
  const json = findJson(said.stdout);
  if (json === undefined) {
    if (said.exit !== 0 || said.stdout.trim() === "")
      return complaint(said.stderr || said.stdout || `exit ${said.exit}`);
    return failed("malformed", `the answer of bd is not JSON: ${said.stdout.trim().slice(0, 120)}`);
  }
  const error = isObject(json) ? json.error : undefined;
  // Of an id that could be several, stdout says only that none was found.
  if (typeof error === "string" && error !== "") return complaint(/ambiguous/i.test(said.stderr) ? said.stderr : error);
  return ok(isObject(json) && "data" in json && !("id" in json) ? json.data : json);
}

const MOST_BEGINNINGS = 20;

/** undefined: none. Some versions print warnings before it, or a note behind it. */
function findJson(text: string): unknown {
  const whole = parseJson(text.replace(/^\uFEFF/, ""));
  if (whole !== undefined) return whole;
  for (const begin of text.matchAll(/^(?=[[{]|null\s*$)/gm).take(MOST_BEGINNINGS)) {
    const rest = text.slice(begin.index);
    const end = Math.max(rest.lastIndexOf("]"), rest.lastIndexOf("}")) + 1;
    const found = parseJson(rest) ?? parseJson(rest.slice(0, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All or nothing: a list with one entry we cannot read is no list. */
export function issuesOf(payload: unknown): Answer<Task[]> {
  const list = listIn(payload);
  if (list === null) return failed("malformed", "the answer of bd has no list of issues");
  const tasks = list.map(asTask);
  if (tasks.includes(null)) return failed("malformed", "bd returned an issue without id or title");
  return ok(tasks as Task[]);
}

function listIn(payload: unknown): unknown[] | null {
  if (payload === null) return [];
  if (Array.isArray(payload)) return payload;
  if (!isObject(payload)) return null;
  if (typeof payload.id === "string") return [payload];
  const inner = payload.issues ?? payload.closed ?? payload.updated;
  return Array.isArray(inner) ? inner : null;
}

// ── Issues ──────────────────────────────────────────────────────────────────

/** Anything else, custom ones too, is nothing to begin with. */
const STATES: Record<string, TaskState> = {
  open: "open",
  in_progress: "claimed",
  hooked: "claimed",
  closed: "closed",
  tombstone: "dropped",
};
/** Kinds of dependencies that hold nothing up. */
const HARMLESS = /^(parent-child|related|relates-to|discovered-from|duplicates|supersedes|replies-to)$/;

const textIn = (value: unknown) => (typeof value === "string" ? value : "");

function asTask(value: unknown): Task | null {
  if (!isObject(value) || textIn(value.id) === "" || textIn(value.title) === "") return null;
  const status = textIn(value.status) || "open";
  const { owner, machine } = splitActor(textIn(value.assignee));
  const open = STATES[status] ?? "blocked";
  const state = open === "open" && owner !== null ? "claimed" : open;
  const claimed = textIn(value.started_at) || textIn(value.updated_at);
  return {
    id: textIn(value.id),
    title: textIn(value.title),
    text: bodyOf(value),
    state,
    labels: Array.isArray(value.labels) ? value.labels.filter((label) => typeof label === "string") : [],
    priority: priorityOf(value.priority),
    owner,
    created_at: textIn(value.created_at),
    epic: parentOf(value),
    blocked_by: blockersOf(value),
    ...(state === "claimed" && claimed !== "" && { claimed_at: claimed }),
    ...(machine !== null && { claimed_on: machine }),
  };
}

const priorityOf = (value: unknown) =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 4 ? value : 2;

/** `pawl-1a2b3c4d@laptop-3f2a`: two sessions of one person are two actors, and a dead one's machine is known. */
function splitActor(assignee: string): { owner: string | null; machine: string | null } {
  const ours = /^(pawl-[^@\s]+)@(\S+)$/.exec(assignee);
  return { owner: ours?.[1] ?? (assignee === "" ? null : assignee), machine: ours?.[2] ?? null };
}

/** A person is the same one on every machine. */
export const joinActor = (actor: string, here: string) => (actor.startsWith("pawl-") ? `${actor}@${here}` : actor);

function bodyOf(value: Json): string {
  const parts = [textIn(value.description)];
  for (const [key, title] of [
    ["design", "Design"],
    ["acceptance_criteria", "Acceptance criteria"],
    ["notes", "Notes"],
  ] as const) {
    if (textIn(value[key]) !== "") parts.push(`## ${title}\n${textIn(value[key])}`);
  }
  return parts.filter(Boolean).join("\n\n");
}

const dependenciesOf = (value: Json) => (Array.isArray(value.dependencies) ? value.dependencies.filter(isObject) : []);
const typeOf = (dependency: Json) => textIn(dependency.dependency_type) || textIn(dependency.type);
const targetOf = (dependency: Json) => textIn(dependency.depends_on_id) || textIn(dependency.id);

function parentOf(value: Json): string | null {
  const parent = dependenciesOf(value).find((dependency) => typeOf(dependency) === "parent-child");
  return textIn(value.parent) || (parent === undefined ? "" : targetOf(parent)) || null;
}

/** `show` gives the issues it waits for with their status, `list` only their ids: those count as unfinished. */
function blockersOf(value: Json): string[] {
  const waiting = dependenciesOf(value).filter(
    (dependency) => !HARMLESS.test(typeOf(dependency)) && !/^(closed|tombstone)$/.test(textIn(dependency.status)),
  );
  const named = Array.isArray(value.blocked_by) ? value.blocked_by.filter((id) => typeof id === "string") : [];
  return [...new Set([...waiting.map(targetOf).filter(Boolean), ...named])];
}
