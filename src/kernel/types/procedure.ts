/** A procedure: what a loop asks an agent for, again and again, until its goal is reached. */
import type { Gate } from "./workflow.ts";

export type Phase = "observe" | "orient" | "decide" | "act";

/** In the order in which they are told. */
export const PHASES: readonly Phase[] = ["observe", "orient", "decide", "act"];

/** One piece of a phase's text. */
export interface Fragment {
  /** builtin:act/emit_success.md, the path of a file, or "content" */
  source: string;
  /** parameters are filled in */
  text: string;
}

export interface Procedure {
  name: string;
  title: string;
  /** what it is for, in a sentence */
  about: string;
  /** listed first */
  main?: boolean;
  /** what SUCCESS means here, in words */
  success: string;
  /** what no signal means */
  again: string;
  failure: string;
  phases: Record<Phase, Fragment[]>;
  max_iterations?: number | "unlimited";
  /** so many failures in a row end the loop */
  failure_threshold?: number;
  /** of one iteration, in seconds */
  timeout?: number;
  /** SUCCESS without them is not believed */
  gates: Gate[];
  /** one fresh process for each task of that workflow */
  drives?: "auto-workflow";
  /** builtin:<name>, or where its file is */
  source: string;
}
