import { didYouMean } from "../../definitions/problem.ts";
import { visible } from "../../kernel/text/safe-text.ts";
import { UserError } from "../../kernel/user-error.ts";
import { openForAdding, openProjectTracker } from "../../trackers/project-tracker.ts";
import { addTo } from "../../trackers/record-task.ts";
import { type Action, type Io, type Parsed, parseArgs, print, projectRoot } from "../shared/args.ts";
import { editTask, moveTask } from "./change.ts";
import {
  findTask,
  formatTitle,
  opened,
  parseFields,
  parseLabels,
  readPriority,
  stateFrom,
  sure,
  taskPage,
  tasksIn,
  taskTable,
} from "./tasks.ts";

export const usage = `usage: pawl task add "Fix login bug" [--command C] [--model M] [--restart] [--label L]… [--priority 0-4] [--text T]
       pawl task list [--all] [--state pending|in-progress|done|blocked|dropped] [--label L]
       pawl task show <task>
       pawl task start <task> [--force]                in progress, and yours
       pawl task done <task> [--reason R] [--force]
       pawl task block <task> [--reason R] [--force]   it waits for something
       pawl task drop <task> [--reason R] [--force]    it will not be done
       pawl task open <task> [--force]                 pending again: undoes the four above
       pawl task edit <task> [--title T] [--command C] [--model M] [--restart|--no-restart] [--priority 0-4]
                             [--label L]… [--unlabel L]… [--text T] [--force]

<task> is an id, or a part of the title that no other task has. --json works with every command.
Put -- before a title that starts with -: pawl task add -- "-v is ignored"
--force: even if another live session has claimed it.
Tasks live where \`tracker:\` in pawl.yaml says; otherwise in beads (a .beads folder) or session.md, whichever exists. The
first \`add\` creates a session.md. GitHub issues are changed only if pawl.yaml says \`tracker: { kind: github }\`.

Exit codes: 0 done (also if it was done before), 1 refused, failed or no such task, 2 wrong usage.`;

const CHANGE = ["--json", "--force"];
const FIELDS = ["--command=", "--model=", "--restart", "--label=", "--priority=", "--text="];

const ACTIONS: Record<string, Action> = {
  add: { options: [...FIELDS, "--json"], run: add },
  list: { options: ["--all", "--state=", "--label=", "--json"], run: list },
  show: { options: ["--json"], run: show },
  start: { options: CHANGE, run: moveTask("claimed") },
  done: { options: ["--reason=", ...CHANGE], run: moveTask("closed") },
  block: { options: ["--reason=", ...CHANGE], run: moveTask("blocked") },
  drop: { options: ["--reason=", ...CHANGE], run: moveTask("dropped") },
  open: { options: CHANGE, run: moveTask("open") },
  edit: { options: ["--title=", ...FIELDS, "--no-restart", "--unlabel=", ...CHANGE], run: editTask },
};

export function run({ words }: Parsed, io: Io): number | Promise<number> {
  const [name = "list", ...rest] = words[0]?.startsWith("-") ? ["list", ...words] : words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  const known = Object.keys(ACTIONS);
  if (!action)
    throw new UserError(`task cannot ${visible(name)}`, didYouMean(name, known, `it can ${known.join(", ")}`));
  return action.run(projectRoot(io), parseArgs(rest, action.options), io);
}

function add(root: string, parsed: Parsed, io: Io): number {
  const title = formatTitle(parsed.words.join(" "), 'pawl task add "Fix login bug"');
  const wanted = { title, labels: parseLabels(parsed, "--label"), ...readPriority(parsed) };
  const tracker = opened(openForAdding(root));
  const text = parsed.values["--text"];
  const { command, ...fields } = parseFields(parsed, tracker);
  const made = addTo(tracker, { ...wanted, ...(text && { text }), ...fields, ...(command && { command }) });
  const { task, recorded } = sure(made);
  const undo = `pawl task drop ${task.id}`;
  const line = () => `${visible(recorded.line)}\n  added to ${visible(recorded.where)} as ${task.id}; undo: ${undo}\n`;
  return print(io, parsed, { tracker: tracker.name, ...recorded, task, undo }, line);
}

function list(root: string, parsed: Parsed, io: Io): number {
  if (parsed.words.length > 0) throw new UserError("list takes no task name", "`pawl task show <task>` shows one task");
  const { "--state": state, "--label": label } = parsed.values;
  const only = state === undefined ? undefined : stateFrom(state);
  const found = openProjectTracker(root);
  if (found.kind === "absent") {
    const none = { tracker: null, why: found.why, tasks: [] };
    return print(io, parsed, none, () => `No task list here: ${visible(found.why)}.\n`);
  }
  const tracker = opened(found);
  const all = parsed.flags.has("--all") || only === "closed" || only === "dropped";
  const tasks = tasksIn(tracker, all, label).filter(({ state }) => only === undefined || state === only);
  const none = `No ${label || only ? "such " : ""}tasks in ${visible(tracker.where)}.\n`;
  const data = { tracker: tracker.name, where: tracker.where, tasks };
  return print(io, parsed, data, () => (tasks.length === 0 ? none : taskTable(tasks)));
}

function show(root: string, parsed: Parsed, io: Io): number {
  const tracker = opened(openProjectTracker(root));
  const task = findTask(tracker, parsed.words);
  const { name, where } = tracker;
  return print(io, parsed, { tracker: name, where, task }, () => taskPage(task, where));
}
