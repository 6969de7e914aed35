/** One line of a journal. Anyone may have written it, so every field is checked before it is used. */
import type { Json } from "../../kernel/types/run.ts";

const LONGEST_NAME = 200;

/** One record of the journal. `fields` holds the whole line. */
export type JournalLine = NonNullable<ReturnType<typeof readRecord>>;

/** null: this is not a record. */
export function readRecord(value: unknown) {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Record<string, Json | undefined>;
  const { v, run, kind, seq, i, host, session, workflow, stage } = fields;
  if (v !== 1 || !isName(run) || !isName(kind) || !isCount(seq) || !isCount(i)) return null;
  const at = parseTime(fields.at);
  if (at === null) return null;
  return {
    at,
    run,
    seq,
    i,
    kind,
    host: readName(host),
    session: readName(session),
    workflow: readName(workflow),
    stage: readName(stage),
    fields,
  };
}

const isName = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "" && value.length <= LONGEST_NAME;
const readName = (value: Json | undefined) => (typeof value === "string" ? value.slice(0, LONGEST_NAME) : "");
const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1e9;

/** All lines of a commit have the same time, so the last one is kept. */
let lastText = "";
let lastTime: number | null = null;

/** null: not a time as Pawl writes it. */
function parseTime(value: Json | undefined): number | null {
  if (typeof value !== "string") return null;
  if (value === lastText) return lastTime;
  lastText = value;
  const ms = value.length === 24 && value[10] === "T" && value[23] === "Z" ? Date.parse(value) : Number.NaN;
  // `Date.parse` takes February 30 for March 2.
  lastTime = ms >= 0 && new Date(ms).getUTCDate() === Number(value.slice(8, 10)) ? ms : null;
  return lastTime;
}
