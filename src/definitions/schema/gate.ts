/** The shape of a gate in a workflow file and in pawl.yaml, put together from the kinds. */
import { KINDS } from "../../checks/core/kinds/index.ts";
import type { Gate } from "../../kernel/types/workflow.ts";
import { GATE_WORDS, list, name, named, optional, record, type Shape } from "./words.ts";

/** A gate as it is written: `use` is not resolved, and it may have no name. */
export interface GateFile extends Omit<Gate, "name" | "id" | "all" | "any"> {
  name?: string;
  use?: string;
  all?: GateFile[];
  any?: GateFile[];
}

const kinds = Object.entries(KINDS).map(([key, kind]) => ({ key, ...kind.schema(GATE_WORDS) }));
const gates = list(named((): Shape<GateFile> => GATE));

const CHECKS = {
  ...Object.fromEntries(kinds.map(({ key, check }) => [key, check])),
  use: optional(name, "The gate of this name in pawl.yaml."),
  all: optional(gates, "Every one of these gates has to pass."),
  any: optional(gates, "One of these gates has to pass."),
};

/** Exactly one of these keys says what is checked. */
export const CHECK_KEYS = Object.keys(CHECKS);

/** Each option with the kinds that it goes with. */
export const OPTIONS = new Map<string, string[]>();
for (const { key, options = {} } of kinds)
  for (const option of Object.keys(options)) OPTIONS.set(option, [...(OPTIONS.get(option) ?? []), key]);

export const GATE = record(
  {
    ...CHECKS,
    name: optional(GATE_WORDS.gateLine, "What people see. Default: made from the check."),
    ...Object.assign({}, ...kinds.map(({ options }) => options ?? {})),
  },
  { oneOf: CHECK_KEYS, none: "this checks nothing" },
) as Shape<GateFile>;
