import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, makeClock } from "../harness/clock.ts";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
  transcribePrompt,
  transcribeTool,
} from "../harness/harness.ts";
import { journalOf, runOf } from "../harness/run-files.ts";

/**
 * Lossless, with real processes: agents edit, commands move, compactions come, hooks are killed at random moments,
 * another session passes by, the clock is set forward and back. Whatever was written and not removed by its owner is there; what was removed stays away.
 */
afterAll(removePlaces);

interface Expected {
  reminders: string[];
  context: Record<string, number>;
  extra: Record<string, number>;
  phase: number;
}

interface World {
  place: Place;
  session: Session;
  other: Session;
  id: string;
  path: string;
  expected: Expected;
  pick: (below: number) => number;
  kills: number;
  clock: Clock;
}

const TOTAL = 60;
const HOUR = 3600_000;
const DAY = 24 * HOUR;

/** mulberry32: the same seed, the same walk. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

function begin(seed: number): World {
  const place = makePlace();
  const clock = makeClock(place.base);
  Object.assign(place.env, clock.env);
  const session = openSession(place, "walk");
  transcribePrompt(session, "begin");
  session.turn = 1;
  const phases = Array.from({ length: TOTAL }, (_, i) => `P${i + 1}`).join(",");
  const ran = runPawl(place, ["runs", "start", "custom", "--name", "Walk", "--phases", phases], {
    env: { CLAUDE_CODE_SESSION_ID: session.id },
  });
  transcribeTool(session, "Bash", ran.out);
  runHook(place, payload(place, session, "Stop", stopFields(session, "begun")));
  const [path] = [...new Bun.Glob("untracked/workflow-state/*/*.json").scanSync({ cwd: place.root })];
  const { run } = JSON.parse(readFileSync(join(place.root, path!), "utf8"));
  const expected = { reminders: [], context: {}, extra: {}, phase: 1 };
  return {
    place,
    session,
    other: openSession(place, "other"),
    id: run,
    path: join(place.root, path!),
    expected,
    pick: random(seed),
    kills: 0,
    clock,
  };
}

type Doc = {
  key_reminders: string[];
  context: Record<string, number>;
  phase: { current: number; name: string };
  updated_at?: string;
  [key: string]: unknown;
};
const read = ({ path }: World) => JSON.parse(readFileSync(path, "utf8")) as Doc;

const compact = ({ place, session }: World) =>
  runHook(place, payload(place, session, "PreCompact", { trigger: "manual", custom_instructions: null }));

/** Agents write whole seconds. */
const isOurs = ({ updated_at = "" }: Doc) => /\.\d{9}Z$/.test(updated_at);

function edit(world: World, change: (document: Doc) => void): void {
  const document = read(world);
  change(document);
  writeFileSync(world.path, JSON.stringify(document, null, world.pick(2) * 2));
  const seconds = world.clock.now() / 1000;
  utimesSync(world.path, seconds, seconds);
}

/** Some agents keep the time in the document, some write their own, some drop it: then it is on top of our newest text. */
function restamp(world: World): void {
  const how = world.pick(4);
  if (how <= 1) return;
  if (isOurs(read(world))) compact(world);
  const own = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  edit(world, (document) => Object.assign(document, { updated_at: how === 2 ? own : undefined }));
}

/** Forward by days, back by hours, back by days. */
function stepClock({ clock, pick }: World): void {
  const kind = pick(3);
  if (kind === 0) clock.step((1 + pick(20)) * DAY);
  else clock.step(kind === 1 ? -(1 + pick(23)) * HOUR : -(1 + pick(20)) * DAY);
}

function add(world: World, n: number): void {
  const { expected } = world;
  restamp(world);
  edit(world, (document) => {
    document.key_reminders.push(`r${n}`);
    document.context[`k${n}`] = n;
    document[`x${n}`] = n;
  });
  expected.reminders.push(`r${n}`);
  expected.context[`k${n}`] = n;
  expected.extra[`x${n}`] = n;
}

