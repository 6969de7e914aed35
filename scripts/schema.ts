/** Writes schema/*.json from the one description of each format. */
import { writeFileSync } from "node:fs";
import { procedureSchema, projectSchema, workflowSchema } from "../src/definitions/schema/json.ts";

for (const [name, schema] of [
  ["workflow", workflowSchema()],
  ["project", projectSchema()],
  ["procedure", procedureSchema()],
] as const) {
  writeFileSync(new URL(`../schema/${name}.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
}
