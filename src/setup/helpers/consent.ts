/**
 * The person's yes to a plan. In auto mode the client asks no one before it runs a command, so the archive asks for itself:
 * a person at a terminal, or an agent whose run has the person's answer on record.
 */
import { readAnswers, type ToolAnswer } from "../../engine/core/prompt.ts";
import { listTranscripts } from "../../hosts/claude/folders.ts";
import { readToolsSince } from "../../hosts/claude/transcript.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import { UserError } from "../../kernel/user-error.ts";
import { lookAt } from "../../store/files.ts";
import { readPointer } from "../../store/place.ts";
import { callingSession } from "../../store/processes/caller.ts";
import { isPerson } from "../../store/processes/person.ts";
import { loadRun, readCommits } from "../../store/runs.ts";
import type { Plan } from "./plan.ts";

/** The client writes its transcript with a delay: an answer given a moment ago may not be there yet. */
const WRITTEN_MS = 1_000;

/** Throws unless the person agreed to this plan. */
export function requireConsent(root: string, plan: Plan): void {
  const person = isPerson();
  if (person.ok) return;
  const session = callingSession();
  const pointer = session === null ? null : readPointer("claude", session);
  const run = pointer?.root === root && pointer.run !== "" ? loadRun(root, pointer.run)?.commit.run : undefined;
  if (session === null || !run)
    throw refused(person.why, "ask the person to run this command in a terminal of their own");
  // An answer older than the plan, or than this step, was to another question.
  const since = plan.at > run.entered_at ? plan.at : run.entered_at;
  const typed = typedAnswers(root, run.id);
  const newest = () =>
    [...typed, ...chosenAnswers(session, since)]
      .filter((one) => one.at >= since && isAbout(plan, one) && parseConsent(one.answer) !== null)
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
      .at(-1);
  const isYes = (answer: ToolAnswer | undefined) => answer !== undefined && parseConsent(answer.answer) === "yes";
  const deadline = performance.now() + (listTranscripts(session).length > 0 ? WRITTEN_MS : 0);
  let last = newest();
  for (; !isYes(last) && performance.now() < deadline; last = newest()) Bun.sleepSync(50);
  if (isYes(last)) return;
  const what = last ? `the person said: ${excerpt(last.answer, 80)}` : "the person has not agreed to this plan";
  throw refused(what, `show them plan ${plan.id}, ask "Archive these files (plan ${plan.id})?" and wait for their yes`);
}

const refused = (why: string, hint: string) => new UserError(`nothing was moved: ${why}`, hint, 1);

/** Prompts of the person, each with what the agent said before it: a yes is one to that. */
function typedAnswers(root: string, id: string): ToolAnswer[] {
  const answers: ToolAnswer[] = [];
  let question = "";
  for (const { event, records } of readCommits(root, id)) {
    for (const { kind, said, injected } of records) {
      if (kind === "stopped") question = String(said);
      if (kind === "prompted" && injected === false) answers.push({ question, answer: String(said), at: event.at });
    }
  }
  return answers;
}

/** Answers in the client's own dialog, which the session's transcript keeps. */
function chosenAnswers(session: string, since: string): ToolAnswer[] {
  return listTranscripts(session).flatMap((path) => {
    const read = lookAt(path) === undefined ? null : readToolsSince(path, since);
    return read?.ok ? read.value.flatMap(readAnswers) : [];
  });
}

/** By its id, a file of it, or the word: it is the same in many languages. */
const isAbout = ({ id, files }: Plan, { question, answer }: ToolAnswer) =>
  [question, answer].some(
    (text) => /archiv/i.test(text) || text.includes(id) || files.some(({ path }) => text.includes(path)),
  );

const END = "(?![\\p{L}\\p{N}])";
const AGREED = new RegExp(
  `^(?:(?:y|yes|yep|yeah|sure|ok|okay|fine|please|ja|bitte|oui|s[ií])${END}[\\s,.;:!-]*)+`,
  "iu",
);
const DO = /^(?:archiv|move|go ahead|do (?:it|that|so)|both|all|approve|agree|\d)/i;
const DO_NOT = new RegExp(
  `^(?:n|no|nope|not|don['’]?t|do not|never|none|nothing|leave|keep|skip|wait|stop|cancel|nein|nicht|lass|non)${END}`,
  "iu",
);
const NEGATED = new RegExp(`(?<![\\p{L}\\p{N}])(?:not|none|nothing|nichts?|rien|pas)${END}`, "iu");

/** null: neither a yes nor a no. What follows a comma narrows a yes ("archive 1, keep 2") and does not take it back. */
export function parseConsent(said: string): "yes" | "no" | null {
  const text = said.trim();
  const agreed = AGREED.exec(text)?.[0] ?? "";
  const [clause = ""] = text.slice(agreed.length).split(/[,;.!?(\n]|\b(?:but|except|aber|mais)\b/);
  if (DO_NOT.test(clause) || NEGATED.test(clause)) return "no";
  return agreed !== "" || DO.test(clause) ? "yes" : null;
}
