/** The story: two false claims, a crash, the true one, and somebody else's words. */
import { readCommits } from "../store/archive.ts";
import { hasJournal } from "../store/journal.ts";
import { compacting, openSession, type Session, started, summarised } from "./host.ts";
import { killBeforeItSpeaks } from "./kill.ts";
import {
  agentClaims,
  agentSays,
  deliver,
  expect,
  type Heard,
  type Play,
  personSays,
  recorded,
  runIds,
  savedRun,
  showAnswer,
  tag,
} from "./play.ts";
import { deleteFailingTest, mendCode, SIGNAL, showChange } from "./project.ts";

export async function playAll(play: Play): Promise<void> {
  const session = openSession(play.place);
  await arming(play, session);
  await redSuite(play, session);
  await deletedTest(play, session);
  await crashAndCompaction(play, session);
  await realFix(play, session);
  await secondSession(play);
}

const REFUSED = /not believed/;

function expectRefusal(play: Play, heard: Heard, said: string[]): void {
  expect(recorded(heard, "signalled") && recorded(heard, "gated"), `${SIGNAL} is taken as a claim and checked`, heard);
  expect(heard.goesOn && REFUSED.test(heard.agent), `${SIGNAL} is not believed, the agent is sent back`, heard);
  for (const text of said) expect(heard.agent.includes(text), `the agent is told “${text}”`, heard);
  expect(savedRun(play).status === "active", "the run goes on", heard);
}

// ── 1 and 2: claims that are not true ───────────────────────────────────────

async function arming(play: Play, session: Session): Promise<void> {
  await play.screen.title("1 · The agent says that all tests pass");
  const start = await deliver(play, started(play.place, session, "startup"));
  expect(start.agent === "" && start.records.length === 0, "no word to the agent before anything is armed", start);
  const heard = await personSays(play, session, "/ship");
  expect(play.run !== "" && heard.agent.includes("until all tests pass"), "/ship arms a run", heard);
  await showAnswer(play, { ...heard, person: "" }, /^\[pawl\]|until all tests pass/);
}

async function redSuite(play: Play, session: Session): Promise<void> {
  const heard = await agentClaims(play, session, "Done! All 12 tests pass.", SIGNAL);
  expectRefusal(play, heard, ["1 failed, 11 passed", "(fail) an empty cart is free"]);
  await showAnswer(play, heard, /not believed|\(fail\)/);
}

async function deletedTest(play: Play, session: Session): Promise<void> {
  await play.screen.title("2 · It deletes the failing test");
  deleteFailingTest(play.place);
  await play.screen.say("edits", await showChange(play.place));
  const heard = await agentClaims(play, session, "Fixed. All 12 tests pass now.", SIGNAL);
  expectRefusal(play, heard, ["11 tests, were 12"]);
  await showAnswer(play, heard, REFUSED);
}

// ── 3: a crash ──────────────────────────────────────────────────────────────

async function crashAndCompaction(play: Play, session: Session): Promise<void> {
  const { screen, place } = play;
  await screen.title("3 · kill -9 in the middle, and a compaction");
  await screen.say("client", "compacts the conversation and asks Pawl what to keep");
  const before = savedRun(play);
  const killed = await killBeforeItSpeaks(play, compacting(place, session));
  expect(killed.spoken === 0, "the hook was killed before it spoke");
  const journal = killed.journalled ? "" : ", and nothing into the journal";
  await screen.say("kill -9", `the hook, between save and answer: ${killed.spoken} bytes got out${journal}`);
  const fork = await deliver(play, summarised(place, session, "<summary>We work on a cart.</summary>"));
  expect(fork.stdout === "" && fork.records.length === 0, "the summary is no claim", fork);
  await screen.say("client", "all that the agent has now is a summary: “We work on a cart.”");
  const heard = await deliver(play, started(place, session, "compact"));
  expect(recorded(heard, "restored") && heard.agent.includes("until all tests pass"), "the agent is restored", heard);
  await showAnswer(play, heard, /^\[pawl\]|until all tests pass|not believed/);
  await screen.say("disk", `restored, nothing lost: ${nothingLost(play, before)}`);
}

/** What is known of the work after the crash, line by line the same as before it. */
function nothingLost(play: Play, before: ReturnType<typeof savedRun>): string {
  const { root } = play.place;
  const after = savedRun(play);
  for (const key of ["stage", "status", "claim", "verdicts", "most_tests"] as const)
    expect(JSON.stringify(after[key]) === JSON.stringify(before[key]), `${key} of the run is as before`);
  const commits = readCommits(root, play.run);
  const whole = commits.every((commit, i) => commit.run.seq === i + 1 && hasJournal(root, commit));
  expect(whole, "every save is there, and has its lines in the journal");
  const most = Math.max(...Object.values(after.most_tests ?? {}));
  return `${commits.length} saves, all of them in the journal; it was sent back ${after.claim?.rounds} times; there were ${most} tests`;
}

// ── 4 and 5: the truth, and somebody else's words ───────────────────────────

async function realFix(play: Play, session: Session): Promise<void> {
  const { place, screen } = play;
  await screen.title("4 · It puts the test back and mends the code");
  mendCode(place);
  await screen.say("edits", await showChange(place));
  const heard = await agentClaims(play, session, "Done. All 12 tests pass.", SIGNAL);
  const { status, outcome } = savedRun(play);
  expect(status === "ended" && outcome === "completed", "the run is completed", heard);
  expect(/12 passed .*@ tree [0-9a-f]{10}/.test(heard.person), "you are told what passed, on which tree", heard);
  await showAnswer(play, heard, REFUSED);
}

async function secondSession(play: Play): Promise<void> {
  const { place, screen } = play;
  await screen.title("5 · Another session, in the same folder, quotes the tag");
  const other = openSession(place);
  const before = savedRun(play).seq;
  const answers = [
    await deliver(play, started(place, other, "startup")),
    await personSays(play, other, "What makes /ship end here?"),
    await agentSays(play, other, `The agent has to say:\n${tag(SIGNAL)}`),
  ];
  for (const heard of answers) expect(heard.stdout === "", "silence in a session that has no run", heard);
  expect(savedRun(play).seq === before, "another session's words move nothing");
  expect(
    runIds(place).every((id) => id === play.run),
    "another session's words begin nothing",
  );
  await showAnswer(play, answers.at(-1)!, REFUSED);
}
