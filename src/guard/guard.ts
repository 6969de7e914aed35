/**
 * A session without a run says that its work is done. If it changed files and no test run proves it, the person
 * reads one line, or the agent is sent back, as the project has set it. What cannot be known here is passed over.
 */

import { needsTests } from "../checks/evidence/edits.ts";
import { answering, type Incoming, type Reply } from "../engine/advance.ts";
import { MARK } from "../engine/core/guide.ts";
import { readTurn } from "../hosts/claude/turn.ts";
import { plain } from "../kernel/text/safe-text.ts";
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
  // A missing transcript is not worth a wait: a turn that edited files has long been written.
  if (!claimsCompletion(event.message) || !lookAt(cwd) || !lookAt(transcript)) return null;
  const root = findRoot(cwd);
  if (isOff(root)) return null;
  const calls = readTurn(transcript, event.turn, event.message);
  if (!calls.ok) return null;
  const judged = judgeTurn(calls.value, (path) => isInside(root, path) && needsTests(path));
  if (judged.edited.length === 0 || judged.verdict === "verified") return null;
  const mode = await modeOf(root);
  return mode === "off" ? null : spoken(mode, event, evidenceOf(judged, root));
}

/** Relative paths were written where the agent was, which is inside. */
const isInside = (root: string, path: string) => !path.startsWith("/") || path.startsWith(`${root}/`);

/** A pawl.yaml with mistakes may have meant off. */
async function modeOf(root: string): Promise<"off" | "tell" | "enforce"> {
  const { readProject } = await import("../definitions/project.ts");
  const read = readProject(root);
  return "errors" in read ? "off" : (read.project.guard ?? "tell");
}

function spoken(mode: "tell" | "enforce", event: Event, evidence: string): Answer | null {
  const noted = noteClaim(event.host, event.session, event.turn, event.via);
  if (noted === null) return null;
  const { before, first } = noted;
  if (mode === "enforce" && before < MOST_ROUNDS) return { turn: "continue", agent: sentBack(evidence, before + 1) };
  if (before > (mode === "enforce" ? MOST_ROUNDS : 0)) return null;
  const asked = mode === "enforce" ? ` The agent was asked ${MOST_ROUNDS} times.` : "";
  const hint = first ? " (`guard: off` in pawl.yaml switches this off.)" : "";
  return { turn: "none", person: `Pawl: ${evidence} Nothing proves the claim.${asked}${hint}` };
}

const sentBack = (evidence: string, round: number) =>
  `${MARK} You said that the work is done, but ${evidence} Run the tests on the files as they are now and report what they show. If something is open, failing or cannot be tested, say so instead. (${round} of ${MOST_ROUNDS})`;

// ── In words ────────────────────────────────────────────────────────────────

function evidenceOf({ verdict, run, later, edited }: TurnJudgement, root: string): string {
  const name = (path: string) => oneLine(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path, 120);
  const ran = run === null ? "" : `${oneLine(run.command, 60)}, ${clock(run.at)}`;
  const others = edited.length > 1 ? ` (and ${edited.length - 1} more)` : "";
  const last = `${name(later || edited.at(-1)!)}${verdict === "stale" ? "" : others}`;
  if (verdict === "stale") return `${last} was edited after the last green run (${ran}).`;
  if (verdict === "failed") return `the last run (${ran}) failed: ${oneLine(run?.why ?? "", 120)}.`;
  if (run !== null) return `${last} was edited, and the run (${ran}) proves nothing: ${oneLine(run.why, 120)}.`;
  return `${last} was edited, and no test run followed.`;
}

const oneLine = (text: string, most: number) => {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

/** The person's own time. */
function clock(at: string): string {
  const time = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  return Number.isNaN(time.getTime()) ? "?" : `${two(time.getHours())}:${two(time.getMinutes())}`;
}
