/** Is the workflow on disk still the one that was pinned? What the person agreed to must not change under a run. */
import { withCommand } from "../../definitions/gates.ts";
import { projectGatesByName } from "../../definitions/project.ts";
import { findByName } from "../../definitions/registry.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import type { Fact, Json, Workflow } from "../../kernel/types/run.ts";
import { loopWorkflow } from "../../loop/core/run.ts";
import { commandTyped, takesCommand } from "../core/prompt.ts";

/** The differences, in words. */
export function gatherDefinition(root: string, pinned: Workflow): Fact<string[]> {
  const now = pinned.procedure === undefined ? workflowNow(root, pinned) : procedureNow(root, pinned.procedure);
  if (typeof now === "string") return { ok: true, value: [now] };
  return { ok: true, value: differences(asJson(pinned), asJson(now), "").slice(0, MOST) };
}

/** A string says why there is none. */
function workflowNow(root: string, pinned: Workflow): Workflow | string {
  const found = findByName(pinned.name, root);
  if (!found) return `${pinned.source} is missing`;
  if ("errors" in found) return `${found.file} cannot be read any more: \`pawl check\` shows why`;
  return withCommandOf(pinned, found.workflow, root);
}

/** The workflow as it is now, with the command that the run began with. */
export function withCommandOf(pinned: Workflow, workflow: Workflow, root: string): Workflow {
  if (!takesCommand(workflow)) return workflow;
  return withCommand(workflow, commandTyped(pinned) ?? "", projectGatesByName(root));
}

function procedureNow(root: string, name: string): Workflow | string {
  const { findProcedure } =
    require("../../definitions/procedures.ts") as typeof import("../../definitions/procedures.ts");
  const found = findProcedure(name, root);
  if (!found) return `the procedure ${name} is missing`;
  return "errors" in found ? `the procedure ${name} cannot be read any more` : loopWorkflow(found.procedure);
}

const MOST = 40;
const asJson = (workflow: Workflow) => JSON.parse(JSON.stringify(workflow)) as Json;

function differences(before: Json | undefined, now: Json | undefined, path: string): string[] {
  if (JSON.stringify(before) === JSON.stringify(now)) return [];
  if (isNode(before) && isNode(now)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return keys.flatMap((key) =>
      differences(at(before, key), at(now, key), path === "" ? key : `${path}.${label(before, now, key)}`),
    );
  }
  // An id is only the hash of the keys next to it.
  if (/(^|\.)id$/.test(path) && /gates/.test(path)) return [];
  return [
    ...(before === undefined ? [] : [`- ${path}: ${shown(before)}`]),
    ...(now === undefined ? [] : [`+ ${path}: ${shown(now)}`]),
  ];
}

type Node = { [key: string]: Json } | Json[];
const isNode = (value: Json | undefined): value is Node => typeof value === "object" && value !== null;
const at = (node: Node, key: string) => (node as Record<string, Json>)[key];

/** Stages are better known by their names than by their numbers. */
function label(before: Node, now: Node, key: string): string {
  const one = at(before, key) ?? at(now, key);
  return isNode(one) && !Array.isArray(one) && typeof one.id === "string" && typeof one.title === "string"
    ? one.id
    : key;
}

const shown = (value: Json) => {
  const text = safeText(typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/g, " ");
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};
