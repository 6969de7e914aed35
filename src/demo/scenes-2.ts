/** The story, second half: a crash, a compaction, a claim that git denies, a failed commit, another session. */
import { readCommits } from "../store/archive.ts";
import { hasJournal } from "../store/journal.ts";
import { compacting, left, openSession, type Session, started, stopped, subStopped } from "./host.ts";
import { killBeforeItSpeaks } from "./kill.ts";
import { git, mendMistake, type Ran, runToEnd } from "./place.ts";
import {
  agentSays,
  deliver,
  expect,
  expectStage,
  type Play,
  personSays,
  recorded,
  savedRun,
  showAnswer,
  showRun,
  tag,
} from "./play.ts";

export async function crashAndCompaction(play: Play, session: Session): Promise<void> {
  await play.screen.title("6 · kill -9 in the middle, then a compaction: nothing is lost");
  await crash(play, session);
  await compaction(play, session);
}

async function crash(play: Play, session: Session): Promise<void> {
  const { screen, place } = play;
  const message = `Nothing to tidy up.\n${tag("CLEANUP_SKIPPED")}`;
  await screen.say("agent (scripted)", message);
  const { commit, spoken, journalled } = await killBeforeItSpeaks(play, stopped(place, session, message));
  expect(spoken === 0, "the hook was killed before it spoke");
  expectStage(play, "commit", "active");
  await screen.say(
    "kill -9",
    `the hook process, after it saved and before it spoke: ${spoken} bytes of its answer got out`,
  );
  await showRun(play, `the claim is kept; journal line ${journalled ? "written" : "not written yet"}`);
  const heard = await personSays(play, session, "Hm, did that go through?");
  expect(recorded(heard, "undelivered"), "Pawl knows that its instruction did not arrive", heard);
  expect(heard.agent.includes("(commit)"), "the instruction is given again", heard);
  expect(hasJournal(place.root, commit), "the journal line that the crash ate is written now", heard);
  await showAnswer(play, heard);
  await screen.say("disk", `the journal has the line of save no. ${commit.run.seq} now`);
}

async function compaction(play: Play, session: Session): Promise<void> {
  const { screen, place } = play;
  await screen.say("host (scripted)", "compacts the conversation: the agent forgets what it was told");
  const before = await deliver(play, compacting(place, session));
  expect(before.stdout.includes("(commit)"), "the summariser is told where the run stands", before);
  await screen.say("pawl → summary", before.stdout);
  const fork = await deliver(play, subStopped(place, session, "", "<summary>We worked on prices.</summary>"));
  expect(fork.stdout === "" && fork.records.length === 0, "the summary itself is no report", fork);
  const heard = await deliver(play, started(place, session, "compact"));
  expect(heard.agent.includes("(commit)"), "after compaction the agent gets its place again", heard);
  await showAnswer(play, heard);
}

// ── The commit ──────────────────────────────────────────────────────────────

async function tryCommit(play: Play): Promise<Ran> {
  const { screen, place } = play;
  await git(place, "add", "-A");
  const ran = await runToEnd(place, ["git", "commit", "-m", "Prices of unknown articles"]);
  const first = `${ran.out}\n${ran.err}`.trim().split("\n").slice(0, 2).join("\n");
  await screen.say("git", `$ git commit (exit ${ran.code})\n${first}`);
  return ran;
}

export async function commitRefused(play: Play, session: Session): Promise<void> {
  await play.screen.title("7 · “Done” is checked with git; then the commit really fails");
  const early = await agentSays(play, session, `All committed.\n${tag("WORKFLOW_COMPLETE")}`);
  expect(early.goesOn && recorded(early, "gated"), "WORKFLOW_COMPLETE without a commit is not believed", early);
  expectStage(play, "commit", "active", early);
  await showAnswer(play, early);
  const ran = await tryCommit(play);
  expect(ran.code !== 0, "the project's own pre-commit hook stops the commit");
  const cause = "The pre-commit hook found a debugger statement.";
  const heard = await agentSays(play, session, `${cause}\n${tag("COMMIT_FAILED")}`);
  expect(heard.person.includes("❌ Commit") && heard.person.includes("✅ Cleanup"), "each step with ✅ or ❌", heard);
  expectStage(play, "commit", "halted", heard);
  await showAnswer(play, heard);
  const end = await agentSays(play, session, "The commit failed; please remove the debugger statement.");
  expect(end.stdout === "", "the agent may stop now", end);
  await play.screen.say("host (scripted)", "the session is closed");
  const gone = await deliver(play, left(play.place, session));
  expect(gone.stdout === "" && recorded(gone, "left"), "the end of the session is noted in silence", gone);
  await showRun(play, "kept for whoever goes on");
}

export async function resumedElsewhere(play: Play): Promise<void> {
  const { screen, place } = play;
  await screen.title("8 · Later, in a new session: it goes on where the old one stopped");
  const session = openSession(place);
  await deliver(play, started(place, session, "startup"));
  const heard = await personSays(play, session, "/complete-work");
  expect(heard.person.includes("Resuming workflow from Step 4 (commit)..."), "the run is resumed at step 4", heard);
  await showAnswer(play, heard);
  mendMistake(place);
  const ran = await tryCommit(play);
  expect(ran.code === 0, "the commit succeeds once the mistake is mended");
  const last = await agentSays(
    play,
    session,
    `Removed the debugger statement, committed.\n${tag("WORKFLOW_COMPLETE")}`,
  );
  const head = await git(place, "rev-parse", "HEAD");
  const run = savedRun(play);
  expect(run.status === "ended" && run.outcome === "completed", "the run is completed", last);
  expect(run.commit_hash === head && last.person.includes(head.slice(0, 12)), "git's own commit hash is named", last);
  await showAnswer(play, last);
  await showRun(play, `commit ${head.slice(0, 12)}, as git has it`);
  expect(readCommits(place.root, play.run).length === run.seq, "every save can still be read");
}
