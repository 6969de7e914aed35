import type { Json } from "./json.ts";

/**
 * A formal workflow: phases, required reading, reminders and context that have to outlive the conversation. Its
 * document is written by agents as well as by us, so every change is a three-way merge: what the document said when we
 * last saw it, what it says now, and what we know.
 */

export type PhaseStatus = "not_started" | "in_progress" | "completed" | "blocked";

export interface Phase {
  current: number;
  total: number;
  name: string;
  status: PhaseStatus;
}

/** What an agent may write. */
export interface Content {
  phase: Phase;
  required_reading: string[];
  context: Record<string, Json>;
  key_reminders: string[];
  /** keys we do not know, kept as they are */
  extra: Record<string, Json>;
}

export interface Formal extends Content {
  name: string;
  type: string;
  /** the names of the phases, as far as they are known */
  phases: string[];
  /** what we meant the document to say, the newest last, each with the time that stands in it */
  bases: Base[];
  /** set by a restore until the reading was checked */
  restored?: { at: string };
}

export interface Base {
  stamp: string;
  content: Content;
}

export const STATUSES: PhaseStatus[] = ["not_started", "in_progress", "completed", "blocked"];
const OURS = ["run", "session_id", "stage", "status", "updated_at", "workflow", "workflow_type", "created_at"];
const THEIRS = ["phase", "required_reading", "context", "key_reminders"];

export interface ParsedFormal {
  name: string;
  type: string;
  created_at: string | null;
  run: string | null;
  /** its updated_at: tells which of our writings it was made from */
  stamp: string | null;
  content: Content;
  /** what was mended, in plain words */
  mended: string[];
}

const isMap = (value: unknown): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : null);

/** A document as the seed describes it; a string says why it is none. */
export function parseFormal(text: string): ParsedFormal | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (!isMap(value)) return "it is no JSON object";
  const name = textOf(value.workflow);
  if (name === null) return "it names no workflow";
  const mended: string[] = [];
  const content: Content = {
    phase: parsePhase(value.phase, mended),
    required_reading: parseReading(value.required_reading, mended),
    context: isMap(value.context) ? value.context : {},
    key_reminders: texts(value.key_reminders),
    extra: Object.fromEntries(Object.entries(value).filter(([key]) => !OURS.includes(key) && !THEIRS.includes(key))),
  };
  return {
    name,
    type: textOf(value.workflow_type) ?? "custom",
    created_at: textOf(value.created_at),
    run: textOf(value.run),
    stamp: textOf(value.updated_at),
    content,
    mended,
  };
}

const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string" && item !== "") : [];

/** Reading is asked for with @: an entry without it gets it. */
function parseReading(value: unknown, mended: string[]): string[] {
  return texts(value).map((entry) => {
    if (entry.startsWith("@")) return entry;
    mended.push(`required_reading: ${entry} became @${entry}`);
    return `@${entry}`;
  });
}

function parsePhase(value: unknown, mended: string[]): Phase {
  const raw = isMap(value) ? value : {};
  const whole = (number: unknown) =>
    typeof number === "number" && Number.isInteger(number) && number > 0 ? number : null;
  const current = whole(raw.current) ?? 1;
  const total = Math.max(whole(raw.total) ?? current, current);
  const status = STATUSES.find((known) => known === raw.status) ?? "in_progress";
  const phase = { current, total, name: textOf(raw.name) ?? "In Progress", status };
  if (JSON.stringify(phase) !== JSON.stringify({ ...raw })) noteMended(raw, phase, mended);
  return phase;
}

function noteMended(raw: Record<string, Json>, phase: Phase, mended: string[]): void {
  for (const key of ["current", "total", "name", "status"] as const) {
    if (raw[key] !== phase[key])
      mended.push(`phase.${key}: ${JSON.stringify(raw[key] ?? null)} became ${JSON.stringify(phase[key])}`);
  }
}

// ── Merge ───────────────────────────────────────────────────────────────────

