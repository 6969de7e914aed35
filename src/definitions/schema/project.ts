/** The shape of pawl.yaml. */

import { NAME, type Rule } from "../rules.ts";
import { GATE } from "./gate.ts";
import { PROJECT_LOOP } from "./loop.ts";
import type { RecordShape } from "./shape.ts";
import { SHORTCUTS_FIELD } from "./shortcut.ts";
import { COMMANDS, LABEL, TASKS, TRACKER } from "./task.ts";
import { SIGNAL } from "./workflow.ts";

const GATE_NAME: Rule = { ...NAME, what: "the name of a gate" };

/** pawl.yaml: what a project says about its checks. */
export const PROJECT: RecordShape = {
  kind: "record",
  fields: {
    guard: {
      shape: { kind: "word", values: ["off", "tell", "enforce"] },
      default: "tell",
      about:
        "A session without a run changes files and says it is done, and no test run proves it: nothing, one line to the person, or the agent is sent back, at most 3 times.",
    },
    tracker: {
      shape: TRACKER,
      about: "Where this project's tasks live: for `pawl task`, and for workflows whose `tasks` name no tracker.",
    },
    shortcuts: SHORTCUTS_FIELD,
    loop: PROJECT_LOOP,
    gates: {
      shape: { kind: "map", key: GATE_NAME, of: GATE, min: 1 },
      about: "This project's checks by name. `pawl verify` makes them all; workflows name them with `use`.",
    },
    workflows: {
      shape: {
        kind: "map",
        key: NAME,
        of: {
          kind: "record",
          fields: {
            gates: {
              shape: { kind: "map", key: SIGNAL, of: { kind: "list", of: GATE, min: 1 }, min: 1 },
              about: "Further gates before this signal counts, by signal.",
            },
            tasks: { shape: TASKS, about: "Which tasks it works through, and where they live." },
            commands: { shape: COMMANDS, about: "What its texts name: how the tests are run, what reviews." },
            fresh: {
              shape: { kind: "word", values: ["true", "false"] },
              about: "Whether each task begins in a fresh conversation.",
            },
            sequences: {
              shape: { kind: "map", key: LABEL, of: { kind: "list", of: { kind: "text" }, min: 1 }, min: 1 },
              about: "Other stages for tasks with a label, by id or title.",
            },
            off: {
              shape: { kind: "list", of: { kind: "text", rule: SIGNAL }, min: 1 },
              about: "Signals whose own gates are switched off; those listed under `gates` here stay.",
            },
          },
        },
        min: 1,
      },
      about: "Switches for workflows, by name: which signals are checked by what.",
    },
  },
};
