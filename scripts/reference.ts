/** Writes docs/reference/ from what the program itself knows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cliReference } from "./reference/cli.ts";
import { journalReference } from "./reference/journal.ts";
import { proceduresReference } from "./reference/procedures.ts";
import { workflowReference } from "./reference/workflow.ts";

/** The pages that people write: what the program cannot say of itself. */
export const WRITTEN = ["ai-cli-integration.md", "error-handling.md", "iteration-loop.md"];

/** File name → text. */
export async function references(): Promise<Record<string, string>> {
  return {
    "cli.md": await cliReference(),
    "workflow.md": workflowReference(),
    "journal.md": journalReference(),
    "procedures.md": proceduresReference(),
  };
}

if (import.meta.main) {
  const folder = new URL("../docs/reference/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await references())) writeFileSync(new URL(name, folder), text);
}
