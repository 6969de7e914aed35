/**
 * A stand-in for `bd`, as far as Pawl asks it: the same shapes, words, exit statuses and traps as the real one (1.0.5;
 * `old`: as 0.30 was). BD_DOUBLE_FAULT chooses how it misbehaves; nothing else reads it.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { bare, counted, detailed, type Issue, openBlockers, resolve, type State } from "./bd-issues.ts";
import { type Args, Exit, hang, hasFault, parseArgs, run, transact } from "./state.ts";

export const FAULTS = [
  "no-database",
  "locked",
  "daemon",
  "null",
  "warn",
  "warn-stdout",
  "plain",
  "truncated",
  "nameless",
  "object",
  "envelope",
  "error-exit-0",
  "answer-exit-1",
  "silent",
  "stolen",
  "hang",
  "huge",
  "old",
  "environment",
  "warn-daemon",
] as const;

const VALUES = ["--label", "--limit", "--sort", "--status", "--assignee", "--actor", "--reason", "--title"];
VALUES.push("--description", "--priority", "--labels", "--parent", "--type");
const NO_JSON_BEFORE = ["label", "reopen", "comments", "dep"];

const faults = process.env.BD_DOUBLE_FAULT ?? "";
const [command = "help", ...rest] = process.argv.slice(2);
const fault = (name: (typeof FAULTS)[number]) => hasFault(faults, name, command);

// ── Looking up ──────────────────────────────────────────────────────────────

function folder(): string {
  for (let dir = process.cwd(); ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".beads")) && !fault("no-database")) return join(dir, ".beads");
    if (dir === dirname(dir) || fault("no-database"))
      throw new Exit(1, "", "Error: no beads database found\nHint: run 'bd init' to create a database here\n");
  }
}

// ── Shapes ──────────────────────────────────────────────────────────────────

/** Lists are bare, objects get a version, the envelope holds either. */
function json(payload: unknown): string {
  const known = Array.isArray(payload) && payload.length === 0 && fault("null") ? null : payload;
  const version = fault("old") ? {} : { schema_version: 1 };
  const whole = fault("envelope")
    ? { ...version, data: known }
    : Array.isArray(known) || known === null
      ? known
      : { ...version, ...(known as object) };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

// ── Commands ────────────────────────────────────────────────────────────────

type Command = (state: State, args: Args) => string;
const one = (args: Args, flag: string) => args.flags.get(flag)?.at(-1);
const now = () => new Date().toISOString();

function filtered(state: State, args: Args): Issue[] {
  const labels = args.flags.get("--label") ?? [];
  const status = one(args, "--status");
  return state.issues
    .filter((issue) => labels.every((label) => issue.labels.includes(label)))
    .filter((issue) => (status === undefined ? fault("old") || issue.status !== "closed" : issue.status === status));
}

function limited(issues: Issue[], args: Args, usual: number): Issue[] {
  const limit = Number(one(args, "--limit") ?? usual);
  return limit === 0 ? issues : issues.slice(0, limit);
}

const ready: Command = (state, args) => {
  const open = filtered(state, args).filter(
    (issue) => issue.status === "open" && openBlockers(state, issue).length === 0,
  );
  // The newest first, as the real one does.
  open.sort((a, b) => a.priority - b.priority || b.created_at.localeCompare(a.created_at) || a.id.localeCompare(b.id));
  return json(limited(open, args, fault("old") ? 10 : 100).map(counted));
};

const list: Command = (state, args) => json(limited(filtered(state, args), args, 50).map(counted));

const show: Command = (state, args) => {
  const found = args.words.map((id) => resolve(state, id));
  const errors = found
    .filter((each) => typeof each === "string")
    .map((why, at) => `Error fetching ${args.words[at]}: ${why}\n`);
  const issues = found.filter((each) => typeof each !== "string").map((issue) => detailed(state, issue));
  if (issues.length === 0)
    throw new Exit(1, json({ error: "no issues found matching the provided IDs" }), errors.join(""));
  if (errors.length > 0) process.stderr.write(errors.join(""));
  return fault("object") ? json(issues[0]) : json(issues);
};

function resolved(state: State, id: string): Issue {
  const found = resolve(state, id);
  if (typeof found === "string") throw new Exit(1, "", `Error resolving ${id}: ${found}\n`);
  return found;
}

const update: Command = (state, args) => {
  const issue = resolved(state, args.words[0]!);
  if (args.flags.has("--claim")) claim(issue, one(args, "--actor") ?? "unknown");
  const status = one(args, "--status");
  if (status !== undefined && !/^(open|in_progress|blocked|deferred|closed)$/.test(status))
    throw new Exit(1, json({ error: `invalid status "${status}"` }), "");
  const changes = {
    status,
    assignee: one(args, "--assignee"),
    title: one(args, "--title"),
    description: one(args, "--description"),
  };
  const priority = one(args, "--priority");
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0 && priority === undefined && !args.flags.has("--claim")) return "No updates specified\n";
  if (!fault("silent"))
    Object.assign(issue, Object.fromEntries(given), {
      updated_at: now(),
      ...(priority && { priority: Number(priority) }),
    });
  return json([bare(issue)]);
};

function claim(issue: Issue, actor: string): void {
  if (fault("stolen")) Object.assign(issue, { status: "in_progress", assignee: "somebody-else" });
  else if (issue.assignee !== "" && issue.assignee !== actor)
    throw new Exit(1, "", `Error claiming ${issue.id}: issue already claimed by ${issue.assignee}\n`);
  else if (issue.status !== "open" && !(issue.status === "in_progress" && issue.assignee === actor))
    throw new Exit(1, "", `Error claiming ${issue.id}: issue not claimable: status ${issue.status}\n`);
  else if (!fault("silent")) Object.assign(issue, { status: "in_progress", assignee: actor, started_at: now() });
}

