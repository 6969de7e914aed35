/** Which shortcut a prompt is, what it expands to, and what a project or a person made of the table. */
import { plain } from "../../kernel/text/safe-text.ts";
import { isDirective, type Shortcut } from "./shortcut-table.ts";

export { SHORTCUTS, type Shortcut } from "./shortcut-table.ts";
export { fragmentText, helpText } from "./shortcut-texts.ts";

export function expansionOf(shortcut: Shortcut): string {
  return `[${isDirective(shortcut) ? "DIRECTIVE" : "SHORTCUT"}: ${shortcut.name}] ${shortcut.text}`;
}

// ── Matching ────────────────────────────────────────────────────────────────

const isBlank = (text: string) => text !== "" && text.trim() === "";

export function findShortcut(prompt: string, table: readonly Shortcut[]): { shortcut: Shortcut; rest: string } | null {
  const message = prompt.trim();
  const shortcut = table.find((one) =>
    isDirective(one) ? begins(message, one.key) && !isIndented(prompt) : message === one.key,
  );
  return shortcut ? { shortcut, rest: message.slice(shortcut.key.length).trim() } : null;
}

/** Trimmed, it does not end with the blank: so something follows. */
const begins = (message: string, key: string) => message.startsWith(key) && isBlank(message.charAt(key.length));

/** Code that was pasted as it stood, not a line that somebody typed. */
function isIndented(prompt: string): boolean {
  const before = prompt.slice(0, prompt.length - prompt.trimStart().length);
  const indent = before.slice(before.lastIndexOf("\n") + 1);
  return indent.length >= 4 || indent.includes("\t");
}

// ── Overrides ───────────────────────────────────────────────────────────────

/** Key → "on", "off" or a text of one's own; or all of them off. */
export type Overrides = "off" | Record<string, string>;

/** Later layers win. Only what is on is left. */
export function withOverrides(table: readonly Shortcut[], layers: Overrides[]): Shortcut[] {
  const shipped = new Map(table.map((one) => [one.key, one]));
  const known = new Map(shipped);
  const on = new Set(table.filter(({ optional }) => !optional).map(({ key }) => key));
  for (const layer of layers) {
    if (layer === "off") on.clear();
    else for (const [key, value] of Object.entries(layer)) override(key, value);
  }
  return [...known.values()].filter(({ key }) => on.has(key));

  function override(key: string, value: string): void {
    if (value === "off") on.delete(key);
    else {
      // "on" is the shipped meaning, whatever a layer below made of the key.
      const chosen = value === "on" ? (shipped.get(key) ?? known.get(key)) : ownShortcut(key, value);
      if (chosen) known.set(key, chosen);
      on.add(key);
    }
  }
}

const LONGEST_MEANING = 60;

/** Nothing is resolved or watched for it: no one knows what it asks for. */
function ownShortcut(key: string, value: string): Shortcut {
  const text = plain(value).trim();
  const line = text.split("\n", 1)[0]!;
  const means =
    line.length < text.length || line.length > LONGEST_MEANING ? `${line.slice(0, LONGEST_MEANING)}…` : line;
  return { key, name: key.endsWith(":") ? key.slice(0, -1).toUpperCase() : key, text, means };
}
