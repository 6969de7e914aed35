/**
 * One formal run, its document, agents that edit it (some on top of old texts), projections that may not happen, and a
 * clock that cannot be trusted.
 */
import fc from "fast-check";
import { projectDocument } from "../../../src/engine/core/document.ts";
import { importContent, parseFormal, pickContent, renderFormal } from "../../../src/formal/core/state.ts";
import type { Content, Formal } from "../../../src/kernel/types/formal.ts";
import type { Json, Run, Workflow } from "../../../src/kernel/types/run.ts";

export const CREATED = "2025-12-09T14:30:52.123456Z";
const LISTS = ["required_reading", "key_reminders"] as const;
const MAPS = ["context", "extra"] as const;
const KEYS = ["a", "b", "__proto__", "toString", "constructor", "10"];

type List = (typeof LISTS)[number];
type MapName = (typeof MAPS)[number];

export type Edit =
  | { do: "add"; list: List }
  | { do: "drop"; list: List; nth: number }
  | { do: "put"; map: MapName; key: string }
  | { do: "unset"; map: MapName; key: string }
  | { do: "phase"; status: "in_progress" | "blocked" };

/** What an agent does to the time in a document: leaves it, drops it, or writes down its own. */
type Stamping = "kept" | "dropped" | "own";

/** `step`: by how many milliseconds the clock is off from where the turn before left it. */
export type Turn =
  | { who: "agent"; lag: number; stamping: Stamping; neat: boolean; edits: Edit[]; written: boolean; step: number }
  | { who: "us"; edits: Edit[]; written: boolean; step: number };

const HOUR = 3600_000;
const DAY = 24 * HOUR;

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ do: fc.constant("add" as const), list: fc.constantFrom(...LISTS) }),
  fc.record({ do: fc.constant("drop" as const), list: fc.constantFrom(...LISTS), nth: fc.nat(5) }),
  fc.record({ do: fc.constant("put" as const), map: fc.constantFrom(...MAPS), key: fc.constantFrom(...KEYS) }),
  fc.record({ do: fc.constant("unset" as const), map: fc.constantFrom(...MAPS), key: fc.constantFrom(...KEYS) }),
  fc.record({ do: fc.constant("phase" as const), status: fc.constantFrom("in_progress" as const, "blocked" as const) }),
);
const edits = fc.array(edit, { maxLength: 3 });
/** It runs, stands still, is set forward by days, back by hours, back by days: also to the very same moment as before. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant(1000) },
  fc.constant(0),
  fc.integer({ min: 1, max: 40 }).map((days) => days * DAY),
  fc.integer({ min: 1, max: 23 }).map((hours) => -hours * HOUR),
  fc.integer({ min: 1, max: 40 }).map((days) => -days * DAY),
);
export const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    fc.record({
      who: fc.constant("agent" as const),
      lag: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(4)),
      stamping: fc.constantFrom("kept" as const, "dropped" as const, "own" as const),
      neat: fc.boolean(),
      edits,
      written: fc.boolean(),
      step,
    }),
    fc.record({ who: fc.constant("us" as const), edits, written: fc.boolean(), step }),
  ),
  { maxLength: 14 },
);

export interface FormalWorld {
  run: Run;
  disk: string;
  /** every text of ours that got to the disk, the newest last */
  ours: string[];
  /** what has to be in the run, whatever happened */
  truth: Content;
  count: number;
  /** what the clock says */
  now: number;
}

