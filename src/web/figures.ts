/** What the database of insight knows: runs over time, stages, loops that are long over. */
import type { Filter, Insight } from "../insight/query.ts";
import { openInsight } from "../insight/query.ts";
import { logError } from "../store/errors.ts";
import type { Projects } from "./projects.ts";

const BUCKETS = 12;

export interface Figures {
  /** null: the database cannot be used; the rest of the dashboard goes on without it */
  ask<T>(question: (insight: Insight) => T): T | null;
  close(): void;
}

export function openFigures(projects: Projects): Figures {
  let insight: Insight | null = null;
  let known = "";
  const close = () => {
    insight?.close();
    insight = null;
  };
  const ready = (): Insight => {
    const roots = projects.all();
    if (insight && known !== roots.join("\n")) close();
    known = roots.join("\n");
    insight ??= openInsight({ projects: roots });
    // Each time: what a page was just told of has to be in its figures.
    insight.sync();
    return insight;
  };
  return {
    ask(question) {
      try {
        return question(ready());
      } catch (error) {
        logError(null, "dashboard", error);
        close();
        return null;
      }
    },
    close,
  };
}

export const stats = (filter: Filter) => (insight: Insight) => ({
  counts: insight.counts(filter),
  stages: insight.stageStats(filter),
  trend: insight.trend(filter, BUCKETS),
  bottleneck: insight.bottleneck(filter),
});
