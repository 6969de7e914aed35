/** What the database of insight knows: runs over time, stages, loops that are long over. */
import type { Filter, Insight } from "../insight/query.ts";
import { openInsight } from "../insight/query.ts";
import { logError } from "../store/errors.ts";
import type { Projects } from "./projects.ts";

const BUCKETS = 12;

/** A request never waits much longer for the journals than this. */
const STEP_MS = 40;

export interface Figures {
  /** null: the database cannot be used; the rest of the dashboard goes on without it */
  ask<T>(question: (insight: Insight) => T): T | null;
  /** How much of the journals is in the figures, from 0 to 1; the rest is being read. */
  share(): number;
  close(): void;
}

export function openFigures(projects: Projects): Figures {
  let insight: Insight | null = null;
  let known = "";
  let share = 1;
  let next: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(next);
    next = undefined;
    share = 1;
    insight?.close();
    insight = null;
  };
  const ready = (): Insight => {
    const roots = projects.all();
    if (insight && known !== roots.join("\n")) close();
    known = roots.join("\n");
    insight ??= openInsight({ projects: roots });
    // Each time: what a page was just told of has to be in its figures. Unless that is under way.
    if (next === undefined) step(insight);
    return insight;
  };
  /** A long history is read between requests, not before the first one. */
  const step = (of: Insight) => {
    share = of.syncSome(STEP_MS).share;
    if (share < 1) next ??= setTimeout(goOn);
  };
  const goOn = () => {
    next = undefined;
    attempt(() => insight && step(insight));
  };
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      logError(null, "dashboard", error);
      close();
      return null;
    }
  };
  return { ask: (question) => attempt(() => question(ready())), share: () => share, close };
}

export const stats = (filter: Filter) => (insight: Insight) => ({
  counts: insight.counts(filter),
  stages: insight.stageStats(filter),
  trend: insight.trend(filter, BUCKETS),
  bottleneck: insight.bottleneck(filter),
});
