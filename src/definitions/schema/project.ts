/** The shape of pawl.yaml: what a project says about its checks. */
import type { InferOutput } from "valibot";
import { GATE } from "./gate.ts";
import { PROJECT_LOOP } from "./loop.ts";
import { SHORTCUTS_ENTRY } from "./shortcut.ts";
import { COMMANDS, LABEL, TASKS, TRACKER } from "./task.ts";
import { flag, list, map, NAME, optional, record, SIGNAL, text, word } from "./words.ts";

const SWITCHES = record({
  gates: optional(map(SIGNAL, list(GATE)), "Further gates before this signal counts, by signal."),
  tasks: optional(TASKS, "Which tasks it works through, and where they live."),
  commands: optional(COMMANDS, "What its texts name: how the tests are run, what reviews."),
  fresh: optional(flag, "Whether each task begins in a fresh conversation."),
  sequences: optional(map(LABEL, list(text())), "Other stages for tasks with a label, by id or title."),
  off: optional(list(text(SIGNAL)), "Signals whose own gates are switched off; those listed under `gates` here stay."),
});

export const PROJECT = record({
  done: optional(
    list(GATE),
    'The definition of done: what must hold before any "done" counts. Built-in workflows, loops that change code, `pawl verify` and the guard check it; your own workflows add it with `use: done`.',
  ),
  guard: optional(
    word("send-back", "tell", "off", "enforce"),
    "What happens at a stop after edits in a session without a workflow: the agent is sent back (at most 3 times), one line to the person, or nothing. `enforce` is the old word for send-back.",
    "tell",
  ),
  tracker: optional(
    TRACKER,
    "Where this project's tasks live: for `pawl task`, and for workflows whose `tasks` name no tracker.",
  ),
  shortcuts: SHORTCUTS_ENTRY,
  loop: PROJECT_LOOP,
  gates: optional(
    map({ ...NAME, what: "the name of a gate" }, GATE),
    "This project's checks by name. `pawl verify` makes them all; workflows name them with `use`.",
  ),
  workflows: optional(map(NAME, SWITCHES), "Switches for workflows, by name: which signals are checked by what."),
});

export type ProjectFile = InferOutput<typeof PROJECT>;
