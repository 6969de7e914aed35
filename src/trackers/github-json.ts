/**
 * GitHub's issues as `gh` prints them, and the claims in their comments. GitHub has no claim of its own: a claim is a
 * comment, the server numbers comments in one order, and the first claim since the last release holds. Only people who
 * may write to the repository, and we ourselves, can claim; an edited comment counts for nothing.
 */

import type { Task } from "../kernel/types/task.ts";
import { isObject, parseJson } from "../store/files.ts";
import type { Said } from "./ask.ts";
import { type Answer, absent, type Failure, failed, ok } from "./types.ts";

export const FIELDS = "number,title,body,state,labels,assignees,milestone,createdAt,comments,url";

// ── Errors ──────────────────────────────────────────────────────────────────

const NOT_HERE =
  /Could not resolve to a Repository|not a git repository|no git remotes|none of the git remotes|has disabled issues/i;
const SAYS: [RegExp, Failure][] = [
  [/unknown (json field|flag|command|shorthand)/i, "unsupported"],
  [/Could not resolve to an? (issue|pull)|issue not found|invalid issue/i, "unknown-id"],
  [/rate limit|HTTP 5\d\d|error connecting|dial tcp|timed? ?out|connection/i, "busy"],
  [/'.*' not found|could not add label|no milestone found|must have|not have permission|HTTP 403/i, "refused"],
];

export function complaint({ stderr, exit }: Said): Answer<never> {
  const text = stderr.trim().split("\n").filter(Boolean).slice(0, 3).join("; ").slice(0, 400);
  if (NOT_HERE.test(text)) return absent(`gh: ${text}`);
  // gh's own exit status for it
  if (exit === 4 || /gh auth login|HTTP 401/i.test(text)) return failed("error", `gh is not logged in: ${text}`);
  return failed(SAYS.find(([pattern]) => pattern.test(text))?.[1] ?? "error", `gh: ${text || `exit ${exit}`}`);
}

// ── Issues ──────────────────────────────────────────────────────────────────

/** A list or one issue; all or nothing. */
export function issuesIn(said: Said): Answer<Task[]> {
  if (said.exit !== 0) return complaint(said);
  const json = parseJson(said.stdout);
  if (json === undefined) return failed("malformed", `gh answered no JSON: ${said.stdout.trim().slice(0, 120)}`);
  const tasks = (Array.isArray(json) ? json : json === null ? [] : [json]).map(asTask);
  return tasks.includes(null) ? failed("malformed", "gh answered an issue without its fields") : ok(tasks as Task[]);
}

const textIn = (value: unknown) => (typeof value === "string" ? value : "");
const namesIn = (value: unknown, key: string) =>
  Array.isArray(value)
    ? value
        .filter(isObject)
        .map((one) => textIn(one[key]))
        .filter(Boolean)
    : [];

function asTask(value: unknown): Task | null {
  if (!isObject(value) || typeof value.number !== "number" || textIn(value.state) === "") return null;
  const labels = namesIn(value.labels, "name");
  const closed = textIn(value.state).toUpperCase() === "CLOSED";
  const holder = holderIn(value.comments);
  const state = closed ? closedAs(value) : holder ? "claimed" : labels.includes("blocked") ? "blocked" : "open";
  return {
    id: String(value.number),
    title: textIn(value.title),
    text: textIn(value.body),
    state,
    labels,
    priority: priorityOf(labels),
    owner: holder?.actor ?? namesIn(value.assignees, "login")[0] ?? null,
    created_at: textIn(value.createdAt),
    epic: isObject(value.milestone) ? textIn(value.milestone.title) || null : null,
    blocked_by: blockersIn(textIn(value.body)),
    ...(holder !== null && { claimed_at: holder.at, claimed_on: holder.machine }),
  };
}

const closedAs = (value: Record<string, unknown>) =>
  /not_?planned/i.test(textIn(value.stateReason)) ? ("dropped" as const) : ("closed" as const);

const WORDS: Record<string, number> = { critical: 0, urgent: 0, high: 1, medium: 2, low: 3 };

function priorityOf(labels: string[]): number {
  for (const label of labels) {
    const found = /^(?:p|priority[:/ -]? ?p?)([0-4])$/i.exec(label)?.[1];
    if (found !== undefined) return Number(found);
    const word = /^priority[:/ -] ?(critical|urgent|high|medium|low)$/i.exec(label)?.[1];
    if (word !== undefined) return WORDS[word.toLowerCase()]!;
  }
  return 2;
}

export const isPriority = (label: string) => /^p[0-4]$/.test(label);

/** Lines such as "Blocked by: #12, #13" or "Depends on other/repo#4". */
function blockersIn(body: string): string[] {
  const lines = body.match(/^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?(?:blocked by|depends on)\b.*$/gim) ?? [];
  const named = lines.flatMap((line) => line.slice(0, 500).match(/(?:[\w.-]+\/[\w.-]+)?#\d+/g) ?? []);
  return [...new Set(named.map((ref) => ref.replace(/^#/, "")))];
}

// ── Claims ──────────────────────────────────────────────────────────────────

interface Holder {
  actor: string;
  machine: string;
  at: string;
}

const MARK = /^<!-- pawl:(claim|release) (\S+) (\S+) -->/;

export function claimComment(actor: string, machine: string): string {
  return `<!-- pawl:claim ${actor} ${machine} -->\nPawl works on this: session ${actor} on ${machine}.`;
}

export function releaseComment(actor: string, machine: string): string {
  return `<!-- pawl:release ${actor} ${machine} -->\nPawl no longer works on this (session ${actor} on ${machine}).`;
}

/** The number GitHub gave a comment: they only grow. */
export const commentNumber = (url: string) => Number(/#issuecomment-(\d+)/.exec(url)?.[1] ?? 0);

const MAY_CLAIM = /^(OWNER|MEMBER|COLLABORATOR)$/;

function holderIn(comments: unknown): Holder | null {
  const known = Array.isArray(comments) ? comments.filter(isObject) : [];
  const marks = known
    .filter((one) => one.includesCreatedEdit !== true)
    .filter((one) => one.viewerDidAuthor === true || MAY_CLAIM.test(textIn(one.authorAssociation)))
    .flatMap((one) => {
      const mark = MARK.exec(textIn(one.body));
      return mark ? [{ mark, at: textIn(one.createdAt), number: commentNumber(textIn(one.url)) }] : [];
    })
    .sort((a, b) => a.number - b.number);
  let holder: Holder | null = null;
  for (const { mark, at } of marks) {
    const [, verb, actor, machine] = mark as unknown as [string, string, string, string];
    if (verb === "claim") holder ??= { actor, machine, at };
    else if (holder?.actor === actor) holder = null;
  }
  return holder;
}
