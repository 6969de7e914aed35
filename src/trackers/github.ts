/** Tasks in GitHub's issues, by its program `gh`. What counts is what an issue shows after it was written. */

import type { Scope, Task } from "../kernel/types/task.ts";
import { isObject, parseJson } from "../store/files.ts";
import { ask, clock, type ToolContext, type ToolOutput } from "./ask.ts";
import { compareTasks, heldBy, inScope, isElsewhere, isFinished, labelsToAsk, matches } from "./core/tasks.ts";
import {
  absent,
  answering,
  checkLabels,
  type Failure,
  type Filter,
  fail,
  flags,
  hasFailed,
  makeTracker,
  type NewTask,
  refuse,
  type TaskChange,
  type Tracker,
  textIn,
  unwrap,
} from "./tracker.ts";

interface GithubContext extends ToolContext {
  repo: string;
  here: string;
}

/** gh has no "all"; a repository with more gets an error that says so. */
const MOST_ISSUES = 500;
/** Issues that others wait for, looked up one by one. */
const MOST_BLOCKERS = 20;
/** A fresh comment may take a moment to be shown. */
const LOOKS = 4;
const LOOK_AGAIN_MS = 250;
const NOT_ATOMIC = "GitHub cannot claim atomically, so Pawl works on its issues from one machine only";

export function github(root: string, repo: string, why: string, deadline_ms: number): Tracker {
  return makeTracker({ name: "github", why, where: repo, atomic: false }, (here) => {
    const begin = (): GithubContext => ({ root, until: clock() + deadline_ms, repo, here });
    return {
      list: (filter) => list(begin(), filter),
      ready: (scope) => ready(begin(), scope),
      show: (id) => viewSettled(begin(), parseNumber(id)),
      claim: (id, actor) => claim(begin(), parseNumber(id), actor),
      close: (id, reason) => close(begin(), parseNumber(id), reason),
      reopen: (id) => reopen(begin(), parseNumber(id)),
      create: (task) => create(begin(), task),
      update: (id, change) => update(begin(), parseNumber(id), change),
      label: (id, add, remove) => label(begin(), parseNumber(id), add, remove),
      comment: (id, text) => comment(begin(), parseNumber(id), text),
    };
  });
}

const parseNumber = (id: string): string =>
  /^#?([1-9]\d{0,9})$/.exec(id)?.[1] ?? refuse(id, "is not the number of an issue");

// ── Asking ──────────────────────────────────────────────────────────────────

const issue = (at: GithubContext, args: string[]): ToolOutput => ask(at, "gh", ["issue", ...args, "--repo", at.repo]);

/** Old versions do not know why an issue was closed. */
function read(at: GithubContext, args: string[]): Task[] {
  const first = answering(() => issuesIn(issue(at, [...args, "--json", `${FIELDS},stateReason`])));
  return hasFailed(first, "unsupported") ? issuesIn(issue(at, [...args, "--json", FIELDS])) : unwrap(first);
}

function view(at: GithubContext, number: string): Task {
  const task = read(at, ["view", number]).find((one) => one.id === number);
  return task ?? fail("unknown-id", `gh found no issue ${number}`);
}

const viewSettled = (at: GithubContext, number: string): Task => settleBlockers(at, view(at, number));

function changed(at: GithubContext, number: string, args: string[], isDone: (task: Task) => boolean): Task {
  const said = issue(at, args);
  const task = view(at, number);
  if (isDone(task)) return task;
  return said.exit === 0 ? fail("not-done", `gh reported success, but issue ${number} did not change`) : complain(said);
}

// ── Reading ─────────────────────────────────────────────────────────────────

function list(at: GithubContext, filter: Filter): Task[] {
  const [label] = labelsToAsk(filter.label === undefined ? [] : [filter.label]);
  const state = filter.state === "closed" || filter.state === "dropped" ? "closed" : "open";
  checkLabels([label]);
  return listBy(at, label, state)
    .filter((task) => matches(task, filter))
    .sort(compareTasks);
}

