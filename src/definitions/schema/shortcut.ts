/** How a project or a person changes the table of shortcuts: the shape of it, and what the shape alone cannot tell. */

import { type Overrides, SHORTCUTS } from "../../controls/core/shortcut.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import { quote, suggest } from "../problem.ts";
import { type Reading, reportAt } from "../read.ts";
import { map, optional, type Rule, text, wordOr } from "./words.ts";

/** The hook looks only at the first characters of a prompt: longer keys would never be seen. */
const KEY: Rule = {
  pattern:
    "^(?:(?!/)[^\\s:`\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f]{1,3}|[A-Za-z0-9_]{1,10}:)$",
  what: "the key of a shortcut",
  hint: 'use 1 to 3 characters without blanks, not beginning with "/"; or, in quotes, up to 10 letters and a colon: "d:"',
};

/** Words with which YAML's older rules would switch something. */
const TEXT: Rule = {
  pattern: "^(?!(?:[Yy]es|[Nn]o|[Tt]rue|[Ff]alse|On|ON|Off|OFF)$)(?=[\\s\\S]*\\S)[\\s\\S]{1,2000}$",
  what: "on, off or a text of at most 2,000 characters",
  hint: "write on, off, or what to tell the agent",
};

export const SHORTCUTS_ENTRY = optional(
  wordOr(["off"], map(KEY, text(TEXT))),
  "What a few keys mean in a session (`pawl help shortcuts`): off, or by key on, off or a text of your own. A person's ~/.config/pawl/config.yaml counts more than a project's pawl.yaml.",
);

export function checkShortcuts(reading: Reading, value: Overrides | undefined, whose: "project" | "person"): void {
  if (value === undefined || value === "off") return;
  for (const [key, word] of Object.entries(value)) {
    if (word === "on" || word === "off") checkKnown(reading, key, word, whose);
    else if (safeText(word).trim() === "")
      reportAt(reading, `shortcuts/${key}`, `no visible character in ${quote(word)}`, TEXT.hint);
  }
}

/** A person may switch off what some project has of its own. */
function checkKnown(reading: Reading, key: string, word: "on" | "off", whose: "project" | "person"): void {
  const known = SHORTCUTS.map((shortcut) => shortcut.key);
  const directive = known.includes(`${key}:`);
  if (known.includes(key) || (whose === "person" && word === "off" && !directive)) return;
  const hint = directive ? `in quotes and with its colon: "${key}:": ${word}` : suggest(key, known, "shortcuts");
  reportAt(reading, `shortcuts/${key}@key`, `there is no shortcut ${quote(key)} to switch ${word}`, hint);
}