function remove(world: World): void {
  const { expected, pick } = world;
  if (expected.reminders.length === 0) return;
  const gone = expected.reminders[pick(expected.reminders.length)]!.slice(1);
  // Without a time of ours, a removal of what stood in no text of ours cannot be told from never having seen it.
  if (!isOurs(read(world))) compact(world);
  edit(world, (document) => {
    document.key_reminders = document.key_reminders.filter((one) => one !== `r${gone}`);
    delete document.context[`k${gone}`];
    delete document[`x${gone}`];
  });
  expected.reminders = expected.reminders.filter((one) => one !== `r${gone}`);
  delete expected.context[`k${gone}`];
  delete expected.extra[`x${gone}`];
}

function moveOn(world: World, how: "agent" | "command"): void {
  if (world.expected.phase >= TOTAL) return;
  world.expected.phase += 1;
  if (how === "command") runPawl(world.place, ["runs", "phase", "next", "--run", world.id]);
  else edit(world, (document) => Object.assign(document.phase, { current: world.expected.phase, name: "by hand" }));
}

const EVENTS: [string, Record<string, unknown>][] = [
  ["PreCompact", { trigger: "auto", custom_instructions: null }],
  ["SessionStart", { source: "compact" }],
  ["SessionStart", { source: "resume" }],
  ["UserPromptSubmit", { prompt: "go on" }],
];

const eventOf = (world: World, session: Session) => {
  const n = world.pick(EVENTS.length + 1);
  const [name, fields] = EVENTS[n] ?? ["Stop", stopFields(session, `said ${world.pick(1e6)}`)];
  return payload(world.place, session, name, fields);
};

async function killOne(world: World): Promise<void> {
  const child = Bun.spawn({
    cmd: [PAWL, "hook", "claude", "--via", "local"],
    cwd: world.place.root,
    env: world.place.env,
    stdin: new TextEncoder().encode(JSON.stringify(eventOf(world, world.session))),
    stdout: "ignore",
    stderr: "ignore",
  });
  await Bun.sleep(world.pick(26));
  child.kill("SIGKILL");
  await child.exited;
  if (child.signalCode === "SIGKILL") world.kills += 1;
}

async function step(world: World, n: number): Promise<void> {
  const { place, session, other, pick } = world;
  const kind = pick(10);
  if (kind <= 1) add(world, n);
  else if (kind === 2) remove(world);
  else if (kind === 3) moveOn(world, "agent");
  else if (kind === 4) moveOn(world, "command");
  else if (kind === 5) await killOne(world);
  else if (kind === 6) runHook(place, eventOf(world, session));
  else if (kind <= 8) stepClock(world);
  else runHook(place, eventOf(world, other));
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`seed ${seed}: everything written is there, everything removed is gone`, async () => {
    const world = begin(seed);
    const { created_at } = read(world);
    for (let n = 0; n < 60; n++) await step(world, n);
    compact(world); // whatever the clock says, it does not rest since a week then
    const { out } = runHook(world.place, payload(world.place, world.session, "SessionStart", { source: "resume" }));
    const { expected } = world;
    const document = read(world);
    const extra = Object.fromEntries(Object.entries(document).filter(([key]) => /^x\d+$/.test(key)));
    expect({
      reminders: document.key_reminders,
      context: document.context,
      extra,
      phase: document.phase.current,
    }).toEqual(expected);
    expect(document.created_at).toEqual(created_at);
    expect(out).toContain(`Phase: ${expected.phase}/${TOTAL}`);
    for (const reminder of expected.reminders) expect(out).toContain(`- ${reminder}`);
    expect(runPawl(world.place, ["runs", "list", "--json"]).out).toContain(world.id);
    const { seq, updated_at } = runOf(world.place.root, world.session.id)!;
    expect(Math.abs(Date.parse(updated_at) - world.clock.now())).toBeLessThan(HOUR / 2);
    const journalled = new Set(journalOf(world.place.root).map((line) => line.seq));
    expect(journalled.size).toBe(seq);
  }, 60_000);
}

test("an event that looks like the one before it brings into the journal what that one's process did not", () => {
  const world = begin(1);
  compact(world);
  const { seq } = runOf(world.place.root, world.session.id)!;
  const folder = join(world.place.root, ".pawl/journal");
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    writeFileSync(join(folder, name), lines.filter((line) => !line.includes(`"seq":${seq},`)).join("\n"));
  }
  compact(world);
  const journalled = journalOf(world.place.root).map((line) => line.seq);
  expect(journalled).toContain(seq);
  expect(journalled).toContain(seq + 1);
});
