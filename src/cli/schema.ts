/** The JSON Schemas of the files that people write, for editors. */
import procedure from "../../schema/procedure.json";
import project from "../../schema/project.json";
import workflow from "../../schema/workflow.json";
import { suggest } from "../definitions/problem.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { UserError } from "../kernel/user-error.ts";
import type { Io, Parsed } from "./shared/args.ts";

const SCHEMAS: Record<string, object> = { workflow, project, procedure };

export const usage = `usage: pawl schema workflow | project | procedure

Print the JSON Schema of a workflow, of pawl.yaml or of a procedure. Save it, and let your editor check the file with a
first line such as
  # yaml-language-server: $schema=.pawl/schema/project.json
\`pawl init\` does both for pawl.yaml. Exit codes: 0 printed, 2 wrong usage.`;

export const options: string[] = [];
export const maxWords = 1;
export const showsUsage = true;

export function run({ words: [name = ""] }: Parsed, io: Io): number {
  const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (schema === undefined) {
    const what = name === "" ? "which schema?" : `there is no schema ${visible(name)}`;
    throw new UserError(what, suggest(name, Object.keys(SCHEMAS), "the schemas"));
  }
  io.out(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}