export function formalWorld(): FormalWorld {
  const phase = { current: 1, total: 9, name: "Design", status: "in_progress" as const };
  const content: Content = { phase, required_reading: ["@a.md"], context: { a: 1 }, key_reminders: ["r"], extra: {} };
  const formal: Formal = { ...content, name: "W", type: "custom", phases: [], bases: [] };
  const run = {
    id: "r1",
    seq: 0,
    stage: "s",
    status: "active",
    created_at: CREATED,
    updated_at: "",
    owner: null,
    formal,
  };
  const document = { path: "untracked/x.json", written: false };
  const now = Date.UTC(2026, 0, 31, 23, 59, 59, 500);
  const bare = { disk: "", ours: [], truth: copy(content), count: 0, now };
  const world = { ...bare, run: { ...run, document } as unknown as Run };
  project(world, true);
  return world;
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const own = (map: Record<string, Json>, key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);
const stampIn = (text: string): string | null => (JSON.parse(text) as { updated_at?: string }).updated_at ?? null;

/** Every value is new, so that a trace of it can have come from nowhere else. */
function applyEdit(target: Content, change: Edit, value: string): void {
  if (change.do === "add") target[change.list].push(`@${value}`);
  else if (change.do === "drop") target[change.list].splice(change.nth, 1);
  else if (change.do === "phase") target.phase = { current: 2, total: 9, name: value, status: change.status };
  else
    target[change.map] = withKey(target[change.map], change.key, change.do === "put" ? { deep: [value] } : undefined);
}

function withKey(map: Record<string, Json>, key: string, value: Json | undefined): Record<string, Json> {
  const others = Object.entries(map).filter(([name]) => name !== key);
  return Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
}

/** Carries over to the truth what changed between two texts. */
function note(truth: Content, before: Content, after: Content): void {
  for (const list of LISTS) {
    const gone = before[list].filter((item) => !after[list].includes(item));
    const added = after[list].filter((item) => !before[list].includes(item));
    truth[list] = [...truth[list].filter((item) => !gone.includes(item)), ...added];
  }
  for (const map of MAPS)
    for (const key of KEYS) {
      const [was, is] = [own(before[map], key), own(after[map], key)];
      if (JSON.stringify(was) !== JSON.stringify(is)) truth[map] = withKey(truth[map], key, is);
    }
  if (JSON.stringify(before.phase) !== JSON.stringify(after.phase)) truth.phase = after.phase;
}

export function take(world: FormalWorld, turn: Turn): void {
  world.now += turn.step;
  if (turn.who === "agent") agentWrites(world, turn);
  const parsed = parseFormal(world.disk);
  if (typeof parsed === "string") throw new Error(parsed);
  world.run.formal = importContent(copy(world.run.formal!), parsed);
  if (turn.who === "us") weChange(world, turn.edits);
  project(world, turn.written);
}

function weChange(world: FormalWorld, changes: Edit[]): void {
  const formal = world.run.formal!;
  const before = copy(pickContent(formal));
  for (const change of changes) applyEdit(formal, change, `ours${world.count++}`);
  note(world.truth, before, copy(pickContent(formal)));
}

function agentWrites(world: FormalWorld, turn: Extract<Turn, { who: "agent" }>): void {
  const known = world.run.formal!.bases.map((base) => base.stamp);
  const old = world.ours.filter((text) => known.includes(stampIn(text)!)).toReversed()[turn.lag - 1];
  // An agent knows its own edits: a text that it changed since is no longer what it writes from.
  const { seen } = world.run.formal!;
  const changedSince = old !== undefined && seen?.stamp === stampIn(old);
  const text = turn.lag === 0 || old === undefined || changedSince ? world.disk : old;
  const stamp = stampIn(text);
  const isNewest = text === world.disk && stamp === known.at(-1);
  const stamping = isNewest || !known.includes(stamp ?? "") ? turn.stamping : "kept";
  const unstamped = stamping !== "kept" || !known.includes(stamp ?? "");
  // An agent that drops or replaces the time and undoes, in one go with other work, what stood in no text of ours cannot
  // be told from one that never saw it: there nothing is lost, but a removal may come back.
  const doubtful = unstamped && seen?.stamp === "";
  const changes = turn.edits.filter((change) => !doubtful || change.do === "add" || change.do === "phase");
  const before = (parseFormal(text) as { content: Content }).content;
  const after = copy(before);
  for (const change of [...changes, { do: "add", list: "key_reminders" } as const])
    applyEdit(after, change, `theirs${world.count++}`);
  note(world.truth, before, after);
  const restamped = stamped(text, stamping, world.now);
  world.disk = turn.neat ? neatly(restamped, after) : anew(restamped, after);
}

/** Agents write whole seconds. */
function stamped(text: string, how: Stamping, now: number): string {
  if (how === "kept") return text;
  const own = how === "own" ? new Date(now).toISOString().replace(/\.\d+Z$/, "Z") : undefined;
  return JSON.stringify({ ...JSON.parse(text), updated_at: own });
}

/** As an editing tool does it: nothing else changes. */
function neatly(text: string, content: Content): string {
  const { run: id, session_id, stage, status, created_at, updated_at } = JSON.parse(text);
  const frame = { id, owner: session_id && { host: "claude", session: session_id }, stage, status, created_at };
  return renderFormal(frame, { ...content, name: "W", type: "custom", phases: [], bases: [] }, updated_at);
}

/** As a whole new file: another order, another layout, another created_at. */
function anew(text: string, { extra, ...content }: Content): string {
  const frame = JSON.parse(text);
  const ours = ["workflow", "workflow_type", "run", "session_id", "stage", "status", "updated_at"];
  const kept = Object.fromEntries(Object.entries(frame).filter(([key]) => ours.includes(key)));
  return JSON.stringify({ ...kept, ...extra, ...content, created_at: "2020-01-01T00:00:00Z" });
}

function project(world: FormalWorld, written: boolean): void {
  const { run } = world;
  run.seq += 1;
  run.updated_at = new Date(world.now).toISOString();
  const state = world.disk === "" ? "missing" : "present";
  const facts = { document: { ok: true, value: { state, text: world.disk, hash: "h" } } } as const;
  const effects = projectDocument(run, {} as Workflow, facts);
  world.run = copy(run);
  for (const effect of effects)
    if (effect.kind === "document" && effect.text !== null && written) {
      world.disk = effect.text;
      world.ours.push(effect.text);
    }
}
