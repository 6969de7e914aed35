/** The task a person means, and what to say where the tracker has no answer. */
import type { Task } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import type { Answer, Tracker } from "../../trackers/index.ts";
import { visible } from "../shared/visible.ts";
import { STATE_WORDS } from "./show.ts";

const HINTS: Record<string, string> = {
  "unknown-id": "`pawl task list --all` shows them",
  "ambiguous-id": "use the full id: `pawl task list --all` shows it",
  "bad-argument": "`pawl task --help` shows the format",
  taken: "--force takes it over",
  "other-machine": "release it there first: `pawl task open`",
  unsupported: "install it, or set another `tracker:` in pawl.yaml",
  busy: "try again in a moment",
  deadline: "try again; the tracker may be unreachable",
};
const ELSEWHERE = "to keep tasks elsewhere, set `tracker:` in pawl.yaml";

export function sure<T>(answer: Answer<T>): T {
  if (answer.kind === "ok") return answer.value;
  const hint = answer.kind === "absent" ? ELSEWHERE : (HINTS[answer.code] ?? "fix what it names, then try again");
  throw new UserError(visible(answer.why), hint, 1);
}

/** There is no list yet: the one thing that can make it is `add`. */
export function opened(answer: Answer<Tracker>): Tracker {
  if (answer.kind !== "absent") return sure(answer);
  throw new UserError(visible(answer.why), `\`pawl task add\` creates a session.md; ${ELSEWHERE}`, 1);
}

/** Finished ones come last. */
export function tasksIn(tracker: Tracker, all: boolean, label?: string): Task[] {
  const labelled = label === undefined ? {} : { label };
  const open = sure(tracker.list(labelled));
  if (!all) return open;
  const closed = (["closed", "dropped"] as const).flatMap((state) => sure(tracker.list({ ...labelled, state })));
  return [...open, ...closed.filter(({ id }) => !open.some((one) => one.id === id))];
}

/** By its id, or by a part of its title that no other task has, finished ones included: a second `done` hits no other. */
export function findTask(tracker: Tracker, words: string[]): Task {
  const wanted = words.join(" ").trim();
  if (wanted === "") throw new UserError("which task?", "an id or a part of the title; `pawl task list` shows them");
  const shown = tracker.show(wanted);
  if (shown.kind === "ok") return shown.value;
  if (shown.kind === "absent" || !/^(unknown-id|ambiguous-id|bad-argument)$/.test(shown.code)) return sure(shown);
  const found = byTitle(tasksIn(tracker, true), wanted.toLowerCase());
  if (found.length === 1) return found[0]!;
  if (found.length === 0)
    throw new UserError(
      `there is no task ${visible(JSON.stringify(wanted))} in ${visible(tracker.where)}`,
      HINTS["unknown-id"]!,
      1,
    );
  throw new UserError(
    `${visible(JSON.stringify(wanted))} matches several tasks:\n${found.map(inOneLine).join("\n")}`,
    "use the id of one of them",
    1,
  );
}

function byTitle(tasks: Task[], wanted: string): Task[] {
  const exact = tasks.filter(({ title }) => title.toLowerCase() === wanted);
  return exact.length === 1 ? exact : tasks.filter(({ title }) => title.toLowerCase().includes(wanted));
}

const inOneLine = ({ id, state, title }: Task) => `  ${visible(id)}  ${STATE_WORDS[state]}  ${visible(title)}`;
