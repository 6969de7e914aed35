/** The story, first half: arming, a quotation, a claim, the person's decision, a second session. */
import { openSession, type Session, started, subStopped } from "./host.ts";
import { put } from "./place.ts";
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
  showWhy,
  tag,
} from "./play.ts";

export async function arming(play: Play, session: Session): Promise<void> {
  await play.screen.title("1 · You ask for a clean end of the work");
  const start = await deliver(play, started(play.place, session, "startup"));
  expect(start.stdout === "", "silence before anything was armed", start);
  const heard = await personSays(play, session, "/complete-work");
  expect(play.run !== "" && heard.agent !== "", "/complete-work arms a run and instructs the agent", heard);
  expectStage(play, "memory", "active", heard);
  await showAnswer(play, heard);
  await showRun(play, `.pawl/runs/${play.run}/`);
}

export async function quotedTag(play: Play, session: Session): Promise<void> {
  await play.screen.title("2 · A tag inside a code block is a quotation, not a claim");
  const quote = `When I am done I will say:\n\`\`\`\n${tag("MEMORY_UPDATED")}\n\`\`\``;
  const heard = await agentSays(play, session, quote);
  expect(!recorded(heard, "signalled") && !heard.goesOn, "a quoted tag is no claim", heard);
  expectStage(play, "memory", "active", heard);
  await showAnswer(play, heard);
  await showRun(play, "nothing moved");
}

export async function realClaim(play: Play, session: Session): Promise<void> {
  await play.screen.title("3 · A real claim leads to the next step");
  const go = await personSays(play, session, "/pawl:go");
  expect(go.agent.includes("(memory)"), "/pawl:go gives the instruction of the step again", go);
  await showAnswer(play, go);
  put(play.place, ".claude/memory/decisions.md", "- The price of an unknown article is 0.\n");
  const heard = await agentSays(play, session, `Decisions are written down.\n${tag("MEMORY_UPDATED")}`);
  expect(heard.goesOn, "the agent goes on with the review", heard);
  expectStage(play, "review", "active", heard);
  await showAnswer(play, heard);
  await showRun(play);
}

const REPORT = `## Critical Issues
- src/price.js:5 the error is swallowed: an unknown article costs nothing
- src/price.js:4 no test for an unknown article

${tag("REVIEW_ISSUES_FOUND")}`;

export async function criticalReview(play: Play, session: Session): Promise<void> {
  const { screen, place } = play;
  await screen.title("4 · The review finds critical issues: you decide, not the agent");
  await screen.say("reviewer (scripted)", REPORT.replace("\n\n", "\n"));
  const report = await deliver(play, subStopped(place, session, "deep-reviewer", REPORT));
  expect(recorded(report, "reported"), "the reviewer's report is kept", report);
  await showWhy(play, report.records);
  const found = await agentSays(play, session, tag("REVIEW_ISSUES_FOUND"));
  expect(found.goesOn && found.person.includes("3. Continue anyway"), "the choices are put to the person", found);
  expectStage(play, "review", "waiting", found);
  await showAnswer(play, found);
  const self = await agentSays(play, session, `I find them harmless.\n${tag("REVIEW_COMPLETE")}`);
  expect(recorded(self, "ignored") && !self.goesOn, "the agent cannot decide for the person", self);
  expectStage(play, "review", "waiting", self);
  await showAnswer(play, self);
  const heard = await personSays(play, session, "3");
  expect(recorded(heard, "decided"), "the person's 3 is taken as the decision", heard);
  expectStage(play, "cleanup", "active", heard);
  await showAnswer(play, heard);
  await showRun(play);
}

export async function secondSession(play: Play): Promise<void> {
  await play.screen.title("5 · A second session in the same folder says the right tag");
  const other = openSession(play.place);
  await play.screen.say("host (scripted)", "another session begins, in another window");
  const before = savedRun(play).seq;
  const answers = [
    await deliver(play, started(play.place, other, "startup")),
    await personSays(play, other, "Tidy up, please."),
    await agentSays(play, other, `Nothing to tidy up.\n${tag("CLEANUP_SKIPPED")}`),
  ];
  for (const heard of answers) expect(heard.stdout === "", "silence in a session that has no run", heard);
  expect(savedRun(play).seq === before, "another session's words move nothing");
  await showAnswer(play, answers.at(-1)!);
  await showRun(play, "untouched by the other session");
}
