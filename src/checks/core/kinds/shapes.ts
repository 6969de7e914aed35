/** How the words of gates are written, where more than one kind needs it. */

import { INSIDE, type Rule } from "../../../definitions/rules.ts";
import type { Shape } from "../../../definitions/schema/shape.ts";

const ARGUMENT: Rule = {
  pattern: "^[^\\u0000]*$",
  what: "one argument of a command",
  hint: "write each argument as an entry of its own",
};
const GLOB: Rule = {
  pattern: "^!?(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000-\\u001f]+$",
  what: "a glob inside the project",
  hint: 'such as "src/**" or "packages/*/test"; no leading "/", no ".."',
};
const ONE_LINE: Rule = {
  pattern: "^[^\\r\\n\\u0000]*\\S[^\\r\\n\\u0000]*$",
  what: "one line of text",
  hint: "write it without line breaks",
};

export const argv: Shape = { kind: "list", of: { kind: "text", rule: ARGUMENT }, min: 1 };
export const glob: Shape = { kind: "text", rule: GLOB };
export const globs: Shape = { kind: "list", of: glob, min: 1 };
export const path: Shape = { kind: "text", rule: INSIDE };
export const line: Shape = { kind: "text", rule: ONE_LINE };
export const lines: Shape = { kind: "list", of: line, min: 1 };
export const count: Shape = { kind: "integer", min: 0, max: 1_000_000 };
