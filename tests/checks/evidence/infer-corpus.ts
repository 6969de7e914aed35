/** The corpus of inference: what was called, what was said, and what that shows; as YAML in tests/corpus/infer/. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Progress } from "../../../src/kernel/types/inference.ts";
import type { Json, ToolCall } from "../../../src/kernel/types/run.ts";
import type { Inference } from "../../../src/kernel/types/workflow.ts";

/** A shell line (`sh`), an edit of a file (`edit`), a reviewer's result (`review`), or any tool. */
interface WrittenCall {
  sh?: string;
  out?: string;
  exit?: number;
  edit?: string;
  review?: string;
  /** which reviewer */
  by?: string;
  tool?: string;
  input?: Json;
  result?: string;
  error?: boolean;
  pending?: boolean;
  background?: boolean;
  interrupted?: boolean;
  agent?: string;
  /** second of the call, if not its place */
  at?: number;
}

interface WrittenCase {
  name: string;
  task?: string;
  calls: WrittenCall[];
  says?: string;
  infers: string;
  progress: Progress;
}

export interface Case {
  name: string;
  stage: string;
  task: string;
  calls: ToolCall[];
  says: string;
  infers: string | null;
  progress: Progress;
}

const ROOT = join(import.meta.dir, "../../..");
const FOLDER = join(ROOT, "tests/corpus/infer");

export const cases: Case[] = readdirSync(FOLDER)
  .map((name) => parse(readFileSync(join(FOLDER, name), "utf8")) as { stage: string; cases: WrittenCase[] })
  .flatMap(({ stage, cases: written }) => written.map((one) => asCase(stage, one)));

/** Per stage, as the workflow has them. */
export const RULES: Record<string, Record<string, Inference>> = Object.fromEntries(
  (
    parse(readFileSync(join(ROOT, "workflows/auto-workflow.yaml"), "utf8")) as {
      stages: { id: string; infer?: Record<string, Inference> }[];
    }
  ).stages.map(({ id, infer }) => [id, infer ?? {}]),
);

function asCase(stage: string, { name, task, calls, says, infers, progress }: WrittenCase): Case {
  return {
    name,
    stage,
    task: task ?? "bd-42",
    calls: calls.map(asToolCall),
    says: says ?? "",
    infers: infers === "none" ? null : infers,
    progress,
  };
}

function asToolCall(written: WrittenCall, place: number): ToolCall {
  return {
    id: `t${place}`,
    name: nameOf(written),
    input: inputOf(written),
    result: written.pending ? null : resultOf(written),
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, written.at ?? place)).toISOString(),
    agent: written.agent ?? "",
  };
}

function nameOf({ sh, edit, review, tool }: WrittenCall): string {
  if (sh !== undefined) return "Bash";
  if (edit !== undefined) return "Edit";
  return review !== undefined ? "Task" : tool!;
}

function inputOf({ sh, edit, review, by, background, input }: WrittenCall): Json {
  if (sh !== undefined) return background ? { command: sh, run_in_background: true } : { command: sh };
  if (edit !== undefined) return { file_path: edit, old_string: "a", new_string: "b" };
  return review !== undefined ? { subagent_type: by ?? "oracle-reviewer", prompt: "Say APPROVED." } : (input ?? {});
}

/** As the client writes it down. */
function resultOf({ sh, out, exit, review, result, error, interrupted }: WrittenCall): ToolCall["result"] {
  if (sh === undefined) return { text: review ?? result ?? "ok", error: error === true, data: null };
  const output = out ?? "";
  if (exit) return { text: `Exit code ${exit}\n${output}`, error: true, data: `Error: Exit code ${exit}\n${output}` };
  if (error) return { text: output, error: true, data: `Error: ${output}` };
  return { text: output, error: false, data: { stdout: output, stderr: "", interrupted: interrupted === true } };
}
