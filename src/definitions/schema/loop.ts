/** What can be said about loops, in pawl.yaml, in ~/.config/pawl/config.yaml and in a procedure. */
import type { InferOutput } from "valibot";
import { integer, integerOr, line, number, optional, record, word } from "./words.ts";

/** Each limit once: for the files, for flags and for the environment. */
export const BOUNDS = {
  max_iterations: { min: 1, max: 100_000 },
  failure_threshold: { min: 1, max: 1000 },
  timeout: { min: 1, max: 604_800 },
  time_limit: { min: 1, max: 2_592_000 },
  budget: { min: 0.01, max: 100_000 },
  buffer: { min: 65_536, max: 1_073_741_824 },
} as const;

export const BUILT_IN = {
  max_iterations: 5,
  failure_threshold: 3,
  timeout: 3600,
  time_limit: 28_800,
  budget: 20,
  ai: "claude",
  permissions: "edits",
  buffer: 10_485_760,
} as const;

/** What Claude may do without asking: edit files, only what its settings allow, or everything. */
export const PERMISSIONS = ["edits", "settings", "skip"] as const;

/** The agents that are known by name. */
export const AGENTS = ["claude", "codex", "copilot", "gemini", "qwen", "opencode"] as const;

const within = ({ min, max }: { min: number; max: number }) => integer(min, max);

export const MAX_ITERATIONS = integerOr("unlimited", BOUNDS.max_iterations.min, BOUNDS.max_iterations.max);
export const FAILURE_THRESHOLD = within(BOUNDS.failure_threshold);
export const TIMEOUT = within(BOUNDS.timeout);

/** What is said about each, in files and in procedures. */
export const ABOUT = {
  max_iterations: "The most iterations.",
  failure_threshold: "The loop stops after this many failures in a row.",
  timeout: "An iteration that takes longer, in seconds, is ended and counts as a failure.",
};

const COMMON = {
  max_iterations: optional(MAX_ITERATIONS, ABOUT.max_iterations, BUILT_IN.max_iterations),
  failure_threshold: optional(FAILURE_THRESHOLD, ABOUT.failure_threshold, BUILT_IN.failure_threshold),
  timeout: optional(TIMEOUT, ABOUT.timeout, BUILT_IN.timeout),
  time_limit: optional(within(BOUNDS.time_limit), "The whole loop ends after this many seconds.", BUILT_IN.time_limit),
  budget: optional(
    number(BOUNDS.budget.min, BOUNDS.budget.max),
    "The whole loop ends when the agent reports a cost of this many US dollars.",
    BUILT_IN.budget,
  ),
  buffer: optional(
    within(BOUNDS.buffer),
    "This many bytes of an iteration's output are kept: the last ones.",
    BUILT_IN.buffer,
  ),
};

/** A repository must not choose the command that is run on the person's machine: only an agent by its name. */
export const PROJECT_LOOP = optional(
  record({ ...COMMON, ai: optional(word(...AGENTS), "Which agent works.", BUILT_IN.ai) }),
  "For `pawl loop`, where neither a flag, the procedure nor the environment says otherwise.",
);

const PERSONS = record({
  ...COMMON,
  ai: optional(line, "Which agent works: a name, or a command line of your own.", BUILT_IN.ai),
  permissions: optional(
    word(...PERMISSIONS),
    "What Claude may do without asking: edit files, only what its settings allow, or everything (not as root).",
    BUILT_IN.permissions,
  ),
});

export const PERSON_LOOP = optional(PERSONS, "For `pawl loop`, in every project that does not say otherwise.");

/** What a file says about loops; what it leaves out is decided elsewhere. */
export type LoopLevel = InferOutput<typeof PERSONS>;
