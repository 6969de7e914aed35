/**
 * A session without a run ends a turn in which it changed files. Where the project has a definition of done, a run of the
 * workflow `guard` checks it at this very stop. Elsewhere a claim is compared with what the transcript shows.
 */

import { needsTests } from "../checks/evidence/edits.ts";
import { spawnGit } from "../checks/git.ts";
import { answering, type Incoming, joinReplies } from "../engine/advance.ts";
import { type BeginResult, begin } from "../engine/begin.ts";
import { MARK } from "../engine/core/guide.ts";
import { readToolsSince, readTurn } from "../hosts/claude/transcript.ts";
import { hash } from "../hosts/identity.ts";
import { inProject } from "../kernel/project-paths.ts";
import { matchesGlob } from "../kernel/text/glob.ts";
import { excerpt, safeText } from "../kernel/text/safe-text.ts";
import type { Answer, Event, EventOf, Gate } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import { gatesOf, leavesOf } from "../kernel/types/workflow.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { guardIsOn, noteClaim, noteStartOf, sessionsBegun, startOfSession } from "../store/guard.ts";
import { homeDir } from "../store/home.ts";
import { findRoot, isOff } from "../store/place.ts";
import { claimsCompletion } from "./core/completion.ts";
import { judgeTurn, type TurnJudgement } from "./core/turns.ts";

/** Far below what any host and our own ledger allow. */
const MOST_ROUNDS = 3;

/** null: there is nothing to say. A run: it has begun and judges this stop. */
export async function beginGuard(incoming: Incoming): Promise<BeginResult | null> {
  try {
    const { event, cwd, transcript } = incoming;
    if (event.kind !== "stop" || event.session === "" || cwd === null || transcript === null) return null;
    // Sub-agents and shells that still run belong to this turn, and their end begins the next part of it.
    if (event.agents.length > 0 || event.planning || !lookAt(cwd)) return null;
    const root = findRoot(cwd);
    if (root === homeDir() || isOff(root)) return null;
    return await guarded(incoming, event, root);
  } catch (error) {
    logError(null, "guard", error);
    return null;
  }
}

async function guarded(incoming: Incoming, event: EventOf<"stop">, root: string): Promise<BeginResult | null> {
  const claims = claimsCompletion(event.message);
  if (!claims && !guardIsOn()) return null;
  const { mode, gates } = await readMode(root);
  const isChecked = mode === "send-back" && gates.length > 0;
  const head = guardIsOn() ? startOfSession(event.host, event.session, root) : null;
  if (head === null && (mode === "off" || !(claims || isChecked))) return null;
  if (isChecked && event.background > 0) return null;
  const turn = readTurn(incoming.transcript!, event);
  if (!turn.ok) return null;
  const { calls, began } = turn.value;
  const isAbout = (path: string) => !path.startsWith("/") && needsTests(path) && (!isChecked || concerns(gates, path));
  const judged = judgeTurn(calls.map(inProject(root)), isAbout);
  if (judged.edited.length === 0) return null;
  const lost = head === null ? null : await gatesLost(event, root, head, isChecked ? gates : []);
  if (isChecked) return withLine(await check(incoming, { ...event, turn: began }, root, gates), lost);
  if (lost !== null) return said({ turn: "none", person: lost });
  if (mode === "off" || !claims || judged.verdict === "verified") return null;
  return said(spoken(mode, { ...event, turn: began }, describeEvidence(judged)));
}

/** What is left is still checked: a change of pawl.yaml buys no unchecked stop. */
function withLine(begun: BeginResult | null, person: string | null): BeginResult | null {
  if (person === null) return begun;
  if (begun === null) return said({ turn: "none", person });
  return { ...begun, reply: joinReplies([answering({ turn: "none", person }), begun.reply]) };
}

const said = (answer: Answer | null): BeginResult | null => answer && { run: null, reply: answering(answer) };

/** A gate that names no files is about all of them. */
const concerns = (gates: Gate[], path: string) =>
  leavesOf(gates).some(({ when_changed }) => when_changed?.some((glob) => matchesGlob(path, glob)) ?? true);

interface Mode {
  mode: "off" | "tell" | "send-back";
  /** the definition of done */
  gates: Gate[];
}

async function readMode(root: string): Promise<Mode> {
  const { readProject } = await import("../definitions/project.ts");
  return asMode(readProject(root));
}

/** A pawl.yaml with mistakes may have meant off. */
function asMode(read: ReturnType<typeof import("../definitions/project.ts").readProject>): Mode {
  if ("errors" in read) return { mode: "off", gates: [] };
  const { guard = "tell", gates } = read.project;
  return { mode: guard === "enforce" ? "send-back" : guard, gates: gates.done?.all ?? [] };
}

