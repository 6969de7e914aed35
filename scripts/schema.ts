/** Writes schema/workflow.json from the one description of the format. */
import { writeFileSync } from "node:fs";
import { workflowSchema } from "../src/author/json-schema.ts";

const target = new URL("../schema/workflow.json", import.meta.url);
writeFileSync(target, `${JSON.stringify(workflowSchema(), null, 2)}\n`);
