/** What can be said about loops, in pawl.yaml, in ~/.config/pawl/config.yaml and in a procedure. */
import { LINE } from "../rules.ts";
import type { Field } from "./shape.ts";

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

export const MAX_ITERATIONS: Field = {
  shape: { kind: "integer", ...BOUNDS.max_iterations, or: "unlimited" },
  about: "So many iterations at most.",
};
export const FAILURE_THRESHOLD: Field = {
  shape: { kind: "integer", ...BOUNDS.failure_threshold },
  about: "So many failures in a row end the loop.",
};
export const TIMEOUT: Field = {
  shape: { kind: "integer", ...BOUNDS.timeout },
  about: "An iteration that takes longer, in seconds, is ended and counts as a failure.",
};

const COMMON: Record<string, Field> = {
  max_iterations: { ...MAX_ITERATIONS, default: BUILT_IN.max_iterations },
  failure_threshold: { ...FAILURE_THRESHOLD, default: BUILT_IN.failure_threshold },
  timeout: { ...TIMEOUT, default: BUILT_IN.timeout },
  time_limit: {
    shape: { kind: "integer", ...BOUNDS.time_limit },
    default: BUILT_IN.time_limit,
    about: "The whole loop ends after so many seconds.",
  },
  budget: {
    shape: { kind: "number", ...BOUNDS.budget },
    default: BUILT_IN.budget,
    about: "The whole loop ends when the agent reports to have cost so many US dollars.",
  },
  buffer: {
    shape: { kind: "integer", ...BOUNDS.buffer },
    default: BUILT_IN.buffer,
    about: "So many bytes of an iteration's output are kept: the last ones.",
  },
};

/** A repository must not choose the command that is run on the person's machine: only an agent by its name. */
export const PROJECT_LOOP: Field = {
  shape: {
    kind: "record",
    fields: {
      ...COMMON,
      ai: { shape: { kind: "word", values: AGENTS }, default: BUILT_IN.ai, about: "Which agent works." },
    },
  },
  about: "For `pawl loop`, where neither a flag, the procedure nor the environment says otherwise.",
};

export const PERSON_LOOP: Field = {
  shape: {
    kind: "record",
    fields: {
      ...COMMON,
      ai: {
        shape: { kind: "text", rule: LINE },
        default: BUILT_IN.ai,
        about: "Which agent works: a name, or a command line of your own.",
      },
      permissions: {
        shape: { kind: "word", values: PERMISSIONS },
        default: BUILT_IN.permissions,
        about: "What Claude may do unasked: edit files, only what its settings allow, or everything (not as root).",
      },
    },
  },
  about: "For `pawl loop`, in every project that does not say otherwise.",
};
