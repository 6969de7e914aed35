import type { Json } from "../../kernel/types/run.ts";
import type { Rule } from "../rules.ts";
import { PROCEDURE } from "./procedure.ts";
import { PROJECT } from "./project.ts";
import type { Field, RecordShape, Shape } from "./shape.ts";
import { WORKFLOW } from "./workflow.ts";

type Schema = { [key: string]: Json };

export function workflowSchema(): Schema {
  const about = "A workflow that Pawl keeps a coding agent on. `pawl check` proves more than this schema can.";
  return schemaOf(WORKFLOW, "Pawl workflow", about);
}

export function projectSchema(): Schema {
  return schemaOf(PROJECT, "pawl.yaml", "A project's checks, and which signals they guard.");
}

export function procedureSchema(): Schema {
  const about = "What `pawl loop` asks an agent for, again and again. `pawl check` proves more than this schema can.";
  return schemaOf(PROCEDURE, "Pawl procedure", about);
}

function schemaOf(shape: RecordShape, title: string, description: string): Schema {
  const defs: Schema = {};
  const root = recordSchema(shape, defs);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    description,
    ...root,
    $defs: Object.fromEntries(Object.entries(defs).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function recordSchema(shape: RecordShape, defs: Schema): Schema {
  const fields = Object.entries(shape.fields);
  const required = fields.filter(([, field]) => field.required).map(([key]) => key);
  return {
    type: "object",
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([key, field]) => [key, fieldSchema(field, defs)])),
    ...(shape.oneOf && { oneOf: shape.oneOf.map((key) => ({ required: [key] })) }),
  };
}

function fieldSchema(field: Field, defs: Schema): Schema {
  return {
    description: field.about,
    ...shapeSchema(field.shape, defs),
    ...(field.default !== undefined && { default: field.default }),
  };
}

function shapeSchema(shape: Shape, defs: Schema): Schema {
  switch (shape.kind) {
    case "text":
      return { type: "string", ...(shape.rule && { pattern: shape.rule.pattern }) };
    case "word":
      return { enum: [...shape.values] };
    case "integer":
      return integerSchema(shape);
    case "number":
      return { type: "number", minimum: shape.min, maximum: shape.max };
    case "true":
      return { const: true };
    case "list":
      return { type: "array", ...(shape.min > 0 && { minItems: shape.min }), items: shapeSchema(shape.of, defs) };
    case "map":
      return mapSchema(shape.key, shape.min, shapeSchema(shape.of, defs));
    case "off-or":
      return { anyOf: [...(shape.on ? [{ const: "on" }] : []), { const: "off" }, shapeSchema(shape.of, defs)] };
    case "record":
      return shape.id ? reference(shape.id, shape, defs) : recordSchema(shape, defs);
  }
}

function integerSchema({ min, max, or }: Extract<Shape, { kind: "integer" }>): Schema {
  const whole = { type: "integer", minimum: min, maximum: max };
  return or === undefined ? whole : { anyOf: [{ const: or }, whole] };
}

function mapSchema(key: Rule, min: number, of: Schema): Schema {
  return {
    type: "object",
    ...(min > 0 && { minProperties: min }),
    propertyNames: { pattern: key.pattern },
    additionalProperties: of,
  };
}

function reference(id: string, shape: RecordShape, defs: Schema): Schema {
  if (!Object.hasOwn(defs, id)) {
    // Its place first: a shape may hold itself.
    defs[id] = {};
    defs[id] = recordSchema(shape, defs);
  }
  return { $ref: `#/$defs/${id}` };
}
