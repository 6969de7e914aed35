/** Brings an event to Pawl, shows what came back, and compares it with what the script expects. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inWords } from "../cli/words.ts";
import type { JournalRecord, Run } from "../core/types.ts";
import { readCommits } from "../store/runs.ts";
import { callHook, type Payload, prompted, type Reply, type Session, stopped } from "./host.ts";
import { DemoFailed, type Place } from "./place.ts";
import type { Screen } from "./screen.ts";

export interface Play {
  place: Place;
  screen: Screen;
  /** the run on disk, and up to where it was read */
  run: string;
  seq: number;
  tally: Tally;
}

/** Counted while the demo runs, from what was sent and what was found on disk. */
export interface Tally {
  events: number;
  kills: number;
  believed: number;
  /** the other tags, and why each moved nothing */
  refused: string[];
}

export interface Heard extends Reply {
  /** what Pawl wrote down about this event */
  records: JournalRecord[];
}

export const newPlay = (place: Place, screen: Screen): Play => ({
  place,
  screen,
  run: "",
  seq: 0,
  tally: { events: 0, kills: 0, believed: 0, refused: [] },
});

export function expect(condition: boolean, what: string, heard?: Heard): void {
  if (condition) return;
  const instead = heard
    ? ` Pawl printed ${heard.stdout.slice(0, 300) || "nothing"} and recorded ${kinds(heard).join(", ") || "nothing"}.`
    : "";
  throw new DemoFailed(`expected: ${what}.${instead}`);
}

export const tag = (name: string) => `<promise>${name}</promise>`;

export function expectStage(play: Play, stage: string, status: string, heard?: Heard): void {
  const run = savedRun(play);
  expect(run.stage === stage && run.status === status, `the run is ${status} at ${stage}`, heard);
}

const kinds = (heard: Heard) => heard.records.map((record) => record.kind);
export const recorded = (heard: Heard, kind: string) => kinds(heard).includes(kind);

// ── Events ──────────────────────────────────────────────────────────────────

export async function deliver(play: Play, payload: Payload): Promise<Heard> {
  play.tally.events++;
  const reply = await callHook(play.place, payload);
  const heard = { ...reply, records: news(play) };
  if (payload.hook_event_name === "Stop") count(play.tally, String(payload.last_assistant_message), heard.records);
  return heard;
}

export async function personSays(play: Play, session: Session, text: string): Promise<Heard> {
  await play.screen.say("you", text);
  return deliver(play, prompted(play.place, session, text));
}

export async function agentSays(play: Play, session: Session, text: string): Promise<Heard> {
  await play.screen.say("agent (scripted)", text);
  return deliver(play, stopped(play.place, session, text));
}

const MOVED = ["advanced", "asked", "halted", "ended"];

export function count(tally: Tally, message: string, records: JournalRecord[]): void {
  if (!message.includes("<promise>")) return;
  if (records.some((record) => MOVED.includes(record.kind))) tally.believed++;
  else tally.refused.push(`${/<promise>(\w+)/.exec(message)?.[1]} (${reasonOf(records)})`);
}

function reasonOf(records: JournalRecord[]): string {
  if (records.length === 0) return "in a session without a run";
  const gate = records.find((record) => record.kind === "gated");
  if (gate) return "git said otherwise";
  const ignored = records.find((record) => record.kind === "ignored");
  return ignored ? String(ignored.why) : "only quoted";
}

// ── Disk ────────────────────────────────────────────────────────────────────

/** What was saved since the last look. */
export function news(play: Play): JournalRecord[] {
  if (play.run === "") play.run = runIds(play.place)[0] ?? "";
  const fresh = readCommits(play.place.root, play.run).filter((commit) => commit.run.seq > play.seq);
  play.seq = fresh.at(-1)?.run.seq ?? play.seq;
  return fresh.flatMap((commit) => commit.records);
}

export function runIds(place: Place): string[] {
  try {
    return readdirSync(join(place.root, ".pawl/runs")).filter((name) => /^cw-/.test(name));
  } catch {
    return [];
  }
}

export function savedRun(play: Play): Run {
  const commit = readCommits(play.place.root, play.run).at(-1);
  if (!commit) throw new DemoFailed("expected: a run on disk. There is none; did the hook run at all?");
  return commit.run;
}

// ── Showing ─────────────────────────────────────────────────────────────────

const MOVES = ["signalled", "ignored", "gated", "advanced", "asked", "decided", "halted", "adopted", "ended"];
const TOLD = [...MOVES, "reported", "undelivered", "checkpointed", "restored"];

export async function showAnswer(play: Play, heard: Heard): Promise<void> {
  const { screen } = play;
  if (heard.stdout === "") await screen.say("pawl", "(says nothing: no output, exit 0)");
  if (heard.agent) await screen.say("pawl → agent", headline(heard.agent, screen));
  if (heard.person) await screen.say("pawl → you", compact(heard.person));
  await showWhy(play, heard.records);
}

export async function showWhy(play: Play, records: JournalRecord[]): Promise<void> {
  const told = records.filter((record) => TOLD.includes(record.kind)).map(inWords);
  if (told.length > 0) await play.screen.say("why", play.screen.cut(told.join("; "), 2));
}

/** Instructions are long: the first line, and every line in which Pawl names itself. */
export function headline(text: string, screen: Screen): string {
  const [first = "", ...rest] = text.split("\n");
  const named = rest.filter((line) => line.startsWith("[pawl]"));
  return [first, ...named].map((line, i) => screen.cut(i === named.length ? `${line} …` : line)).join("\n");
}

const compact = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");

export async function showRun(play: Play, note = ""): Promise<void> {
  const run = savedRun(play);
  const step = run.plan.indexOf(run.stage) + 1;
  const place = `step ${step} of ${run.plan.length} (${run.stage}), ${run.outcome ?? run.status}`;
  await play.screen.say("disk", `${place}, save no. ${run.seq}${note && `: ${note}`}`);
}
