/** The demo's stage: brings an event to Pawl, shows the answer, and compares it with what the script expects. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { JournalRecord, Run } from "../kernel/types/run.ts";
import {
  CLIENT,
  payload,
  type Reply,
  readReply,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
} from "../play/client.ts";
import { readCommits } from "../store/archive.ts";
import { allTestsPass, cleanEnv, DemoFailed, type Place, runToEnd, SIGNAL } from "./project.ts";
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
  /** what Pawl recorded about this event */
  records: JournalRecord[];
}

export const TAG = `<promise>${SIGNAL}</promise>`;

// ── Events ──────────────────────────────────────────────────────────────────

/** Compiled, this program is its own interpreter; from source it is bun with a file. */
const self = Bun.main.includes("$bunfs") || Bun.main.includes("~BUN") ? [] : [Bun.main];
export const HOOK = [process.execPath, ...self, "hook", "claude", "--via", "local"];

export const hookInput = (place: Place, input: object) => ({
  env: {
    ...cleanEnv(place),
    ...CLIENT,
    CLAUDECODE: "1",
    CLAUDE_PROJECT_DIR: place.root,
    CLAUDE_CODE_ENTRYPOINT: "cli",
  },
  input: `${JSON.stringify(input)}\n`,
});

export async function deliver(play: Play, session: Session, name: string, fields: object): Promise<Heard> {
  play.events++;
  const input = hookInput(play.place, payload(play.place, session, name, fields));
  const { code, out, err } = await runToEnd(play.place, HOOK, input);
  if (code !== 0) throw new DemoFailed(`the hook for ${name} ended with ${code}: ${err.trim() || "nothing on stderr"}`);
  try {
    return { ...readReply(name, out), records: newRecords(play) };
  } catch {
    throw new DemoFailed(`the hook for ${name} printed no JSON: ${out.slice(0, 200)}`);
  }
}

export async function personSays(play: Play, session: Session, prompt: string): Promise<Heard> {
  await play.screen.say("you", prompt);
  session.turn++;
  session.continuing = false;
  transcribePrompt(session, prompt);
  return deliver(play, session, "UserPromptSubmit", { prompt });
}

export async function agentSays(play: Play, session: Session, text: string): Promise<Heard> {
  await play.screen.say("agent", text);
  transcribeMessage(session, [{ type: "text", text }]);
  const heard = await deliver(play, session, "Stop", stopFields(session, text));
  session.continuing = heard.continues;
  return heard;
}

export async function agentClaims(play: Play, session: Session, words: string): Promise<Heard> {
  play.truths.push(await allTestsPass(play.place));
  return agentSays(play, session, `${words}\n${TAG}`);
}

export function expect(condition: boolean, what: string, heard?: Heard): void {
  if (condition) return;
  const kinds = heard?.records.map(({ kind }) => kind).join(", ") || "nothing";
  const instead = heard ? ` Pawl printed ${heard.stdout.slice(0, 400) || "nothing"} and recorded ${kinds}.` : "";
  throw new DemoFailed(`expected: ${what}.${instead}`);
}

// ── Disk and screen ─────────────────────────────────────────────────────────

/** What was saved since the last look. */
export function newRecords(play: Play): JournalRecord[] {
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

export async function showAnswer({ screen }: Play, heard: Heard, relevant: RegExp): Promise<void> {
  if (heard.stdout === "") await screen.say("pawl", "(says nothing: no output, exit 0)");
  if (heard.agent) await screen.say("pawl → agent", relevantLines(heard.agent, relevant));
  if (heard.person) await screen.say("pawl → you", heard.person);
}

/** Texts for the agent are long: the relevant lines, and an ellipsis where others follow. */
function relevantLines(text: string, relevant: RegExp): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.flatMap((line, at) => {
    if (!relevant.test(line)) return [];
    const next = lines[at + 1];
    return `${line.trim()}${next !== undefined && !relevant.test(next) ? " …" : ""}`;
  });
  return shown.join("\n");
}
