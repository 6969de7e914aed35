/**
 * A stand-in for `gh issue`, as far as Pawl asks it. Its state is where GH_DOUBLE_STATE says, GH_DOUBLE_FAULT chooses how
 * it misbehaves, and GH_DOUBLE_AS who is logged in; nothing else reads these.
 */
import { type Args, Exit, hang, hasFault, parseArgs, run, transact } from "./state.ts";

interface Comment {
  number: number;
  login: string;
  body: string;
  createdAt: string;
  edited?: boolean;
}

interface Issue {
  number: number;
  title: string;
  body: string;
  state: "OPEN" | "CLOSED";
  stateReason: string;
  labels: string[];
  assignees: string[];
  milestone: string | null;
  createdAt: string;
  comments: Comment[];
}

interface State {
  labels: string[];
  next: number;
  nextComment: number;
  issues: Issue[];
  looks: number;
}

export const FAULTS = [
  "auth",
  "rate-limit",
  "offline",
  "no-repository",
  "disabled",
  "old",
  "plain",
  "silent",
  "lag",
  "backwards",
  "hang",
  "huge",
] as const;

const VALUES = ["--repo", "--state", "--limit", "--label", "--json", "--title", "--body", "--milestone", "--reason"];
VALUES.push("--comment", "--add-label", "--remove-label", "--add-assignee", "--remove-assignee");
/** Who may write to the repository, besides its owner. */
const MEMBERS: Record<string, string> = { me: "OWNER", colleague: "MEMBER", stranger: "NONE" };

const faults = process.env.GH_DOUBLE_FAULT ?? "";
const me = process.env.GH_DOUBLE_AS ?? "me";
const [group = "", command = "", ...rest] = process.argv.slice(2);
const fault = (name: (typeof FAULTS)[number]) => hasFault(faults, name, command);

const one = (args: Args, flag: string) => args.flags.get(flag)?.at(-1);
const words = (args: Args, flag: string) =>
  (args.flags.get(flag) ?? []).flatMap((text) => text.split(",")).filter(Boolean);
const fail = (stderr: string, status = 1) => new Exit(status, "", `${stderr}\n`);
const now = () => `${new Date().toISOString().slice(0, 19)}Z`;
const page = (args: Args, issue: Issue) =>
  `https://github.com/${one(args, "--repo")!.split("/").slice(-2).join("/")}/issues/${issue.number}`;

function find(state: State, args: Args): Issue {
  const issue = state.issues.find(({ number }) => String(number) === args.words[0]);
  if (issue !== undefined) return issue;
  throw fail(
    `GraphQL: Could not resolve to an issue or pull request with the number of ${args.words[0]}. (repository.issue)`,
  );
}

function checkLabels(state: State, args: Args, names: string[]): void {
  const unknown = names.find((name) => !state.labels.includes(name));
  if (unknown === undefined) return;
  throw fail(
    command === "create"
      ? `could not add label: '${unknown}' not found`
      : `failed to update ${args.words[0]}: '${unknown}' not found`,
  );
}

function shown(args: Args, issue: Issue, hidden = 0): Record<string, unknown> {
  const comments = issue.comments.slice(0, issue.comments.length - hidden).map((comment) => ({
    id: `IC_${comment.number}`,
    author: { login: comment.login },
    authorAssociation: MEMBERS[comment.login] ?? "NONE",
    body: comment.body,
    createdAt: comment.createdAt,
    includesCreatedEdit: comment.edited === true,
    isMinimized: false,
    url: `${page(args, issue)}#issuecomment-${comment.number}`,
    viewerDidAuthor: comment.login === me,
  }));
  const all: Record<string, unknown> = {
    ...issue,
    labels: issue.labels.map((name) => ({ id: `L_${name}`, name, color: "ededed", description: "" })),
    assignees: issue.assignees.map((login) => ({ id: `U_${login}`, login, name: "" })),
    milestone: issue.milestone === null ? null : { number: 1, title: issue.milestone, description: "", dueOn: null },
    comments: fault("backwards") ? comments.reverse() : comments,
    url: page(args, issue),
  };
  const fields = one(args, "--json")!.split(",");
  const unknown = fields.find((field) => !(field in all) || (field === "stateReason" && fault("old")));
  if (unknown !== undefined)
    throw fail(`Unknown JSON field: "${unknown}"\nAvailable fields:\n  assignees\n  author\n  body`);
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}

// ── Commands ────────────────────────────────────────────────────────────────

type Command = (state: State, args: Args) => string;

