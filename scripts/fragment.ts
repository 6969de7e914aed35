/** Writes the fragment for CLAUDE.md from the one table of shortcuts. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fragmentText, SHORTCUTS, withOverrides } from "../src/controls/core/shortcut.ts";

export const FRAGMENT = new URL("../plugin/fragments/execute-rule.md", import.meta.url);

/** With what is on unless somebody says otherwise. */
export const shippedFragment = () => fragmentText(withOverrides(SHORTCUTS, []));

if (import.meta.main) {
  mkdirSync(new URL("./", FRAGMENT), { recursive: true });
  writeFileSync(FRAGMENT, shippedFragment());
}
