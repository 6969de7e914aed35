/** How a file format is described: the reader, the JSON Schema and the reference all come from it. Types only. */

import type { Json } from "../../kernel/types/run.ts";
import type { Rule } from "../rules.ts";

export type Shape =
  | { kind: "text"; rule?: Rule; role?: "template" | "prompt" }
  | { kind: "word"; values: readonly string[] }
  /** `or`: a word that may stand in its place */
  | { kind: "integer"; min: number; max: number; or?: string }
  | { kind: "number"; min: number; max: number }
  | { kind: "true" }
  | { kind: "list"; of: Shape; min: number }
  | { kind: "map"; key: Rule; of: Shape; min: number }
  /** `on`: that word may stand there too */
  | { kind: "off-or"; of: Shape; on?: true }
  | RecordShape;

export interface RecordShape {
  kind: "record";
  /** name under $defs, for a shape that is used more than once */
  id?: string;
  fields: Record<string, Field>;
  /** exactly one of these keys must be there */
  oneOf?: readonly string[];
}

export interface Field {
  shape: Shape;
  about: string;
  required?: true;
  default?: Json;
}
