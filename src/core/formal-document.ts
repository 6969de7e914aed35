import { contentOf, renderFormal } from "./formal.ts";
import type { Effect, Facts, Run } from "./types.ts";

/** How many of our writings an agent's edit may lag behind. */
const BASES = 4;

/** The effects that bring a formal workflow's document in line with the run. */
export function projectFormal(run: Run, facts: Facts): Effect[] {
  const fact = facts.document;
  if (!fact?.ok || !run.document.path) return [];
  const { path } = run.document;
  const { state, text, hash } = fact.value;
  const broken = state === "broken";
  const effects: Effect[] = broken ? [{ kind: "quarantine", path }] : [];
  if (run.status === "ended")
    return state === "missing" ? [] : [...effects, { kind: "document", path, text: null, expect: hash }];
  run.document.written = true;
  const last = run.formal!.bases.at(-1);
  if (state === "present" && last && renderRun(run, last.stamp) === text) return effects;
  run.formal!.bases = [...run.formal!.bases, { stamp: run.updated_at, content: contentOf(run.formal!) }].slice(-BASES);
  effects.push({ kind: "document", path, text: renderRun(run, run.updated_at), expect: broken ? "" : hash });
  return effects;
}

function renderRun(run: Run, stamp: string): string {
  const { id, stage, status, created_at, owner } = run;
  const frame = { run: id, session_id: owner?.session ?? null, stage, status, created_at, updated_at: stamp };
  return renderFormal(run.formal!, frame);
}
