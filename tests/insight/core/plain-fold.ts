/** The slow way: every line is parsed, every field looked at. What the quick way finds has to be the same. */
import { type FoldLine, foldLine, openRun, type RunState, ruleOf, touchRun } from "../../../src/insight/core/fold.ts";
import { packRun } from "../../../src/insight/core/fold-pack.ts";
import { newPacker } from "../../../src/insight/core/packed.ts";

type Value = Record<string, FoldLine["fields"][string]>;

const NAME = 200;
const isName = (value: unknown): value is string => typeof value === "string" && value !== "" && value.length <= NAME;
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 1e9;
const nameOf = (value: unknown) => (typeof value === "string" ? value.slice(0, NAME) : "");

/** NaN: no time as Pawl writes them. */
function timeOf(value: unknown): number {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return Number.NaN;
  const ms = Date.parse(value);
  return ms >= 0 && new Date(ms).toISOString() === value ? ms : Number.NaN;
}

/** null: no record. */
function lineOf(text: string): FoldLine | null {
  let value: Value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { v, run, kind, seq, i, host, session, workflow, stage } = value;
  const at = timeOf(value.at);
  if (v !== 1 || Number.isNaN(at) || !isName(run) || !isName(kind) || !isCount(seq) || !isCount(i)) return null;
  const names = { host: nameOf(host), session: nameOf(session), workflow: nameOf(workflow), stage: nameOf(stage) };
  return { at, run, seq, i, kind, rule: ruleOf(kind), ...names, fields: value };
}

export function foldPlainly(text: string): { runs: Map<string, Uint8Array>; skipped: number } {
  const states = new Map<string, RunState>();
  let skipped = 0;
  for (const one of text.split("\n").slice(0, -1)) {
    if (one === "") continue;
    const line = lineOf(one);
    if (line === null) skipped++;
    else take(states, line);
  }
  const packer = newPacker();
  return { runs: new Map([...states].map(([id, state]) => [id, packRun(packer, state).slice()])), skipped };
}

function take(states: Map<string, RunState>, line: FoldLine): void {
  const known = states.get(line.run);
  const isInjected = line.kind === "prompted" && line.fields.injected === true;
  if (line.rule.look === "nothing" || isInjected) {
    if (known !== undefined) touchRun(known, line.at);
    return;
  }
  const state = known ?? openRun(line);
  states.set(line.run, state);
  foldLine(state, line);
}
