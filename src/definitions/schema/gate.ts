/** The shape of a gate in a workflow file and in pawl.yaml, put together from the kinds. */
import { KINDS } from "../../checks/core/kinds/index.ts";
import type { Kind } from "../../checks/core/kinds/kind.ts";
import { line } from "../../checks/core/kinds/shapes.ts";
import { NAME } from "../rules.ts";
import type { Field, RecordShape } from "./shape.ts";

const kinds = Object.entries<Kind<unknown>>(KINDS);

/** Each option with the kinds that it goes with. */
export const OPTIONS = new Map<string, string[]>();
for (const [key, { schema }] of kinds)
  for (const option of Object.keys(schema.options ?? {})) OPTIONS.set(option, [...(OPTIONS.get(option) ?? []), key]);

const CHECKS: Record<string, Field> = Object.fromEntries(kinds.map(([key, { schema }]) => [key, schema.field]));

export const GATE: RecordShape = {
  kind: "record",
  id: "gate",
  fields: {
    ...CHECKS,
    use: { shape: { kind: "text", rule: NAME }, about: "The gate of this name in pawl.yaml." },
  },
};

GATE.fields.all = { shape: { kind: "list", of: GATE, min: 1 }, about: "Every one of these gates has to pass." };
GATE.fields.any = { shape: { kind: "list", of: GATE, min: 1 }, about: "One of these gates has to pass." };
GATE.oneOf = Object.keys(GATE.fields);
GATE.fields.name = { shape: line, about: "What people see. Default: made from the check." };
Object.assign(GATE.fields, ...kinds.map(([, { schema }]) => schema.options ?? {}));