/** Their change wins over ours; what they did not touch stays ours. So a removal sticks and nothing else is lost. */
export function mergeContent(ours: Content, base: Content, theirs: Content): Content {
  return {
    phase: same(base.phase, theirs.phase) ? ours.phase : theirs.phase,
    required_reading: mergeList(ours.required_reading, base.required_reading, theirs.required_reading),
    key_reminders: mergeList(ours.key_reminders, base.key_reminders, theirs.key_reminders),
    context: mergeMap(ours.context, base.context, theirs.context),
    extra: mergeMap(ours.extra, base.extra, theirs.extra),
  };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Their order; ours that they never saw comes behind. */
function mergeList(ours: string[], seen: string[], theirs: string[]): string[] {
  const kept = theirs.filter((item) => !seen.includes(item) || ours.includes(item));
  return [...new Set([...kept, ...ours.filter((item) => !seen.includes(item))])];
}

function mergeMap(
  ours: Record<string, Json>,
  seen: Record<string, Json>,
  theirs: Record<string, Json>,
): Record<string, Json> {
  const merged: Record<string, Json> = {};
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const theyChanged = !same(seen[key], theirs[key]);
    const value = theyChanged ? theirs[key] : ours[key];
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

/** Takes over what the document says now. Which of our writings it was made from, its time tells; else the newest. */
export function importContent(formal: Formal, { content, stamp }: ParsedFormal): Formal {
  const base = formal.bases.find((one) => one.stamp === stamp) ?? formal.bases.at(-1);
  return base ? { ...formal, ...mergeContent(formal, base.content, content) } : { ...formal, ...content };
}

export const contentOf = ({ phase, required_reading, context, key_reminders, extra }: Content): Content => ({
  phase,
  required_reading,
  context,
  key_reminders,
  extra,
});

// ── Text ────────────────────────────────────────────────────────────────────

export interface FormalFrame {
  run: string;
  session_id: string | null;
  stage: string;
  status: string;
  created_at: string;
  updated_at: string;
}

export function renderFormal(formal: Formal, frame: FormalFrame): string {
  const { phase, required_reading, context, key_reminders, extra } = formal;
  const document = {
    workflow: formal.name,
    workflow_type: formal.type,
    phase,
    required_reading,
    context,
    key_reminders,
    created_at: frame.created_at,
    ...extra,
    run: frame.run,
    session_id: frame.session_id,
    stage: frame.stage,
    status: frame.status,
    updated_at: frame.updated_at,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const LIMIT = 9_500;

/** What the agent gets after compaction or resume, cut by priority: reminders and context go before the reading list. */
export function guidance(formal: Formal, run: string, source: string): string {
  const { phase } = formal;
  const head = [
    "⚠️ WORKFLOW RESTORED AFTER COMPACTION ⚠️",
    "",
    `Workflow: ${formal.name}`,
    `Type: ${formal.type}`,
    `Phase: ${phase.current}/${phase.total} - ${phase.name} (${phase.status})`,
  ].join("\n");
  const reading = section("REQUIRED READING (read ALL now with @ syntax):", formal.required_reading);
  const action = [
    "ACTION REQUIRED:",
    "1. Read ALL required files listed above, with the Read tool",
    `2. Acknowledge with this line: ✅ Workflow restored: ${formal.name}, Phase ${phase.current}/${phase.total}`,
    "3. Continue with this phase; do NOT proceed with assumptions",
    "",
    `Run ${run} (restored after ${source}). When the phase is over: \`pawl runs phase next --run ${run}\`; all phases over: \`pawl runs finish ${run}\`.`,
  ].join("\n");
  const reminders = section(
    "Key Reminders:",
    formal.key_reminders.map((reminder) => `- ${reminder}`),
  );
  const context = Object.keys(formal.context).length > 0 ? `Context:\n${JSON.stringify(formal.context, null, 2)}` : "";
  return fit([head, reading, reminders, context, action], [2, 3, 1]);
}

const section = (title: string, lines: string[]) => (lines.length > 0 ? [title, ...lines].join("\n") : "");

/** Drops or cuts the parts named in `cuttable`, in that order, until the text fits, and says so. */
function fit(parts: string[], cuttable: number[]): string {
  const text = () => parts.filter((part) => part !== "").join("\n\n");
  for (const index of cuttable.toReversed()) {
    const over = text().length - LIMIT;
    if (over <= 0) break;
    const part = parts[index]!;
    const note = "\n… (cut to fit; the document has the rest)";
    parts[index] = part.slice(0, Math.max(0, part.length - over - note.length)) + note;
  }
  return text();
}

/** For the summariser: what a summary must not lose. */
export function summaryText(formal: Formal, run: string): string {
  const { phase } = formal;
  const reading = formal.required_reading.slice(0, 20).join(" ");
  return `Keep in the summary: the formal workflow "${formal.name}" (run ${run}) is at phase ${phase.current}/${phase.total} - ${phase.name} (${phase.status}).${reading ? ` Required reading: ${reading}` : ""}`;
}

/** Lower case, hyphens, at most 50 characters, never empty, never `archive`. `fallback` is a hash. */
export function slugOf(name: string, fallback: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return slug === "" || slug === "archive" ? `workflow-${fallback.slice(0, 8)}` : slug;
}
