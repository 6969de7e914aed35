/**
 * What a kind of gate is: its YAML keys, its name, what it needs to know, how that is measured and how it is judged.
 * Kinds are pure: `decide` and the reader of workflow files load them all. Whatever touches the machine comes in
 * through `Measuring`, which is loaded only where there is a gate to measure.
 */

import type { GATE_WORDS } from "../../../definitions/schema/words.ts";
import type { Fact, Facts, GitFact, Verdict } from "../../../kernel/types/run.ts";
import type { Gate } from "../../../kernel/types/workflow.ts";
import type { Looked, Measuring } from "../../measuring.ts";

export interface Judged extends Verdict {
  /** no proof yet, but it may come by itself, or from a person */
  open?: "running" | "person";
  /** what the person is asked; without it, the gate's name */
  ask?: string;
  /** what the agent is told to do about it, line by line */
  ways?: string[];
}

export type Finding = Partial<Judged> & Pick<Judged, "verdict" | "why">;
export const pass = (why: string): Finding => ({ verdict: "pass", why });
export const fail = (why: string): Finding => ({ verdict: "fail", why });
export const unproven = (why: string): Finding => ({ verdict: "unproven", why });

/** What a verdict is measured against. */
export interface Background {
  at: string;
  base: GitFact | null;
  entered_at: string;
  most_tests: Record<string, number>;
  /** the newest verdicts, by gate: what the agent was told before */
  earlier?: Record<string, Verdict>;
  /** signs of old tests that a person accepted as they are now */
  accepted?: string[];
  /** what the agent said last */
  message?: string | null;
}

export type Words = typeof GATE_WORDS;
export type Entry = ReturnType<Words["optional"]>;

/** How a command is written: as words, or as a line for /bin/sh. */
export type Command = { argv: string[] } | { shell: string };

export interface Kind<Value = never> {
  /** the key that names it, and the options that go with it; declared only where a file is read */
  schema(words: Words): { check: Entry; options?: Record<string, Entry> };
  /** what people see where the gate has no name; default: the key and its value */
  name?(gate: Gate): string;
  /** what has to be known to judge it; `measure`: what this kind measures itself */
  needs: "git" | "message" | "tree" | "measure";
  /** it compares with the tree at the beginning of the run */
  compares?(gate: Gate): boolean;
  /** why it cannot be checked outside a run, or null if it can */
  outsideRun?(gate: Gate, hasBase: boolean): string | null;
  measure?(measuring: Measuring, gate: Gate): Fact<Value> | Looked;
  judge(gate: Gate, background: Background, facts: Facts, value: Value): Finding;
  /** a pass counts as long as the tree is the same; without it the gate is measured each time */
  keep?: true;
  /** what it starts */
  command?(gate: Gate): Command;
}

/** Types one kind by what it measures; the table holds kinds of any value. */
export const kind = <Value = never>(one: Kind<Value>): Kind<unknown> => one as Kind<unknown>;