function listBy(at: GithubContext, label: string | undefined, state: "open" | "closed"): Task[] {
  const tasks = read(at, ["list", "--state", state, "--limit", String(MOST_ISSUES), ...flags({ label })]);
  if (tasks.length < MOST_ISSUES || state === "closed") return tasks;
  return fail("too-large", `${at.repo} has ${MOST_ISSUES} or more open issues: narrow them down with a label`);
}

/** One question for each label: gh joins several with "and". */
function ready(at: GithubContext, scope: Scope): Task[] {
  const questions = labelsToAsk(scope.labels);
  checkLabels(questions);
  const listed = questions.flatMap((label) => listBy(at, label, "open")).filter((task) => inScope(task, scope));
  const known = new Map(listed.map((task) => [task.id, task]));
  const tasks = [...known.values()];
  const away = tasks.find((task) => isElsewhere(task, at.here));
  if (away !== undefined) fail("other-machine", `${heldBy(away)}; ${NOT_ATOMIC}`);
  return tasks
    .filter(({ state }) => state === "open")
    .map((task) => settleBlockers(at, task, known))
    .filter(({ blocked_by }) => blocked_by.length === 0)
    .sort(compareTasks);
}

/** Leaves those that are not closed. What cannot be found is not known to be closed. */
function settleBlockers(at: GithubContext, task: Task, known = new Map<string, Task>()): Task {
  const left: string[] = [];
  for (const id of task.blocked_by) {
    if (!known.has(id) && /^\d+$/.test(id)) {
      if (known.size > MOST_ISSUES + MOST_BLOCKERS) fail("too-large", "too many issues wait for others");
      const seen = answering(() => view(at, id));
      if (!hasFailed(seen, "unknown-id")) known.set(id, unwrap(seen));
    }
    const blocker = known.get(id);
    if (blocker === undefined || !isFinished(blocker)) left.push(id);
  }
  return { ...task, blocked_by: left };
}

// ── Claiming ────────────────────────────────────────────────────────────────

function claim(at: GithubContext, number: string, actor: string): Task {
  const task = viewSettled(at, number);
  if (task.state === "claimed") return judged(at, task, actor);
  if (task.state !== "open") fail("refused", `${task.id} is ${task.state}`);
  if (task.blocked_by.length > 0) fail("refused", `${task.id} waits for ${task.blocked_by.join(", ")}`);
  say(at, number, `<!-- pawl:claim ${actor} ${at.here} -->\nPawl works on this: session ${actor} on ${at.here}.`);
  // Until the claim shows: ours, or another that was first.
  let now = view(at, number);
  for (let looks = 1; looks < LOOKS && now.state === "open"; looks++) {
    Bun.sleepSync(LOOK_AGAIN_MS);
    now = view(at, number);
  }
  const verdict = answering(() => judged(at, now, actor));
  // Nothing depends on the assignee. A lost claim is released after the winner's: no one must wait for it.
  answering(() =>
    verdict.kind === "ok"
      ? issue(at, ["edit", number, "--add-assignee", "@me"])
      : say(at, number, releaseComment(actor, at.here)),
  );
  return unwrap(verdict);
}

function judged(at: GithubContext, task: Task, actor: string): Task {
  if (isElsewhere(task, at.here)) fail("other-machine", `${heldBy(task)}; ${NOT_ATOMIC}`);
  if (task.state === "claimed" && task.owner === actor) return task;
  if (task.state === "claimed") fail("taken", heldBy(task));
  return fail("not-done", `the claim of ${task.id} is not visible`);
}

// ── Writing ─────────────────────────────────────────────────────────────────

function say(at: GithubContext, number: string, text: string): void {
  const said = issue(at, ["comment", number, `--body=${text}`]);
  if (said.exit !== 0) complain(said);
  if (commentNumber(said.stdout) === 0) fail("not-done", `gh returned no new comment on ${number}`);
}

