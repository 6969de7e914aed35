/** Tables of a file format, from its JSON Schema. */
import type { Json } from "../../src/kernel/types/run.ts";
import { table } from "./markdown.ts";

export type Schema = { [key: string]: Json };

/** Each record with a heading of its own, in the order in which a reader meets them. */
export function formatSections(schema: Schema, elsewhere: Record<string, string> = {}): string[] {
  const sections = new Map<string, Schema>();
  collect("file", schema, schema, sections, new Set());
  const own = [...sections].filter(([name]) => !Object.hasOwn(elsewhere, name));
  const linked = (text: string) =>
    Object.entries(elsewhere).reduce((told, [name, page]) => told.replaceAll(`(#${name})`, `(${page}#${name})`), text);
  return own.map(([name, one]) => linked(section(name, one)));
}

/** What words are called in the tables: the titles of texts. */
export function titlesIn(schema: Schema): string[] {
  const titles = new Set<string>();
  collect("file", schema, schema, new Map(), titles);
  return [...titles];
}

const record = (value: Json | undefined) => (typeof value === "object" && value !== null ? (value as Schema) : {});
const records = (value: Json | undefined) => (Array.isArray(value) ? value.map(record) : []);
const nameIn = ({ $ref }: Schema) => (typeof $ref === "string" ? $ref.slice("#/$defs/".length) : undefined);

function section(name: string, schema: Schema): string {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(record(schema.properties)).map(([key, value]) => {
    const field = record(value);
    const must = field.default === undefined ? "" : `default \`${JSON.stringify(field.default)}\``;
    return [
      `\`${key}\``,
      typeOf(key, field),
      required.includes(key) ? "required" : must,
      String(field.description ?? ""),
    ];
  });
  const keys = records(schema.oneOf).flatMap((one) => (Array.isArray(one.required) ? one.required : []));
  const choice = keys.length > 1 ? [`Exactly one of ${keys.map((key) => `\`${key}\``).join(", ")}.`] : [];
  const head = `## ${name === "file" ? "The file" : name}`;
  return [head, ...choice, table(["key", "type", "", "meaning"], rows)].join("\n\n");
}

function typeOf(key: string, schema: Schema): string {
  const name = nameIn(schema);
  if (name !== undefined) return `[${name}](#${name})`;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf) return [...new Set(records(schema.anyOf).map((one) => typeOf(key, one)))].join(", or ");
  if (schema.type === "boolean") return "`true`, `false`";
  if (schema.type === "array") return `list: ${typeOf(key, record(schema.items))}`;
  if (schema.type === "integer") return `${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "number") return `a number, ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "string") return String(schema.title ?? "text");
  if (schema.propertyNames)
    return `${record(schema.propertyNames).title} → ${typeOf(key, record(schema.additionalProperties))}`;
  return `[${key}](#${key})`;
}

function collect(name: string, schema: Schema, root: Schema, sections: Map<string, Schema>, titles: Set<string>): void {
  const defined = nameIn(schema);
  const shape = defined === undefined ? schema : record(record(root.$defs)[defined]);
  const own = defined ?? name;
  if (shape.type === "string" && typeof shape.title === "string") titles.add(shape.title);
  for (const part of [shape.items, shape.additionalProperties, shape.propertyNames, ...records(shape.anyOf)])
    if (part) collect(name, record(part), root, sections, titles);
  if (!shape.properties || sections.has(own)) return;
  sections.set(own, shape);
  for (const [key, field] of Object.entries(record(shape.properties)))
    collect(key, record(field), root, sections, titles);
}
