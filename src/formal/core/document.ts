import type { Base } from "../../kernel/types/formal.ts";
import type { Effect, Facts, Run } from "../../kernel/types/run.ts";
import { contentOf, renderFormal } from "./state.ts";

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
  const content = contentOf(run.formal!);
  // What an agent added gets a time of its own, even where no other byte would change: else its removal of the same
  // thing could not be distinguished from never having seen it.
  const known = last && JSON.stringify(last.content) === JSON.stringify(content);
  if (state === "present" && known && renderRun(run, last.stamp) === text) return effects;
  const stamp = stampOf(run);
  run.formal!.bases = [...remembered(run.formal!.bases, text), { stamp, content }];
  effects.push({ kind: "document", path, text: renderRun(run, stamp), expect: broken ? "" : hash });
  return effects;
}

/** A clock may be set back, and two hooks may begin in one millisecond: only with the run's number is a time used once. */
const stampOf = ({ seq, updated_at }: Run) => updated_at.replace(/Z$/, `${String(seq).padStart(6, "0")}Z`);

/** The newest, and the one that lies on the disk: it may be older where our writings did not get there. */
const remembered = (bases: Base[], text: string) =>
  bases.filter(({ stamp }, index) => index > bases.length - BASES || text.includes(JSON.stringify(stamp)));

function renderRun(run: Run, stamp: string): string {
  const { id, stage, status, created_at, owner } = run;
  const frame = { run: id, session_id: owner?.session ?? null, stage, status, created_at, updated_at: stamp };
  return renderFormal(run.formal!, frame);
}
