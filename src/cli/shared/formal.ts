import type { Beginning } from "../../engine/core/begin.ts";
import type { Json, PhaseChange, Workflow } from "../../kernel/types/run.ts";
import { UserError } from "../../kernel/user-error.ts";
import type { Parsed } from "./args.ts";

/** What `pawl runs start` and `pawl runs phase` say about formal workflows. */

export const FORMAL_OPTIONS = ["--name=", "--phases=", "--reading=", "--context=", "--reminder="];

export function beginningOf(workflow: Workflow, { values, lists }: Parsed): Beginning {
  const named = values["--phases"]?.split(",").map((name) => name.trim());
  const phases = named?.filter((name) => name !== "") ?? workflow.stages.map((stage) => stage.title);
  if (phases.length === 0) throw new UserError("--phases names no phase", 'write --phases "Design,Build,Test"');
  const context = Object.fromEntries((lists["--context"] ?? []).map(pairOf));
  return {
    name: values["--name"]?.trim() || workflow.title,
    type: workflow.name,
    phases,
    created_at: null,
    content: {
      phase: { current: 1, total: phases.length, name: phases[0]!, status: "in_progress" },
      required_reading: (lists["--reading"] ?? []).map((path) => (path.startsWith("@") ? path : `@${path}`)),
      context: workflow.name === "qa-loop" ? { iteration: 1, ...context } : context,
      key_reminders: lists["--reminder"] ?? [],
      extra: {},
    },
  };
}

/** `plan_number=1` is a number, `name=user-auth` a text, `list=[1,2]` what JSON says. */
function pairOf(pair: string): [string, Json] {
  const at = pair.indexOf("=");
  if (at < 1) throw new UserError(`${pair} is no pair`, "write --context name=value");
  const text = pair.slice(at + 1);
  try {
    return [pair.slice(0, at), JSON.parse(text) as Json];
  } catch {
    return [pair.slice(0, at), text];
  }
}

export function phaseChangeOf([to, number]: string[], { values }: Parsed): PhaseChange {
  if (to === "next" || to === "done" || to === "block") return { to };
  const hint = "`pawl runs phase next|set N|block|done [--run ID]`";
  if (to !== "set") throw new UserError(to ? `a phase cannot ${to}` : "what about the phase?", hint);
  const current = Number(number);
  if (!Number.isInteger(current) || current < 1) throw new UserError(`${number ?? "nothing"} is no phase number`, hint);
  const name = values["--name"];
  return { to, current, ...(name !== undefined && { name }) };
}
