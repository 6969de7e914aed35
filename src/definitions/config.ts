/** ~/.config/pawl/config.yaml: what a person wants in every project. Cold path: this loads `yaml`. */
import { isBlank, readDocument, settingsText } from "./document.ts";
import type { Problem } from "./problem.ts";
import { CONFIG, type Config } from "./schema/config.ts";
import { checkShortcuts } from "./schema/shortcut.ts";

export const CONFIG_SHOWN = "~/.config/pawl/config.yaml";

/** A file that is missing or empty says nothing. */
export function readConfig(path: string, shown = CONFIG_SHOWN): { config: Config } | { errors: Problem[] } {
  const file = settingsText(path, shown);
  return "errors" in file ? file : compileConfig(file.text, shown);
}

export function compileConfig(text: string, shown: string): { config: Config } | { errors: Problem[] } {
  if (isBlank(text)) return { config: {} };
  const read = readDocument(text, shown, CONFIG, (reading, draft) =>
    checkShortcuts(reading, draft.shortcuts, "person"),
  );
  return "errors" in read ? read : { config: read.value };
}
