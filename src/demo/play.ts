/** Brings an event to Pawl, shows what came back, and compares it with what the script expects. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { JournalRecord, Run } from "../kernel/types/run.ts";
import { readCommits } from "../store/archive.ts";
import { callHook, type Payload, prompted, type Reply, type Session, stopped } from "./host.ts";
import { DemoFailed, type Place } from "./place.ts";
import { allTestsPass } from "./project.ts";
import type { Screen } from "./screen.ts";

export interface Play {
  place: Place;
  screen: Screen;
  /** the run on disk, and up to where it was read */
  run: string;
  seq: number;
  /** hook processes so far, and those of them that were killed */
  events: number;
  kills: number;
  /** for each claim in turn, whether it was true: found out without Pawl */
  truths: boolean[];
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
  events: 0,
  kills: 0,
  truths: [],
});

export function expect(condition: boolean, what: string, heard?: Heard): void {
  if (condition) return;
  const kinds = heard?.records.map((record) => record.kind).join(", ");
  const instead = heard
    ? ` Pawl printed ${heard.stdout.slice(0, 400) || "nothing"} and recorded ${kinds || "nothing"}.`
    : "";
  throw new DemoFailed(`expected: ${what}.${instead}`);
}

export const tag = (name: string) => `<promise>${name}</promise>`;
export const recorded = (heard: Heard, kind: string) => heard.records.some((record) => record.kind === kind);

// ── Events ──────────────────────────────────────────────────────────────────

export async function deliver(play: Play, payload: Payload): Promise<Heard> {
  play.events++;
  const reply = await callHook(play.place, payload);
  return { ...reply, records: news(play) };
}

export async function personSays(play: Play, session: Session, text: string): Promise<Heard> {
  await play.screen.say("you", text);
  return deliver(play, prompted(play.place, session, text));
}

export async function agentSays(play: Play, session: Session, text: string): Promise<Heard> {
  await play.screen.say("agent", text);
  return deliver(play, stopped(play.place, session, text));
}

export async function agentClaims(play: Play, session: Session, words: string, signal: string): Promise<Heard> {
  play.truths.push(await allTestsPass(play.place));
  return agentSays(play, session, `${words}\n${tag(signal)}`);
}

// ── Disk ────────────────────────────────────────────────────────────────────

/** What was saved since the last look. */
export function news(play: Play): JournalRecord[] {
  if (play.run === "") play.run = runIds(play.place)[0] ?? "";
  if (play.run === "") return [];
  const fresh = readCommits(play.place.root, play.run).filter((commit) => commit.run.seq > play.seq);
  play.seq = fresh.at(-1)?.run.seq ?? play.seq;
  return fresh.flatMap((commit) => commit.records);
}

export function runIds(place: Place): string[] {
  try {
    return readdirSync(join(place.root, ".pawl/runs")).filter((name) => /^s-/.test(name));
  } catch {
    return [];
  }
}

export function savedRun(play: Play): Run {
  const commit = play.run === "" ? undefined : readCommits(play.place.root, play.run).at(-1);
  if (!commit) throw new DemoFailed("expected: a run on disk. There is none; did the hook run at all?");
  return commit.run;
}

// ── Showing ─────────────────────────────────────────────────────────────────

export async function showAnswer(play: Play, heard: Heard, telling: RegExp): Promise<void> {
  const { screen } = play;
  if (heard.stdout === "") await screen.say("pawl", "(says nothing: no output, exit 0)");
  if (heard.agent) await screen.say("pawl → agent", excerptOf(heard.agent, telling));
  if (heard.person) await screen.say("pawl → you", heard.person);
}

/** Texts for the agent are long: the lines that tell, and an ellipsis where others follow. */
function excerptOf(text: string, telling: RegExp): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines
    .flatMap((line, at) => {
      if (!telling.test(line)) return [];
      const next = lines[at + 1];
      return `${line.trim()}${next !== undefined && !telling.test(next) ? " …" : ""}`;
    })
    .join("\n");
}
