/** The story: two false claims, a crash, the true one, and another session's words. Each step is checked as it is told. */
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { JournalRecord, Run } from "../kernel/types/run.ts";
import {
  CLIENT,
  openSession,
  payload,
  type Reply,
  readReply,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
} from "../play/client.ts";
import { readCommits } from "../store/commits.ts";
import { namesOrNone } from "../store/files.ts";
import { ownCommand } from "../store/home.ts";
import { hasJournal, readJournal } from "../store/journal.ts";
import {
  allTestsPass,
  cleanEnv,
  DemoFailed,
  type DemoPlace,
  deleteFailingTest,
  fixCode,
  runToEnd,
  SIGNAL,
  showChange,
  start,
} from "./project.ts";
import type { Screen } from "./screen.ts";

interface Play {
  place: DemoPlace;
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

interface HeardReply extends Reply {
  /** what Pawl recorded about this event */
  records: JournalRecord[];
}

const TAG = `<promise>${SIGNAL}</promise>`;

const REFUSED = /not believed/;

export async function tellStory(place: DemoPlace, screen: Screen): Promise<void> {
  const play: Play = { place, screen, run: "", seq: 0, events: 0, kills: 0, truths: [] };
  const session = openSession(place, crypto.randomUUID());
  await begin(play, session);
  await redSuite(play, session);
  await deletedTest(play, session);
  await crashAndCompaction(play, session);
  await realFix(play, session);
  await secondSession(play);
  await summary(play);
}

// ── 1 and 2: claims that are not true ───────────────────────────────────────

async function begin(play: Play, session: Session): Promise<void> {
  await play.screen.title("1 · The agent says that all tests pass");
  const first = await deliver(play, session, "SessionStart", { source: "startup" });
  expect(first.agent === "" && first.records.length === 0, "no word to the agent before a run begins", first);
  const heard = await personSays(play, session, "/ship");
  expect(play.run !== "" && heard.agent.includes("until all tests pass"), "/ship begins a run", heard);
  await showAnswer(play, { ...heard, person: "" }, /^\[pawl\]|until all tests pass/);
}

async function redSuite(play: Play, session: Session): Promise<void> {
  const heard = await agentClaims(play, session, "Done! All 12 tests pass.");
  expectRefusal(play, heard, ["1 of 12 tests failed", "(fail) an empty cart is free"]);
  await showAnswer(play, heard, /not believed|\(fail\)/);
}

async function deletedTest(play: Play, session: Session): Promise<void> {
  await play.screen.title("2 · It deletes the failing test");
  deleteFailingTest(play.place);
  await play.screen.say("edits", await showChange(play.place));
  const heard = await agentClaims(play, session, "Fixed. All 12 tests pass now.");
  expectRefusal(play, heard, ["an empty cart is free"]);
  await showAnswer(play, heard, REFUSED);
}

function expectRefusal(play: Play, heard: HeardReply, texts: string[]): void {
  const kinds = heard.records.map(({ kind }) => kind);
  expect(kinds.includes("signalled") && kinds.includes("gated"), `${SIGNAL} is taken as a claim and checked`, heard);
  expect(heard.continues && REFUSED.test(heard.agent), `${SIGNAL} is not believed, the agent is sent back`, heard);
  for (const text of texts) expect(heard.agent.includes(text), `the agent gets “${text}”`, heard);
  expect(savedRun(play).status === "active", "the run continues", heard);
}

// ── 3: a crash ──────────────────────────────────────────────────────────────

async function crashAndCompaction(play: Play, session: Session): Promise<void> {
  const { screen } = play;
  await screen.title("3 · kill -9 in the middle, and a compaction");
  await screen.say("client", "compacts the conversation and asks Pawl what to keep");
  const before = savedRun(play);
  const killed = await killBeforeItSpeaks(play, session);
  expect(killed.bytes === 0, "the hook was killed before it spoke");
  const journal = killed.journalled ? "" : ", and nothing into the journal";
  await screen.say("kill -9", `the hook, between save and answer: ${killed.bytes} bytes got out${journal}`);
  const summary = { agent_id: "a1", agent_type: "", ...stopFields(session, "<summary>We work on a cart.</summary>") };
  const fork = await deliver(play, session, "SubagentStop", summary);
  expect(fork.stdout === "" && fork.records.length === 0, "the summary is no claim", fork);
  await screen.say("client", "all that the agent has now is a summary: “We work on a cart.”");
  const heard = await deliver(play, session, "SessionStart", { source: "compact" });
  const restored = heard.records.some(({ kind }) => kind === "restored");
  expect(restored && heard.agent.includes("until all tests pass"), "the agent is restored", heard);
  await showAnswer(play, heard, /^\[pawl\]|until all tests pass|not believed/);
  await screen.say("disk", `restored, nothing lost: ${nothingLost(play, before)}`);
}

/** What is known of the work after the crash, key by key the same as before it. */
function nothingLost(play: Play, before: Run): string {
  const { root } = play.place;
  const after = savedRun(play);
  for (const key of ["stage", "status", "checks"] as const)
    expect(JSON.stringify(after[key]) === JSON.stringify(before[key]), `${key} of the run is as before`);
  const commits = readCommits(root, play.run);
  const whole = commits.every((commit, i) => commit.run.seq === i + 1 && hasJournal(root, commit));
  expect(whole, "every save is there, and has its lines in the journal");
  const most = Math.max(...Object.values(after.checks.most_tests ?? {}));
  return `${commits.length} saves, all of them in the journal; it was sent back ${after.checks.claim?.rounds} times; there were ${most} tests`;
}

/** Pawl saves, then speaks. Its stdout is a pipe that is already full, so it waits between the two: there it is killed. */
async function killBeforeItSpeaks(play: Play, session: Session): Promise<{ bytes: number; journalled: boolean }> {
  const { place } = play;
  const fifo = join(place.home, "full-pipe");
  const made = await runToEnd(place, ["mkfifo", fifo]);
  if (made.code !== 0) throw new DemoFailed(`expected: mkfifo creates a pipe. It printed: ${made.err.trim()}`);
  // Two ends of its own: a child that makes its stdout blocking must not make our reading so.
  const read = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const write = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  const page = new Uint8Array(4096);
  try {
    // Page by page, then byte by byte: not one more fits.
    const filled = [page, page.subarray(0, 1)].reduce(
      (sum, bytes) => sum + untilFull(() => writeSync(write, bytes)),
      0,
    );
    const input = payload(place, session, "PreCompact", { trigger: "auto", custom_instructions: null });
    const child = start(place, HOOK, { ...hookInput(place, input), stdout: write });
    play.events++;
    await waitForSave(play, child);
    child.kill("SIGKILL");
    await child.exited;
    if (child.signalCode !== "SIGKILL") throw new DemoFailed("expected: the hook is killed before it ends by itself");
    play.kills++;
    const journalled = hasJournal(place.root, readCommits(place.root, play.run).at(-1)!);
    newRecords(play);
    return { bytes: untilFull(() => readSync(read, page)) - filled, journalled };
  } finally {
    closeSync(read);
    closeSync(write);
  }
}

async function waitForSave(play: Play, child: Bun.Subprocess): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (performance.now() < deadline && child.exitCode === null) {
    const last = readCommits(play.place.root, play.run).at(-1);
    if (last && last.run.seq > play.seq) return;
    await Bun.sleep(1);
  }
  child.kill("SIGKILL");
  throw new DemoFailed("expected: the hook saves before it answers. Nothing was saved");
}

