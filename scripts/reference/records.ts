/** Which kinds of records core makes, and with which keys: read from its sources, since nothing else knows it all. */
import { readdirSync, readFileSync } from "node:fs";

const SRC = new URL("../../src/", import.meta.url);
const CALL = /\brecord\(draft, "(\w+)"(, \{)?/g;

/** A kind may be recorded in several places: the keys of all of them. */
export function recordedKeys(): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  const names = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  for (const name of names.filter((one) => /\/core\/[^/]+\.ts$/.test(one)).sort()) {
    const text = readFileSync(new URL(name, SRC), "utf8");
    for (const call of text.matchAll(CALL)) {
      const found = call[2] ? keysOf(text.slice(call.index + call[0].length)) : [];
      keys.set(call[1]!, [...new Set([...(keys.get(call[1]!) ?? []), ...found])]);
    }
  }
  return keys;
}

/** The keys of an object literal, from after its opening brace; "a" and "a: value" both. */
function keysOf(text: string): string[] {
  let depth = 0;
  let entry = "";
  const entries: string[] = [];
  for (const char of text) {
    if ("}])".includes(char) && depth-- === 0) break;
    if ("{[(".includes(char)) depth++;
    if (char === "," && depth === 0) {
      entries.push(entry);
      entry = "";
    } else entry += char;
  }
  return [...entries, entry].flatMap((part) => /^\s*(\w+)/.exec(part)?.[1] ?? []);
}
