/** `tracker`: what the tracker itself says. The agent's word never counts here. */

import type { Fact } from "../../../kernel/types/run.ts";
import type { Tracked } from "../../../kernel/types/verdict.ts";
import type { Measuring } from "../../measuring.ts";
import { type ShownCounts, shown } from "./counts.ts";
import { fail, kind, pass } from "./kind.ts";

export const tracker = kind<Tracked | ShownCounts>({
  schema: ({ optional, word }) => ({
    check: optional(
      word("closed", "claimed", "none-ready"),
      "What the tracker itself says: the run's task is closed, or claimed; or no task of the project is ready.",
    ),
  }),
  needs: "measure",
  outsideRun: () => "a run: it is about a run's task",
  measure: (measuring, gate) => (gate.tracker === "none-ready" ? readyWork(measuring) : measuring.trackedTask()),
  judge(gate, _background, _facts, value) {
    if ("shown" in value) return shown(value);
    const says = `the tracker says ${value.id} is ${value.state}`;
    return value.state === gate.tracker ? pass(says) : fail(`${says}, not ${gate.tracker}`);
  },
});

/** A tracker that is missing has no ready work, but no one can work through it either: then it is unproven. */
function readyWork({ readyTasks }: Measuring): Fact<ShownCounts> {
  const tasks = readyTasks();
  if (!tasks.ok) return tasks;
  const { own, ready } = tasks.value;
  if (own !== null) return notShown(`${own} was claimed in this session and is not done`);
  const [first, ...more] = ready;
  if (first === undefined) return { ok: true, value: { shown: true, why: "no task is ready" } };
  return notShown(`the tracker has ready work: ${first}${more.length > 0 ? ` and ${more.length} more` : ""}`);
}

const notShown = (why: string): Fact<ShownCounts> => ({ ok: true, value: { shown: false, why } });