function close(at: GithubContext, number: string, reason: string, as = "completed"): Task {
  const note = reason.trim() === "" ? [] : [`--comment=${reason}`];
  const task = view(at, number);
  return isFinished(task) ? task : changed(at, number, ["close", number, "--reason", as, ...note], isFinished);
}

function reopen(at: GithubContext, number: string): Task {
  const task = view(at, number);
  const now = isFinished(task) ? changed(at, number, ["reopen", number], (one) => !isFinished(one)) : task;
  return now.state === "claimed" ? release(at, now) : now;
}

function release(at: GithubContext, task: Task): Task {
  say(at, task.id, releaseComment(task.owner ?? "", task.claimed_on ?? at.here));
  if (task.claimed_on === at.here) answering(() => issue(at, ["edit", task.id, "--remove-assignee", "@me"]));
  const now = view(at, task.id);
  return now.state === "claimed" ? fail("not-done", `${task.id} is still claimed by ${now.owner}`) : now;
}

function create(
  at: GithubContext,
  { title, text = "", labels = [], priority = 2, epic, blocked_by = [] }: NewTask,
): Task {
  const all = priority === 2 ? labels : [...labels, `p${priority}`];
  const waits = blocked_by.length === 0 ? "" : `\n\nBlocked by: ${blocked_by.map((id) => `#${id}`).join(", ")}`;
  const body = (text + waits).trim();
  const args = flags({ title, body, label: all.join(",") || undefined, milestone: epic || undefined });
  const said = issue(at, ["create", ...args]);
  if (said.exit !== 0) complain(said);
  const number = /\/issues\/(\d+)\s*$/.exec(said.stdout)?.[1];
  return view(at, number ?? fail("malformed", "gh created an issue but did not return its id"));
}

function update(at: GithubContext, number: string, { title, text, priority, state }: TaskChange): Task {
  const edits = flags({ title, body: text });
  const isDone = (task: Task) =>
    (title === undefined || task.title === title) && (text === undefined || task.text === text);
  const edited = edits.length === 0 ? view(at, number) : changed(at, number, ["edit", number, ...edits], isDone);
  const task = prioritise(at, edited, priority);
  if (state === "dropped") return close(at, number, "", "not planned");
  if (state === "blocked") return label(at, number, ["blocked"], []);
  if (state === undefined) return task;
  label(at, number, [], ["blocked"]);
  return reopen(at, number);
}

/** The middle one is what nothing is said of. */
function prioritise(at: GithubContext, task: Task, priority: number | undefined): Task {
  if (priority === undefined || priority === task.priority) return task;
  const add = priority === 2 ? [] : [`p${priority}`];
  const now = label(at, task.id, add, task.labels.filter(isPriority));
  return now.priority === priority ? now : fail("refused", `another label of ${task.id} says p${now.priority}`);
}

/** gh refuses labels the repository does not have; making one is the person's choice. */
function label(at: GithubContext, number: string, add: string[], remove: string[]): Task {
  const task = view(at, number);
  const more = add.filter((one) => !task.labels.includes(one));
  const less = remove.filter((one) => task.labels.includes(one) && !add.includes(one));
  if (more.length + less.length === 0) return task;
  const args = [...more.map((one) => `--add-label=${one}`), ...less.map((one) => `--remove-label=${one}`)];
  const isDone = (now: Task) =>
    more.every((one) => now.labels.includes(one)) && !less.some((one) => now.labels.includes(one));
  return changed(at, number, ["edit", number, ...args], isDone);
}

function comment(at: GithubContext, number: string, text: string): Task {
  say(at, number, text);
  return view(at, number);
}

// ── What gh says ────────────────────────────────────────────────────────────

export const FIELDS = "number,title,body,state,labels,assignees,milestone,createdAt,comments,url";

const NOT_HERE =
  /Could not resolve to a Repository|not a git repository|no git remotes|none of the git remotes|has disabled issues/i;