/** An agent can write pawl.yaml, too: what the session began with and is not asked for any more is told, once. */
async function gatesLost(event: EventOf<"stop">, root: string, head: string, now: Gate[]): Promise<string | null> {
  const { exitCode, stdout } = spawnGit(root, ["show", `${head}:./pawl.yaml`]);
  const { compileProject } = await import("../definitions/project.ts");
  const before = asMode(exitCode === 0 ? compileProject(stdout.toString()) : { errors: [] });
  const lost = before.gates.filter(({ id }) => before.mode === "send-back" && !now.some((gate) => gate.id === id));
  if (lost.length === 0 || noteClaim(event.host, event.session, "lost", event.via)?.before !== 0) return null;
  const names = safeText(lost.map(({ name }) => name).join(", "));
  return `Pawl: pawl.yaml was changed since this session began, and no longer asks for ${names}.`;
}

// ── The definition of done ──────────────────────────────────────────────────

async function check(incoming: Incoming, event: EventOf<"stop">, root: string, gates: Gate[]) {
  const untrusted = await whyUntrusted(root, gates);
  if (untrusted !== null) {
    const isFirst = noteClaim(event.host, event.session, "untrusted", event.via)?.before === 0;
    const person = `Pawl: the definition of done was not checked: ${untrusted}. \`pawl trust\` shows what would run.`;
    return isFirst ? said({ turn: "none", person }) : null;
  }
  const { findByName } = await import("../definitions/registry.ts");
  const found = findByName("guard", root);
  if (!found || "errors" in found || gatesOf(found.workflow).length === 0) return null;
  const base_tree = baseOf(root, event);
  // The same stop is then judged by the run: its beginning is an event of its own.
  const own = { ...incoming, event: { ...event, id: hash(event.id, "guard") } };
  // Another hook has sent the agent back in this turn, or another session works here, too: no rounds of ours.
  const isAlone = !event.continuing && !(await othersChanged(incoming, event, root, base_tree));
  const tells = isAlone ? {} : { tells: true as const };
  return begin({ incoming: own, root, workflow: found.workflow, ...(base_tree !== null && { base_tree }), ...tells });
}

/** Another session is open in this checkout, and files differ that this one has not touched. */
async function othersChanged(incoming: Incoming, { host, session }: Event, root: string, base: string | null) {
  const others = sessionsBegun(host, root).filter((one) => one !== session);
  if (others.length === 0 || base === null) return false;
  const { knownActors } = await import("../store/actors.ts");
  const actors = knownActors();
  if (!others.some((one) => actors.get(actorOf(one)))) return false;
  const calls = readToolsSince(incoming.transcript!, "");
  const own = new Set(calls.ok ? judgeTurn(calls.value.map(inProject(root))).edited : []);
  const listed = [
    ["diff", "--name-only", "-z", "--relative", base],
    ["ls-files", "-z", "--others", "--exclude-standard"],
  ];
  const changed = listed.flatMap((args) => spawnGit(root, args).stdout.toString().split("\0"));
  return changed.some((path) => path !== "" && needsTests(path) && !own.has(path));
}

/** null: all of it may run. */
async function whyUntrusted(root: string, gates: Gate[]): Promise<string | null> {
  const { computeClosure } = await import("../checks/closure/closure.ts");
  const { readTrust } = await import("../store/trust.ts");
  const trust = readTrust(root, computeClosure(root, leavesOf(gates)));
  return trust.trusted ? null : trust.why;
}

/** The tree of the commit that the session began with; of the newest one where that was not seen. null: without git. */
function baseOf(root: string, { host, session }: Event): string | null {
  const head = startOfSession(host, session, root) ?? "HEAD";
  const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "--quiet", `${head}^{tree}`]);
  return exitCode === 0 ? stdout.toString().trim() : null;
}

/** Where a session begins: its commit is what its work is compared with. */
export async function noteStart({ event, cwd }: Incoming): Promise<void> {
  try {
    if (event.session === "" || cwd === null || !lookAt(cwd)) return;
    const root = findRoot(cwd);
    if (root === homeDir() || isOff(root)) return;
    const { mode, gates } = await readMode(root);
    if (mode !== "send-back" || gates.length === 0) return;
    const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "--quiet", "HEAD"]);
    if (exitCode === 0) noteStartOf(event.host, event.session, root, stdout.toString().trim());
  } catch (error) {
    logError(null, "guard", error);
  }
}

// ── By the transcript ───────────────────────────────────────────────────────

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
