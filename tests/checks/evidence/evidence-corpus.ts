/** The corpus of test runs: real outputs and traps, as YAML in tests/corpus/outputs/. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Json, ToolCall } from "../../../src/kernel/types/run.ts";

type Word = "pass" | "fail" | "none";

export interface OutputEntry {
  name: string;
  runner: string;
  source: string;
  command: string;
  /** null: hidden by a pipe */
  exit: number | null;
  output: string;
  /** `evidence`: the verdict of the same run as a tool call, where it differs; absent: it is no test run */
  expect: { verdict: Word; passed?: number; failed?: number; skipped?: number; evidence?: Word | "absent" };
}

/** A call in short (command, exit, output), or as it is in a transcript (name, input, result). */
interface WrittenCall {
  command?: string;
  exit?: number;
  output?: string;
  name?: string;
  agent?: string;
  input?: Json;
  result?: ToolCall["result"];
}

export interface CallEntry {
  name: string;
  calls: WrittenCall[];
  runs: { command: string; verdict: Word; passed?: number }[];
}

const FOLDER = join(import.meta.dir, "../../corpus/outputs");
const all = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".yaml"))
  .flatMap((name) => parse(readFileSync(join(FOLDER, name), "utf8")) as (OutputEntry | CallEntry)[]);

export const outputs = all.filter((entry): entry is OutputEntry => "output" in entry);
export const callEntries = all.filter((entry): entry is CallEntry => "calls" in entry);

/** A run as the client writes it down. */
export function asCall(command: string, exit: number | null, output: string): ToolCall {
  const error = exit !== null && exit !== 0;
  const text = error ? `Exit code ${exit}\n${output}` : output;
  const data: Json = error ? `Error: ${text}` : { stdout: output, stderr: "", interrupted: false };
  return {
    id: "t",
    name: "Bash",
    input: { command },
    result: { text, error, data },
    at: "2026-01-01T00:00:00Z",
    agent: "",
  };
}

export function asToolCall(written: WrittenCall): ToolCall {
  const call = asCall(written.command ?? "", written.exit ?? 0, written.output ?? "");
  const given: Partial<ToolCall> = { name: written.name ?? call.name, agent: written.agent ?? "" };
  if (written.input !== undefined) given.input = written.input;
  if (written.result !== undefined) given.result = written.result;
  return { ...call, ...given };
}
