import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { judgeTests, type TestRun, testRuns } from "../../src/core/evidence.ts";
import type { Json, ToolCall } from "../../src/core/types.ts";

interface Expected {
  verdict: "pass" | "fail" | "none";
  passed?: number;
  failed?: number;
  skipped?: number;
  /** the verdict of the same run as a tool call, where it differs; absent: it is no test run */
  evidence?: "pass" | "fail" | "none" | "absent";
}

interface OutputEntry {
  name: string;
  runner: string;
  source: string;
  command: string;
  exit: number | null;
  output: string;
  expect: Expected;
}

const FOLDER = join(import.meta.dir, "../corpus/outputs");
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
const entries = files.flatMap((name) => parse(readFileSync(join(FOLDER, name), "utf8")) as OutputEntry[]);

/** The same run, as the client would have written it down. */
function asCall({ command, exit, output }: OutputEntry): ToolCall {
  const isError = exit !== null && exit !== 0;
  const data: Json = isError ? `Error: Exit code ${exit}\n${output}` : { stdout: output, stderr: "", interrupted: false };
  const text = isError ? `Exit code ${exit}\n${output}` : output;
  return { id: "t1", name: "Bash", input: { command }, result: { text, error: isError, data }, at: "2026-01-01T00:00:00Z", agent: "" };
}

function wordOf(runs: TestRun[]): string {
  return runs.at(-1)?.verdict ?? "absent";
}

describe("outputs", () => {
  for (const entry of entries) {
    test(entry.name, () => {
      const { verdict, passed, failed, skipped, evidence } = entry.expect;
      const judged = judgeTests(entry.output, entry.exit);
      expect({ verdict: judged.verdict, why: judged.why }).toEqual({ verdict, why: judged.why });
      if (passed !== undefined) expect(judged.tally).toMatchObject({ passed, failed: failed!, skipped: skipped! });
      const runs = testRuns([asCall(entry)]);
      expect({ word: wordOf(runs), why: runs.at(-1)?.why }).toEqual({ word: evidence ?? verdict, why: runs.at(-1)?.why });
    });
  }
});
