import type { Task, TaskState } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import { isFinished } from "../../trackers/core/tasks.ts";
import type { Tracker } from "../../trackers/index.ts";
import { openForAdding, openProjectTracker } from "../../trackers/project-tracker.ts";
import { addTo } from "../../trackers/record-task.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "../shared/args.ts";
import { visible } from "../shared/visible.ts";
import { blockTask, dropTask, editTask, finishTask, openTask, startTask } from "./change.ts";
import { findTask, opened, sure, tasksIn } from "./find.ts";
import { fieldsOf, labelsOf, priorityOf, titleOf } from "./options.ts";
import { asJson, stateFrom, taskPage, taskTable } from "./show.ts";

export const summary = "the project's tasks: add, list, start, done …";
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

const ACTIONS: Record<string, { options: string[]; run: (root: string, parsed: Parsed, io: Io) => number }> = {
  add: { options: [...FIELDS, "--json"], run: add },
  list: { options: ["--all", "--state=", "--label=", "--json"], run: list },
  show: { options: ["--json"], run: show },
  start: { options: CHANGE, run: startTask },
  done: { options: ["--reason=", ...CHANGE], run: finishTask },
  block: { options: ["--reason=", ...CHANGE], run: blockTask },
  drop: { options: ["--reason=", ...CHANGE], run: dropTask },
  open: { options: CHANGE, run: openTask },
  edit: { options: ["--title=", ...FIELDS, "--no-restart", "--unlabel=", ...CHANGE], run: editTask },
};

export function run(args: string[], io: Io): number {
  const [name = "list", ...rest] = args[0]?.startsWith("-") ? ["list", ...args] : args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UserError(`task cannot ${visible(name)}`, `it can ${Object.keys(ACTIONS).join(", ")}`);
  const parsed = parseArgs(rest, action.options);
  return action.run(rootOf(io), parsed, io);
}

function add(root: string, parsed: Parsed, io: Io): number {
  const title = titleOf(parsed.words.join(" "), 'pawl task add "Fix login bug"');
  const wanted = { title, labels: labelsOf(parsed, "--label"), ...priorityOf(parsed) };
  const tracker = opened(openForAdding(root));
  const text = parsed.values["--text"];
  const task = { ...wanted, ...(text && { text }), ...fieldsOf(parsed, tracker) };
  const { command, ...rest } = task;
  const { task: made, recorded } = sure(addTo(tracker, command ? { command, ...rest } : rest));
  const undo = `pawl task drop ${made.id}`;
  if (parsed.flags.has("--json")) io.out(asJson({ tracker: tracker.name, ...recorded, task: made, undo }));
  else io.out(`${visible(recorded.line)}\n  added to ${visible(recorded.where)} as ${made.id}; undo: ${undo}\n`);
  return 0;
}

function list(root: string, parsed: Parsed, io: Io): number {
  if (parsed.words.length > 0) throw new UserError("list takes no task name", "`pawl task show <task>` shows one task");
  const { "--state": state, "--label": label } = parsed.values;
  const only = state === undefined ? undefined : stateFrom(state);
  const found = openProjectTracker(root);
  const json = parsed.flags.has("--json");
  if (found.kind === "absent") {
    io.out(json ? asJson({ tracker: null, why: found.why, tasks: [] }) : `No task list here: ${visible(found.why)}.\n`);
    return 0;
  }
  const tracker = opened(found);
  const tasks = wantedTasks(tracker, parsed.flags.has("--all"), only, label);
  if (json) io.out(asJson({ tracker: tracker.name, where: tracker.where, tasks }));
  else
    io.out(
      tasks.length === 0 ? `No ${label || only ? "such " : ""}tasks in ${visible(tracker.where)}.\n` : taskTable(tasks),
    );
  return 0;
}

function wantedTasks(tracker: Tracker, all: boolean, state?: TaskState, label?: string): Task[] {
  const tasks = tasksIn(tracker, all || (state !== undefined && isFinished({ state } as Task)), label);
  return state === undefined ? tasks : tasks.filter((task) => task.state === state);
}

function show(root: string, parsed: Parsed, io: Io): number {
  const tracker = opened(openProjectTracker(root));
  const task = findTask(tracker, parsed.words);
  const where = { tracker: tracker.name, where: tracker.where };
  io.out(parsed.flags.has("--json") ? asJson({ ...where, task }) : taskPage(task, tracker.where));
  return 0;
}
