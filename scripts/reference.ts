/** Writes docs/reference/ from what the program itself knows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cliReference } from "./reference/cli.ts";
import { journalReference } from "./reference/journal.ts";
import { workflowReference } from "./reference/workflow.ts";

/** File name → text. */
export async function references(): Promise<Record<string, string>> {
  return {
    "cli.md": await cliReference(),
    "workflow.md": workflowReference(),
    "journal.md": journalReference(),
  };
}

if (import.meta.main) {
  const folder = new URL("../docs/reference/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await references())) writeFileSync(new URL(name, folder), text);
}