const SAYS: [RegExp, Failure][] = [
  [/unknown (json field|flag|command|shorthand)/i, "unsupported"],
  [/Could not resolve to an? (issue|pull)|issue not found|invalid issue/i, "unknown-id"],
  [/rate limit|HTTP 5\d\d|error connecting|dial tcp|timed? ?out|connection/i, "busy"],
  [/'.*' not found|could not add label|no milestone found|must have|not have permission|HTTP 403/i, "refused"],
];

function complain({ stderr, exit }: ToolOutput): never {
  const text = stderr.trim().split("\n").filter(Boolean).slice(0, 3).join("; ").slice(0, 400);
  if (NOT_HERE.test(text)) absent(`gh: ${text}`);
  // gh's own exit status for it
  if (exit === 4 || /gh auth login|HTTP 401/i.test(text)) fail("error", `gh is not logged in: ${text}`);
  return fail(SAYS.find(([pattern]) => pattern.test(text))?.[1] ?? "error", `gh: ${text || `exit ${exit}`}`);
}

// ── Issues ──────────────────────────────────────────────────────────────────

/** A list or one issue; all or nothing. */
function issuesIn(said: ToolOutput): Task[] {
  if (said.exit !== 0) complain(said);
  const json = parseJson(said.stdout);
  if (json === undefined) fail("malformed", `gh answered no JSON: ${said.stdout.trim().slice(0, 120)}`);
  const list = Array.isArray(json) ? json : json === null ? [] : [json];
  return list.map((one) => asTask(one) ?? fail("malformed", "gh answered an issue without its fields"));
}

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
  // Lines such as "Blocked by: #12, #13" or "Depends on other/repo#4".
  const body = textIn(value.body);
  const lines = body.match(/^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?(?:blocked by|depends on)\b.*$/gim) ?? [];
  const named = lines.flatMap((line) => line.slice(0, 500).match(/(?:[\w.-]+\/[\w.-]+)?#\d+/g) ?? []);
  return {
    id: String(value.number),
    title: textIn(value.title),
    text: textIn(value.body),
    state,
    labels,
    priority: readPriority(labels),
    owner: holder?.actor ?? namesIn(value.assignees, "login")[0] ?? null,
    created_at: textIn(value.createdAt),
    epic: isObject(value.milestone) ? textIn(value.milestone.title) || null : null,
    blocked_by: [...new Set(named.map((ref) => ref.replace(/^#/, "")))],
    ...(holder !== null && { claimed_at: holder.at, claimed_on: holder.machine }),
  };
}

const closedAs = (value: Record<string, unknown>) =>
  /not_?planned/i.test(textIn(value.stateReason)) ? ("dropped" as const) : ("closed" as const);

const WORDS: Record<string, number> = { critical: 0, urgent: 0, high: 1, medium: 2, low: 3 };

function readPriority(labels: string[]): number {
  for (const label of labels) {
    const found = /^(?:p|priority[:/ -]? ?p?)([0-4])$/i.exec(label)?.[1];
    if (found !== undefined) return Number(found);
    const word = /^priority[:/ -] ?(critical|urgent|high|medium|low)$/i.exec(label)?.[1];
    if (word !== undefined) return WORDS[word.toLowerCase()]!;
  }
  return 2;
}

const isPriority = (label: string) => /^p[0-4]$/.test(label);

// ── Claims ──────────────────────────────────────────────────────────────────
// GitHub has no claim of its own: a claim is a comment, the server numbers comments in one order, and the first claim
// since the last release holds. Only people who may write to the repository, and we ourselves, can claim; an edited
// comment counts for nothing.

interface Holder {
  actor: string;
  machine: string;
  at: string;
}

const MARK = /^<!-- pawl:(claim|release) (\S+) (\S+) -->/;

function releaseComment(actor: string, machine: string): string {
  return `<!-- pawl:release ${actor} ${machine} -->\nPawl no longer works on this (session ${actor} on ${machine}).`;
}

/** The number GitHub gave a comment: they only grow. */
const commentNumber = (url: string) => Number(/#issuecomment-(\d+)/.exec(url)?.[1] ?? 0);

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
