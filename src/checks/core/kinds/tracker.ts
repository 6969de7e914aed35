/** `tracker`: what the tracker itself says. The agent's word never counts here. */

import type { Tracked } from "../../../kernel/types/verdict.ts";
import type { Looked, Measuring } from "../../measuring.ts";
import { type Shown, shown } from "./counts.ts";
import { fail, kind, pass } from "./kind.ts";

export const tracker = kind<Tracked | Shown>({
  schema: ({ optional, word }) => ({
    check: optional(
      word("closed", "claimed", "none-ready"),
      "What the tracker itself says: the run's task is closed, or claimed; or no task of the project is ready.",
    ),
  }),
  needs: "measure",
  outsideRun: () => "a run: it is about a run's task",
  measure(measuring, gate) {
    if (gate.tracker === "none-ready") return readyWork(measuring);
    const task = measuring.trackedTask();
    return task.ok ? { kind: "measured", value: task.value } : { kind: "unknown", why: task.why };
  },
  judge(gate, _background, _facts, value) {
    if ("shown" in value) return shown(value);
    const says = `the tracker says ${value.id} is ${value.state}`;
    return value.state === gate.tracker ? pass(says) : fail(`${says}, not ${gate.tracker}`);
  },
});

/** A tracker that is missing has no ready work, but no one can work through it either: then it is unproven. */
function readyWork({ readyTasks }: Measuring): Looked<Shown> {
  const tasks = readyTasks();
  if (!tasks.ok) return { kind: "unknown", why: tasks.why };
  const { own, ready } = tasks.value;
  if (own !== null)
    return { kind: "measured", value: { shown: false, why: `${own} was claimed in this session and is not done` } };
  const [first, ...more] = ready;
  if (first === undefined) return { kind: "measured", value: { shown: true, why: "no task is ready" } };
  const others = more.length > 0 ? ` and ${more.length} more` : "";
  return { kind: "measured", value: { shown: false, why: `the tracker has ready work: ${first}${others}` } };
}
