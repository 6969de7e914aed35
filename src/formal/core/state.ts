import type { Base, Content, Formal, Phase, PhaseStatus } from "../../kernel/types/formal.ts";
import type { Json, Run } from "../../kernel/types/run.ts";

/**
 * A formal workflow: phases, required reading, reminders and context that have to outlive the conversation. Its
 * document is written by agents as well as by us, so every change is a three-way merge: what the document said when we
 * last saw it, what it says now, and what we know.
 */

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
  /** what was repaired, in plain words */
  repaired: string[];
}

const isMap = (value: unknown): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const without = (map: Record<string, Json>, keys: string[]) =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
const nonEmptyText = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : null);

/** A document as the seed describes it; a string says why it is none. */
export function parseFormal(text: string): ParsedFormal | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (!isMap(value)) return "it is no JSON object";
  if (deeperThan(value, DEEPEST)) return `it is nested deeper than ${DEEPEST} levels`;
  const name = nonEmptyText(value.workflow);
  if (name === null) return "it names no workflow";
  const repaired: string[] = [];
  const content: Content = {
    phase: parsePhase(value.phase, repaired),
    required_reading: parseReading(value.required_reading, repaired),
    context: parseContext(value.context, repaired),
    key_reminders: texts("key_reminders", value.key_reminders, repaired),
    extra: without(value, [...OURS, ...THEIRS]),
  };
  return {
    name,
    type: nonEmptyText(value.workflow_type) ?? "custom",
    created_at: nonEmptyText(value.created_at),
    run: nonEmptyText(value.run),
    stamp: nonEmptyText(value.updated_at),
    content,
    repaired,
  };
}

/** Deeper ones could be parsed, but not be written again. */
const DEEPEST = 200;
function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1));
}

/** A list of texts; anything else becomes text, so that nothing written is lost. */
function texts(key: string, value: Json | undefined, repaired: string[]): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  if (list !== value && list.length > 0) repaired.push(`${key}: became a list`);
  return list.flatMap((item) => {
    if (item === null || (typeof item === "string" && item.trim() === "")) return [];
    if (typeof item === "string") return [item];
    repaired.push(`${key}: ${JSON.stringify(item)} became text`);
    return [JSON.stringify(item)];
  });
}

function parseContext(value: Json | undefined, repaired: string[]): Record<string, Json> {
  if (isMap(value)) return value;
  if (value === undefined || value === null) return {};
  repaired.push("context: what was no object became its `value`");
  return { value };
}

/** Reading is asked for with @: an entry without it gets it. */
function parseReading(value: Json | undefined, repaired: string[]): string[] {
  return texts("required_reading", value, repaired).map((entry) => {
    if (entry.startsWith("@")) return entry;
    repaired.push(`required_reading: ${entry} became @${entry}`);
    return `@${entry}`;
  });
}

function parsePhase(value: unknown, repaired: string[]): Phase {
  const raw = isMap(value) ? value : {};
  const whole = (number: unknown) =>
    typeof number === "number" && Number.isInteger(number) && number > 0 ? number : null;
  const current = whole(raw.current) ?? 1;
  const total = Math.max(whole(raw.total) ?? current, current);
  const status = STATUSES.find((known) => known === raw.status) ?? "in_progress";
  const phase: Phase = { current, total, name: nonEmptyText(raw.name) ?? "In Progress", status };
  noteRepaired(raw, phase, repaired);
  return { ...phase, ...without(raw, ["current", "total", "name", "status"]) };
}

