/** Turns notifications on or off in config.yaml: one word changes, every other byte stays. */
import { isMap, isPair, isScalar, type Node, parseDocument, type YAMLMap } from "yaml";

/** null: the file is written in a way that only the person should edit. The caller checks the result. */
export function switched(text: string, to: "on" | "off"): string | null {
  const document = parseDocument(text, { schema: "core" });
  if (document.errors.length > 0) return null;
  const { contents } = document;
  if (contents === null) return appended(text, to);
  if (!isMap(contents)) return null;
  const value = valueAt(contents, "notify");
  if (value === undefined) return contents.flow ? null : appended(text, to);
  if (isScalar(value)) return replaced(text, value, to);
  if (!isMap(value)) return null;
  const send = valueAt(value, "send");
  if (send !== undefined) return isScalar(send) ? replaced(text, send, to) : null;
  return to === "on" ? text : withFirst(text, value, "send: off");
}

function valueAt(map: YAMLMap, key: string): Node | null | undefined {
  const pair = map.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === key);
  return pair?.value as Node | null | undefined;
}

const appended = (text: string, to: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}notify: ${to}\n`;

function replaced(text: string, { range }: Node, to: string): string | null {
  return range ? `${text.slice(0, range[0])}${to}${text.slice(range[1])}` : null;
}

/** Before the first key of a block with that key's own indentation, or right after the bracket. */
function withFirst(text: string, map: YAMLMap, entry: string): string | null {
  const start = map.range?.[0];
  if (start === undefined) return null;
  if (map.flow) return `${text.slice(0, start + 1)}${entry}${map.items.length > 0 ? ", " : ""}${text.slice(start + 1)}`;
  const indent = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  return /^ +$/.test(indent) ? `${text.slice(0, start)}${entry}\n${indent}${text.slice(start)}` : null;
}