function untilFull(step: () => number): number {
  for (let sum = 0; ; ) {
    try {
      const moved = step();
      if (moved === 0) return sum;
      sum += moved;
    } catch (error) {
      if ((error as { code?: string }).code === "EAGAIN") return sum;
      throw error;
    }
  }
}

// ── 4 and 5: the truth, and another session's words ─────────────────────────

async function realFix(play: Play, session: Session): Promise<void> {
  const { place, screen } = play;
  await screen.title("4 · It puts the test back and fixes the code");
  fixCode(place);
  await screen.say("edits", await showChange(place));
  const heard = await agentClaims(play, session, "Done. All 12 tests pass.");
  const { status, outcome } = savedRun(play);
  expect(status === "ended" && outcome === "completed", "the run is completed", heard);
  expect(/12 tests passed.*@ tree [0-9a-f]{10}/.test(heard.person), "you hear what passed, on which tree", heard);
  await showAnswer(play, heard, REFUSED);
}

async function secondSession(play: Play): Promise<void> {
  const { place, screen } = play;
  await screen.title("5 · Another session, in the same folder, quotes the tag");
  const other = openSession(place, crypto.randomUUID());
  const before = savedRun(play).seq;
  const answers = [
    await deliver(play, other, "SessionStart", { source: "startup" }),
    await personSays(play, other, "What makes /ship end here?"),
    await agentSays(play, other, `The agent has to say:\n${TAG}`),
  ];
  for (const heard of answers) expect(heard.stdout === "", "silence in a session without a run", heard);
  expect(savedRun(play).seq === before, "another session's words move nothing");
  const begun = runIds(place).filter((id) => id !== play.run);
  expect(begun.length === 0, "another session's words begin nothing");
  await showAnswer(play, answers.at(-1)!, REFUSED);
}

