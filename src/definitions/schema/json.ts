/** The JSON Schema of each file format, for editors. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import type { Json } from "../../kernel/types/run.ts";
import { GATE } from "./gate.ts";
import { PROCEDURE, PROCEDURE_PARTS } from "./procedure.ts";
import { PROJECT } from "./project.ts";
import { WORKFLOW, WORKFLOW_PARTS } from "./workflow.ts";

export type Schema = { [key: string]: Json };

export const workflowSchema = () =>
  buildSchema(
    WORKFLOW,
    WORKFLOW_PARTS,
    "Pawl workflow",
    "A workflow that Pawl keeps a coding agent on. `pawl check` proves more than this schema can.",
  );

export const projectSchema = () =>
  buildSchema(PROJECT, { gate: GATE }, "pawl.yaml", "A project's checks, and which signals they guard.");

export const procedureSchema = () =>
  buildSchema(
    PROCEDURE,
    PROCEDURE_PARTS,
    "Pawl procedure",
    "What `pawl loop` asks an agent for, again and again. `pawl check` proves more than this schema can.",
  );

function buildSchema(shape: GenericSchema, parts: Record<string, GenericSchema>, title: string, description: string) {
  const made = toJsonSchema(shape, {
    target: "draft-2020-12",
    definitions: parts,
    // What these check is in the metadata next to them.
    ignoreActions: ["raw_check", "transform"],
  });
  const { $schema, $defs, ...rest } = made as Schema;
  return { $schema, title, description, ...rest, $defs } as Schema;
}