const close: Command = (state, args) => {
  const issue = resolve(state, args.words[0]!);
  if (typeof issue === "string") throw new Exit(1, json({ error: `resolving ID ${args.words[0]}: ${issue}` }), "");
  const blockers = openBlockers(state, issue);
  if (blockers.length > 0)
    throw new Exit(
      1,
      "",
      `cannot close ${issue.id}: blocked by open issues [${blockers.join(" ")}] (use --force to override)\n`,
    );
  if (!fault("silent"))
    Object.assign(issue, { status: "closed", closed_at: now(), close_reason: one(args, "--reason") ?? "Closed" });
  return json([bare(issue)]);
};

const reopen: Command = (state, args) => {
  const issue = resolved(state, args.words[0]!);
  if (!fault("silent")) issue.status = "open";
  return args.flags.has("--json") ? json([bare(issue)]) : `Reopened ${issue.id}\n`;
};

const create: Command = (state, args) => {
  const parent = one(args, "--parent");
  const children = state.issues.filter((issue) => issue.parent === parent).length;
  if (parent !== undefined) resolved(state, parent);
  const issue: Issue = {
    id: parent === undefined ? `app-${(35 + state.next).toString(36)}` : `${parent}.${children + 1}`,
    title: one(args, "--title") ?? args.words[0] ?? "",
    description: one(args, "--description") ?? "",
    status: "open",
    priority: Number(one(args, "--priority") ?? 2),
    assignee: "",
    created_at: new Date(Date.UTC(2026, 0, 1) + state.next * 1000).toISOString(),
    updated_at: now(),
    labels: one(args, "--labels")?.split(",") ?? [],
    waits_for: [],
    comments: [],
    ...(parent !== undefined && { parent }),
  };
  state.next += 1;
  state.issues.push(issue);
  return json(bare(issue));
};

const label: Command = (state, args) => {
  const [verb, id, name] = args.words as [string, string, string];
  const issue = resolve(state, id);
  // Trap: an unknown id is an empty list and no failure.
  if (typeof issue === "string") throw new Exit(0, json([]), `Error resolving ${id}: ${issue}\n`);
  const without = issue.labels.filter((one_label) => one_label !== name);
  if (!fault("silent")) issue.labels = verb === "add" ? [...without, name] : without;
  if (!args.flags.has("--json")) return "ok\n";
  return json([{ issue_id: issue.id, label: name, status: verb === "add" ? "added" : "removed" }]);
};

const dep: Command = (state, args) => {
  const [issue, blocker] = args.words.slice(1).map((id) => resolved(state, id)) as [Issue, Issue];
  issue.waits_for.push(blocker.id);
  return args.flags.has("--json") ? json({ status: "added" }) : "ok\n";
};

const comments: Command = (state, args) => {
  const adding = args.words[0] === "add";
  const [id, text = ""] = adding ? args.words.slice(1) : args.words;
  const issue = resolved(state, id!);
  if (!adding) return json(issue.comments);
  const number = issue.comments.length + 1;
  const made = {
    id: fault("old") ? number : String(number),
    issue_id: issue.id,
    author: "me",
    text,
    created_at: now(),
  };
  if (!fault("silent")) issue.comments.push(made);
  return args.flags.has("--json") ? json(made) : "Comment added\n";
};

const COMMANDS: Record<string, Command> = { ready, list, show, update, close, reopen, create, label, dep, comments };

// ── Main ────────────────────────────────────────────────────────────────────

function main(): string {
  if (fault("hang")) hang(process.env.BD_DOUBLE_PIDS);
  const work = COMMANDS[command];
  if (work === undefined) throw new Exit(1, "", `Error: unknown command "${command}" for "bd"\n`);
  const old = fault("old");
  const args = parseArgs(rest, VALUES, [
    "--force",
    ...(old ? [] : ["--claim"]),
    ...(old &&
    NO_JSON_BEFORE.includes(command) &&
    rest[0] !== undefined &&
    (command !== "comments" || rest[0] === "add")
      ? []
      : ["--json"]),
  ]);
  const path = join(folder(), "double.sqlite");
  if (fault("environment"))
    throw new Exit(
      1,
      "",
      Object.keys(process.env)
        .filter((name) => /^(BD_[AJ]|BEADS|CLAUDE|NODE_O|LD_)/.test(name))
        .join(" "),
    );
  if (fault("locked")) throw new Exit(1, "", json({ error: "failed to open database: database is locked" }));
  if (fault("warn-daemon")) process.stderr.write("Warning: daemon is locked by an older version\n");
  if (fault("daemon")) throw new Exit(1, "", "Error: daemon request timed out after 5s\n");
  if (fault("error-exit-0")) return json({ error: "storage: something is wrong" });
  return misbehave(transact<State, string>(path, { next: 1, issues: [] }, (state) => work(state, args)));
}

function misbehave(text: string): string {
  if (fault("warn"))
    process.stderr.write("Warning: database is 3 versions behind\nNOTE: JSON output will change in v2.0\n");
  if (fault("answer-exit-1")) throw new Exit(1, text, "");
  if (fault("warn-stdout")) return `Warning: [daemon] is old\n[warn] upgrade soon\n${text}note: done\n`;
  if (fault("plain")) return "app-10 ● Something to do\n└── app-11 ○ More\n";
  if (fault("truncated")) return text.slice(0, text.length / 2);
  if (fault("nameless")) return text.replace(/"title": "[^"]*",?/, "");
  if (fault("huge")) return `[${'{"id":"app-1","title":"x"},\n'.repeat(1_000_000)}null]`;
  return text;
}

if (import.meta.main) run(main);
