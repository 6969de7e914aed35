/** ~/.config/pawl/config.yaml: what a person wants in every project. Cold path: this loads `yaml`. */
import { readText } from "../store/files.ts";
import { readDocument } from "./document.ts";
import { type Problem, problemAt } from "./problem.ts";
import { CONFIG, type Config } from "./schema/config.ts";
import { checkShortcuts } from "./schema/shortcut.ts";

export const CONFIG_SHOWN = "~/.config/pawl/config.yaml";
const MAX_BYTES = 256 * 1024;

/** A file that is missing or empty says nothing. */
export function readConfig(path: string, shown = CONFIG_SHOWN): { config: Config } | { errors: Problem[] } {
  const file = readText(path, MAX_BYTES);
  if (file.ok) return compileConfig(file.text, shown);
  if (file.why === "missing") return { config: {} };
  const message = `the file cannot be read: ${file.detail ?? file.why}`;
  return { errors: [problemAt(shown, "", 0, message, "check the file and its permissions")] };
}

export function compileConfig(text: string, shown: string): { config: Config } | { errors: Problem[] } {
  if (text.replace(/^\s*#.*$/gm, "").trim() === "") return { config: {} };
  const read = readDocument(
    text,
    shown,
    CONFIG,
    () => null,
    (reading, draft) => checkShortcuts(reading, draft.shortcuts, "person"),
  );
  return "errors" in read ? read : { config: read.value };
}