function noteRepaired(raw: Record<string, Json>, phase: Phase, repaired: string[]): void {
  for (const key of ["current", "total", "name", "status"] as const) {
    if (raw[key] !== phase[key])
      repaired.push(`phase.${key}: ${JSON.stringify(raw[key] ?? null)} became ${JSON.stringify(phase[key])}`);
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

/** Their order; ours that they never saw comes after. */
function mergeList(ours: string[], seen: string[], theirs: string[]): string[] {
  const kept = theirs.filter((item) => !seen.includes(item) || ours.includes(item));
  return [...new Set([...kept, ...ours.filter((item) => !seen.includes(item))])];
}

type JsonMap = Record<string, Json>;

function mergeMap(ours: JsonMap, seen: JsonMap, theirs: JsonMap): JsonMap {
  const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  // Entries, not assignments: a key may be called __proto__.
  const merged = keys.map((key) => [key, own(same(own(seen, key), own(theirs, key)) ? ours : theirs, key)] as const);
  return Object.fromEntries(merged.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

const own = (map: JsonMap, key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);

/** Takes over what the document says now, once. */
export function importContent(formal: Formal, { content, stamp: found }: ParsedFormal): Formal {
  const ours = formal.bases.findLast((one) => one.stamp === found);
  const written = ours ?? formal.bases.at(-1);
  if (!written) return { ...formal, ...content };
  // A time that an agent made up says as little as none.
  const stamp = ours?.stamp ?? null;
  const seen = formal.seen?.stamp === (stamp ?? "") ? formal.seen : undefined;
  if (same((seen ?? written).content, content)) return formal;
  const onDisk = stamp === formal.bases.at(-1)?.stamp ? stamp : formal.on_disk;
  // Made from an older writing of ours, and the newer one was never read back: it did not arrive, so what we last read
  // is what was changed. Without a time in it, or where it did arrive, the text itself has to tell.
  const lost = stamp !== null && onDisk !== formal.bases.at(-1)?.stamp;
  const base = !seen ? written.content : lost ? seen.content : likelierBase(written.content, seen.content, content);
  const merged = { ...formal, ...mergeContent(formal, base, content), seen: { stamp: stamp ?? "", content } };
  return onDisk === undefined || onDisk === null ? merged : { ...merged, on_disk: onDisk };
}

/**
 * Which of our writings a document was made from, its time tells. Where that writing was changed before and we could
 * not write since, the change may be of either text: of the one that it differs less from, and in doubt nothing is lost.
 */
function likelierBase(written: Content, seen: Content, now: Content): Content {
  const fromWritten = distance(written, now);
  return fromWritten > 0 && fromWritten <= distance(seen, now) ? written : seen;
}

function distance(from: Content, to: Content): number {
  const lists = (["required_reading", "key_reminders"] as const).map((key) => apart(from[key], to[key]));
  const maps = (["context", "extra"] as const).map((key) => apart(entries(from[key]), entries(to[key])));
  return [...lists, ...maps].reduce((sum, each) => sum + each, same(from.phase, to.phase) ? 0 : 1);
}

const entries = (map: JsonMap) => Object.entries(map).map((entry) => JSON.stringify(entry));

function apart(from: string[], to: string[]): number {
  const [before, after] = [new Set(from), new Set(to)];
  return before.symmetricDifference(after).size;
}

export const pickContent = ({ phase, required_reading, context, key_reminders, extra }: Content): Content => ({
  phase,
  required_reading,
  context,
  key_reminders,
  extra,
});

// ── Text ────────────────────────────────────────────────────────────────────

/** How many of our writings an agent's edit may lag behind. */
const BASES = 4;

/** What the document of a run should say now: the same text where nothing has changed, else one with a new time. */
export function nextText(run: Run, formal: Formal, text: string): string {
  const last = formal.bases.at(-1);
  const content = pickContent(formal);
  // What an agent added gets a time of its own, even where no other byte would change: else its removal of the same
  // thing could not be distinguished from never having seen it.
  if (last && same(last.content, content) && renderFormal(run, formal, last.stamp) === text) return text;
  // A clock may be set back, and two hooks may begin in one millisecond: only with the run's number is a time used once.
  const stamp = run.updated_at.replace(/Z$/, `${String(run.seq).padStart(6, "0")}Z`);
  formal.bases = [...remembered(formal.bases, text), { stamp, content }];
  return renderFormal(run, formal, stamp);
}

/** The newest, and the one that is on the disk: it may be older where our writings did not get there. */
const remembered = (bases: Base[], text: string) =>
  bases.filter(({ stamp }, index) => index > bases.length - BASES || text.includes(JSON.stringify(stamp)));

export type FormalFrame = Pick<Run, "id" | "owner" | "stage" | "status" | "created_at">;

export function renderFormal(run: FormalFrame, formal: Formal, stamp: string): string {
  const { name, type, extra, phase, required_reading, context, key_reminders } = formal;
  const document = {
    workflow: name,
    workflow_type: type,
    phase,
    required_reading,
    context,
    key_reminders,
    created_at: run.created_at,
    ...extra,
    run: run.id,
    session_id: run.owner?.session ?? null,
    stage: run.stage,
    status: run.status,
    updated_at: stamp,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Lower case, hyphens, at most 50 characters, never empty, never `archive`. `fallback` is a hash. */
export function makeSlug(name: string, fallback: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return slug === "" || slug === "archive" ? `workflow-${fallback.slice(0, 8)}` : slug;
}
