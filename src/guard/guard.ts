/**
 * A session without a run says that its work is done. If it changed files and no test run proves it, the person
 * reads one line, or the agent is sent back, as the project has set it. What cannot be known here is passed over.
 */

import { needsTests } from "../checks/evidence/edits.ts";
import { answering, type Incoming, type Reply } from "../engine/advance.ts";
import { MARK } from "../engine/core/guide.ts";
import { readTurn } from "../hosts/claude/transcript.ts";
import { inProject } from "../kernel/project-paths.ts";
import { excerpt, safeText } from "../kernel/text/safe-text.ts";
import type { Answer, Event } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { noteClaim } from "../store/guard.ts";
import { findRoot, isOff } from "../store/place.ts";
import { claimsCompletion } from "./core/completion.ts";
import { judgeTurn, type TurnJudgement } from "./core/turns.ts";

/** Far below what any host and our own ledger allow. */
const MOST_ROUNDS = 3;

export async function guardClaim(incoming: Incoming): Promise<Reply | null> {
  try {
    const answer = await answerTo(incoming);
    return answer && answering(answer);
  } catch (error) {
    logError(null, "guard", error);
    return null;
  }
}

async function answerTo({ event, cwd, transcript }: Incoming): Promise<Answer | null> {
  if (event.kind !== "stop" || event.session === "" || cwd === null || transcript === null) return null;
  // Sub-agents that still run belong to this turn, and their end begins the next part of it.
  if (event.agents.length > 0) return null;
  if (!claimsCompletion(event.message) || !lookAt(cwd)) return null;
  const root = findRoot(cwd);
  if (isOff(root)) return null;
  const turn = readTurn(transcript, event);
  if (!turn.ok) return null;
  const { calls, began } = turn.value;
  const judged = judgeTurn(calls.map(inProject(root)), (path) => !path.startsWith("/") && needsTests(path));
  if (judged.edited.length === 0 || judged.verdict === "verified") return null;
  const mode = await readMode(root);
  return mode === "off" ? null : spoken(mode, { ...event, turn: began }, describeEvidence(judged));
}

/** A pawl.yaml with mistakes may have meant off. */
async function readMode(root: string): Promise<"off" | "tell" | "send-back"> {
  const { readProject } = await import("../definitions/project.ts");
  const read = readProject(root);
  const mode = "errors" in read ? "off" : (read.project.guard ?? "tell");
  return mode === "enforce" ? "send-back" : mode;
}

function spoken(mode: "tell" | "send-back", event: Event, evidence: string): Answer | null {
  const noted = noteClaim(event.host, event.session, event.turn, event.via);
  if (noted === null) return null;
  const { before, first } = noted;
  if (mode === "send-back" && before < MOST_ROUNDS) return { turn: "continue", agent: sentBack(evidence, before + 1) };
  if (before > (mode === "send-back" ? MOST_ROUNDS : 0)) return null;
  const asked = mode === "send-back" ? ` The agent was asked ${MOST_ROUNDS} times.` : "";
  const hint = first ? " (`guard: off` in pawl.yaml switches this off.)" : "";
  return { turn: "none", person: `Pawl: ${evidence} Nothing proves the claim.${asked}${hint}` };
}

const sentBack = (evidence: string, round: number) =>
  `${MARK} You said that the work is done, but ${evidence} Run the tests on the files as they are now and report what they show. If something is open, failing or cannot be tested, say so instead. (${round} of ${MOST_ROUNDS})`;

// ── In words ────────────────────────────────────────────────────────────────

function describeEvidence({ verdict, run, later, edited }: TurnJudgement): string {
  const ran = run === null ? "" : `${oneLine(run.command, 60)}, ${clock(run.at)}`;
  const others = edited.length > 1 ? ` (and ${edited.length - 1} more)` : "";
  const last = `${oneLine(later || edited.at(-1)!, 120)}${verdict === "stale" ? "" : others}`;
  if (verdict === "stale") return `${last} was edited after the last green run (${ran}).`;
  if (verdict === "failed") return `the last run (${ran}) failed: ${oneLine(run?.why ?? "", 120)}.`;
  if (run !== null) return `${last} was edited, and the run (${ran}) proves nothing: ${oneLine(run.why, 120)}.`;
  return `${last} was edited, and no test run followed.`;
}

const oneLine = (text: string, most: number) => excerpt(safeText(text), most);

/** The person's own time. */
function clock(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "?" : time.toTimeString().slice(0, 5);
}
