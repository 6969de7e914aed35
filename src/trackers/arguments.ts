/** What may become an argument of another program: nothing that could be read as an option, nothing endless. */
import { type Answer, failed, type NewTask, ok, type TaskChange } from "./types.ts";

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const ACTOR = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const LABEL = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/+-]*(?: [\p{L}\p{N}_.:/+-]+)*$/u;
/** Below what the kernel takes as one argument (128 KiB) and what GitHub takes as one text (65,536 characters). */
const LONGEST_TEXT = 32_000;

const shown = (text: string) => JSON.stringify(text.slice(0, 80));

export function checkId(id: string): Answer<string> {
  return ID.test(id) ? ok(id) : failed("bad-argument", `${shown(id)} is not a task id`);
}

export function checkActor(actor: string): Answer<string> {
  return ACTOR.test(actor)
    ? ok(actor)
    : failed("bad-argument", `${shown(actor)} cannot claim a task: not a plain name`);
}

export function checkLabels(labels: string[]): Answer<string[]> {
  const bad = labels.find((label) => label.length > 100 || !LABEL.test(label));
  return bad === undefined ? ok(labels) : failed("bad-argument", `${shown(bad)} is not a label`);
}

export function checkText(text: string): Answer<string> {
  if (text.includes("\0")) return failed("bad-argument", "the text has a NUL byte in it");
  if (text.length > LONGEST_TEXT) return failed("bad-argument", `the text is longer than ${LONGEST_TEXT} characters`);
  return ok(text);
}

/** What a new task or a change brings along. */
export function checkTask<T extends Partial<NewTask> & TaskChange>(task: T): Answer<T> {
  const { priority, labels = [], blocked_by = [], title, text = "", epic } = task;
  if (title !== undefined && title.trim() === "") return failed("bad-argument", "a task needs a title");
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0 && priority <= 4))
    return failed("bad-argument", "a priority is a number from 0 to 4");
  const checks: Answer<unknown>[] = [
    checkText(title ?? ""),
    checkText(text),
    checkText(epic ?? ""),
    checkLabels(labels),
    ...blocked_by.map(checkId),
  ];
  const bad = checks.find((check) => check.kind !== "ok");
  return bad === undefined ? ok(task) : (bad as Answer<T>);
}