const list: Command = (state, args) => {
  const labels = args.flags.get("--label") ?? [];
  const found = state.issues
    .filter((issue) => one(args, "--state") === "all" || issue.state === (one(args, "--state") ?? "open").toUpperCase())
    .filter((issue) => labels.every((label) => issue.labels.includes(label)));
  const newest = found.reverse().slice(0, Number(one(args, "--limit") ?? 30));
  return `${JSON.stringify(newest.map((issue) => shown(args, issue)))}\n`;
};

const view: Command = (state, args) => {
  state.looks += 1;
  // What was just written is shown at the second look.
  const hidden = fault("lag") && state.looks % 2 === 0 ? 1 : 0;
  return `${JSON.stringify(shown(args, find(state, args), hidden))}\n`;
};

const create: Command = (state, args) => {
  checkLabels(state, args, words(args, "--label"));
  const issue: Issue = {
    number: state.next++,
    title: one(args, "--title") ?? "",
    body: one(args, "--body") ?? "",
    state: "OPEN",
    stateReason: "",
    labels: words(args, "--label"),
    assignees: [],
    milestone: one(args, "--milestone") ?? null,
    createdAt: `${new Date(Date.UTC(2026, 0, 1) + state.next * 1000).toISOString().slice(0, 19)}Z`,
    comments: [],
  };
  state.issues.push(issue);
  return `${page(args, issue)}\n`;
};

const edit: Command = (state, args) => {
  const issue = find(state, args);
  const [add, remove] = [words(args, "--add-label"), words(args, "--remove-label")];
  checkLabels(state, args, [...add, ...remove]);
  if (fault("silent")) return `${page(args, issue)}\n`;
  issue.title = one(args, "--title") ?? issue.title;
  issue.body = one(args, "--body") ?? issue.body;
  issue.labels = [...new Set([...issue.labels, ...add])].filter((label) => !remove.includes(label));
  const names = (flag: string) => words(args, flag).map((name) => (name === "@me" ? me : name));
  issue.assignees = [...new Set([...issue.assignees, ...names("--add-assignee")])].filter(
    (name) => !names("--remove-assignee").includes(name),
  );
  return `${page(args, issue)}\n`;
};

const close: Command = (state, args) => {
  const issue = find(state, args);
  if (issue.state === "CLOSED")
    throw fail(`! Issue ${one(args, "--repo")}#${issue.number} (${issue.title}) is already closed`, 0);
  if (fault("silent")) return "";
  Object.assign(issue, {
    state: "CLOSED",
    stateReason: one(args, "--reason") === "not planned" ? "NOT_PLANNED" : "COMPLETED",
  });
  const text = one(args, "--comment");
  if (text !== undefined) say(state, issue, text);
  return "";
};

const reopen: Command = (state, args) => {
  if (!fault("silent")) Object.assign(find(state, args), { state: "OPEN", stateReason: "REOPENED" });
  return "";
};

function say(state: State, issue: Issue, body: string): number {
  const number = state.nextComment++;
  issue.comments.push({ number, login: me, body, createdAt: now() });
  return number;
}

const comment: Command = (state, args) => {
  const issue = find(state, args);
  if (fault("silent")) return "";
  state.looks = 1;
  return `${page(args, issue)}#issuecomment-${say(state, issue, one(args, "--body") ?? "")}\n`;
};

const COMMANDS: Record<string, Command> = { list, view, create, edit, close, reopen, comment };

// ── Main ────────────────────────────────────────────────────────────────────

function main(): string {
  if (fault("hang")) hang(process.env.GH_DOUBLE_PIDS);
  if (fault("auth"))
    throw fail(
      "To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable",
      4,
    );
  if (fault("rate-limit"))
    throw fail("HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/graphql)");
  if (fault("offline"))
    throw fail("error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com");
  if (fault("no-repository"))
    throw fail("GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)");
  if (fault("disabled")) throw fail("the 'o/r' repository has disabled issues");
  if (fault("plain")) return "Showing 1 of 1 open issue in o/r\n\n#1  Something  about 1 day ago\n";
  if (fault("huge")) return `[${'{"number":1,"title":"x"},\n'.repeat(1_000_000)}null]`;
  const work = group === "issue" ? COMMANDS[command] : undefined;
  const empty: State = { labels: [], next: 1, nextComment: 100, issues: [], looks: 0 };
  const path = process.env.GH_DOUBLE_STATE ?? "/nonexistent";
  if (group === "label") return transact(path, empty, (state) => `${state.labels.push(rest[0]!)}\n`);
  if (work === undefined) throw fail(`unknown command "${command}" for "gh ${group}"`);
  const args = parseArgs(rest, VALUES, []);
  if (one(args, "--repo") === undefined)
    throw fail("none of the git remotes configured for this repository point to a known GitHub host.");
  return transact(path, empty, (state) => work(state, args));
}

if (import.meta.main) run(main);
