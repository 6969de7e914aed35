/** What kinds of gates share when they judge: how many tests there have to be, and what was shown or not. */

import type { Gate } from "../../../kernel/types/run.ts";
import { type Finding, fail, pass, type Words } from "./kind.ts";

export const testCounts = ({ optional, testCount: count }: Words) => ({
  min: optional(count, "At least this many tests passed. Default: 1."),
  max_skipped: optional(count, "At most this many tests were skipped."),
});

export const testCount = (count: number) => `${count} test${count === 1 ? "" : "s"}`;

export function tooFew({ min = 1, max_skipped }: Gate, passed: number, skipped: number): string | null {
  if (passed < min) return `${testCount(passed)} passed, at least ${min} have to`;
  if (max_skipped !== undefined && skipped > max_skipped)
    return `${testCount(skipped)} skipped, at most ${max_skipped} may be`;
  return null;
}

export interface ShownCounts {
  shown: boolean;
  why: string;
}

export const shown = (value: ShownCounts): Finding => (value.shown ? pass(value.why) : fail(value.why));