// ── The end ─────────────────────────────────────────────────────────────────

const MOVED = ["advanced", "ended", "asked", "halted"];

/** What the journal says about each claim, next to what was true. One save holds a claim and what followed from it. */
async function summary({ place, screen, run, truths, events, kills }: Play): Promise<void> {
  const lines = [...readJournal(place.root)];
  const moved = new Set(lines.filter(({ kind }) => MOVED.includes(kind)).map(({ run, seq }) => `${run} ${seq}`));
  const claims = lines.filter(({ kind }) => kind === "signalled");
  const believed = claims.map((claim) => moved.has(`${claim.run} ${claim.seq}`));
  expect(claims.length === truths.length, `${truths.length} claims in the journal (it has ${claims.length})`);
  const ofOneRun = claims.every((claim) => claim.run === run);
  expect(ofOneRun, "all claims are of the one run");
  const right = believed.every((one, at) => one === truths[at]);
  expect(right, "what is true is believed, and nothing else");
  const lies = truths.filter((truth) => !truth).length;
  const taken = believed.filter((one, at) => one && !truths[at]).length;
  await screen.title(`${claims.length} claims, ${lies} false, ${taken} of them believed`);
  await screen.plain(
    `Counted in Pawl's journal; what was false was found out without Pawl. ${events} hook processes, ${kills} of them killed.`,
  );
}

// ── Events ──────────────────────────────────────────────────────────────────

const HOOK = ownCommand("hook", "claude", "--via", "local");

const hookInput = (place: DemoPlace, input: object) => ({
  env: {
    ...cleanEnv(place),
    ...CLIENT,
    CLAUDECODE: "1",
    CLAUDE_PROJECT_DIR: place.root,
    CLAUDE_CODE_ENTRYPOINT: "cli",
  },
  input: `${JSON.stringify(input)}\n`,
});

async function deliver(play: Play, session: Session, name: string, fields: object): Promise<HeardReply> {
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

async function personSays(play: Play, session: Session, prompt: string): Promise<HeardReply> {
  await play.screen.say("you", prompt);
  session.turn++;
  session.continuing = false;
  transcribePrompt(session, prompt);
  return deliver(play, session, "UserPromptSubmit", { prompt });
}

async function agentSays(play: Play, session: Session, text: string): Promise<HeardReply> {
  await play.screen.say("agent", text);
  transcribeMessage(session, [{ type: "text", text }]);
  const heard = await deliver(play, session, "Stop", stopFields(session, text));
  session.continuing = heard.continues;
  return heard;
}

async function agentClaims(play: Play, session: Session, words: string): Promise<HeardReply> {
  play.truths.push(await allTestsPass(play.place));
  return agentSays(play, session, `${words}\n${TAG}`);
}

function expect(condition: boolean, what: string, heard?: HeardReply): void {
  if (condition) return;
  const kinds = heard?.records.map(({ kind }) => kind).join(", ") || "nothing";
  const instead = heard ? ` Pawl printed ${heard.stdout.slice(0, 400) || "nothing"} and recorded ${kinds}.` : "";
  throw new DemoFailed(`expected: ${what}.${instead}`);
}

// ── Disk and screen ─────────────────────────────────────────────────────────

/** What was saved since the last look. */
function newRecords(play: Play): JournalRecord[] {
  if (play.run === "") play.run = runIds(play.place)[0] ?? "";
  if (play.run === "") return [];
  const fresh = readCommits(play.place.root, play.run).filter((commit) => commit.run.seq > play.seq);
  play.seq = fresh.at(-1)?.run.seq ?? play.seq;
  return fresh.flatMap((commit) => commit.records);
}

const runIds = ({ root }: DemoPlace) => namesOrNone(join(root, ".pawl/runs")).filter((name) => /^s-/.test(name));

function savedRun(play: Play): Run {
  const commit = play.run === "" ? undefined : readCommits(play.place.root, play.run).at(-1);
  if (!commit) throw new DemoFailed("expected: a run on disk. There is none; did the hook run at all?");
  return commit.run;
}

async function showAnswer({ screen }: Play, heard: HeardReply, relevant: RegExp): Promise<void> {
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
