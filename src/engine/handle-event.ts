import type { Answer, Event, EventOf, Run, Workflow } from "../kernel/types/run.ts";
import { isGone } from "../store/commits.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { guardIsOn } from "../store/guard.ts";
import { homeDir } from "../store/home.ts";
import { findRoot, isOff, type Pointer, readPointer, releasePointer } from "../store/place.ts";
import { clientMark, identifyCaller, noteRefused, takeRefused } from "../store/processes/client.ts";
import { isFork } from "../store/processes/owner.ts";
import { loadRun } from "../store/runs.ts";
import { STALE_MS, startLines } from "../store/waiting.ts";
import { advanceRun, answering, type Incoming, joinReplies, type Reply } from "./advance.ts";
import { type BeginResult, beginByPrompt, bindOffered, takeCleared } from "./begin.ts";
import { decide } from "./core/decide.ts";
import { isApproval, isHelp, parseBeginning } from "./core/prompt.ts";

export type { Incoming } from "./advance.ts";
export { begin } from "./begin.ts";

/** What other rooms do with an event. The engine knows none of them: the caller does, and each is loaded when it is due. */
export interface Capabilities {
  /** the quick path's first look, which costs nothing */
  mayBeShortcut(prompt: string): boolean;
  shortcuts(): Promise<{
    answerShortcut(incoming: Incoming, pointer: Pointer | null, atRun: () => Reply | null): Promise<Reply | null>;
  }>;
  marker(): Promise<{ beginByMarker(incoming: Incoming): Promise<BeginResult | null> }>;
  formal(): Promise<{ discover(incoming: Incoming, root: string): Promise<number> }>;
  guard(): Promise<{
    beginGuard(incoming: Incoming): Promise<BeginResult | null>;
    noteStart(incoming: Incoming): Promise<void>;
  }>;
}

/** Which runs an event is about, and one reply for all of them. null: it is none of our business. */
export async function handleEvent(given: Incoming, capabilities: Capabilities): Promise<Reply | null> {
  const { event } = given;
  const pointer = readPointer(event.host, event.session);
  if (pointer?.off) return null;
  // A fork inherits nothing. Older clients announce it as a resume, with the id of its origin, which goes on living.
  if (event.kind === "start" && (event.source === "fork" || (event.source === "resume" && isFork()))) return null;
  const caller = identifyCaller(given, pointer);
  if ("refused" in caller) return refuseCaller(event, pointer, caller.refused);
  const incoming = { ...given, client: caller.client };
  const reply = await handleOwn(
    pointer ? withMark(await withoutForgery(incoming, pointer)) : incoming,
    pointer,
    capabilities,
  );
  const refused = pointer && canTell(event) ? takeRefused(event.host, event.session) : null;
  return refused === null ? reply : joinReplies([reply, answering({ turn: "none", person: refused })]);
}

/** What the person reads where they are. */
const canTell = ({ kind }: Event) => kind === "start" || kind === "prompt" || kind === "stop";

/** Recorded, told to the one who sent it, and told to the person at the session's own client with its next event. */
function refuseCaller(event: Event, pointer: Pointer | null, why: string): Reply | null {
  logError(pointer?.root ?? null, event.kind, `not obeyed: ${why}`);
  if (pointer === null) return null;
  const { host, session } = event;
  noteRefused(
    host,
    session,
    `Pawl: another process sent an event of this session (${event.kind}). It was not obeyed: ${why}.`,
  );
  const id = pointer.run || (pointer.formal?.[0] ?? "");
  const person = `Pawl: nothing that happens here moves run ${id}: ${why}. Close that client, or let go of it with \`pawl runs adopt ${id}\`.`;
  return canTell(event) ? answering({ turn: "none", person }) : null;
}

/** An event of the session's own client. */
async function handleOwn(
  incoming: Incoming,
  pointer: Pointer | null,
  capabilities: Capabilities,
): Promise<Reply | null> {
  const { event } = incoming;
  const found = isTurningPoint(event) ? await findFormal(incoming, pointer, capabilities) : null;
  const known = found ?? pointer;
  const atRun = () => (known === null || isOff(known.root) ? null : atWork(incoming, known));
  const typed = event.kind === "prompt" && !event.injected ? event.text : "";
  if (typed !== "" && (capabilities.mayBeShortcut(typed) || isHelp(typed))) {
    const { answerShortcut } = await capabilities.shortcuts();
    const reply = await answerShortcut(incoming, known, atRun);
    if (reply) return reply;
  }
  if (event.kind === "start" && guardIsOn()) await (await capabilities.guard()).noteStart(incoming);
  const reply = atRun();
  if (reply && !reply.open) return reply;
  if (event.kind === "start") return (event.source === "clear" && takeCleared(incoming)) || welcome(incoming, event);
  if (typed.trimStart().startsWith("/")) return joinReplies([reply, await beginByPrompt(incoming)]);
  if (event.kind === "stop" && pointer === null) return await unbound(incoming, event, capabilities);
  return reply;
}

/** A session without a run: a marker may mean that it should have one, a claim may not be true. */
async function unbound(incoming: Incoming, { host, session, message }: EventOf<"stop">, capabilities: Capabilities) {
  const { beginByMarker } = message.includes("WORKFLOW_STAGE:") ? await capabilities.marker() : { beginByMarker: null };
  const marked = (await beginByMarker?.(incoming)) ?? null;
  const begun = marked?.run ? marked : await (await capabilities.guard()).beginGuard(incoming);
  if (begun === null || begun.run === null) return joinReplies([marked?.reply ?? null, begun?.reply ?? null]);
  // The new run judges the very stop that began it.
  begun.reply.after();
  const pointer = readPointer(host, session);
  return joinReplies([answering(begun.reply.answer), pointer && atWork(incoming, pointer)]);
}

/** In a session with a run, a prompt that the person cannot have typed counts like any other injected text. */
async function withoutForgery(incoming: Incoming, pointer: Pointer): Promise<Incoming> {
  const { event } = incoming;
  if (event.kind !== "prompt" || event.injected) return incoming;
  const { forgedBy } = await import("../store/processes/person.ts");
  const why = forgedBy(incoming.client ?? {}, isApproval(event.text));
  if (why === null) return incoming;
  logError(pointer.root, "prompt", `not taken for the person's own: ${why}`);
  return { ...incoming, event: { ...event, injected: true } };
}

/** What the next conversation of the same process is known by. */
function withMark(incoming: Incoming): Incoming {
  const { event, client = {} } = incoming;
  return event.kind === "ended" ? { ...incoming, event: { ...event, client: clientMark(client) } } : incoming;
}

/** The conversation is about to be lost, or has been: the time to look for workflows that no one registered. */
const isTurningPoint = (event: Event) =>
  event.kind === "compacting" || (event.kind === "start" && (event.source === "compact" || event.source === "resume"));

/** A failure here must not hold up a compaction, nor keep back what is known. */
async function findFormal(
  incoming: Incoming,
  pointer: Pointer | null,
  capabilities: Capabilities,
): Promise<Pointer | null> {
  const { event, cwd } = incoming;
  let root: string | null = pointer?.root ?? null;
  try {
    root ??= cwd === null ? null : findRoot(cwd);
    if (root === null || event.session === "" || root === homeDir() || isOff(root)) return null;
    const { discover } = await capabilities.formal();
    return (await discover(incoming, root)) > 0 ? readPointer(event.host, event.session) : null;
  } catch (error) {
    logError(root, "discover", error);
    return null;
  }
}

/** null: no run of this session has dealt with the event. */
function atWork(incoming: Incoming, given: Pointer): Reply | null {
  const { event } = incoming;
  const offered = given.offer ? failSafe(given.root, () => bindOffered(incoming, given)) : null;
  if (offered) return offered;
  const pointer = given.offer ? (readPointer(event.host, event.session) ?? given) : given;
  const { root, formal = [] } = pointer;
  const remembered = formal.map((run) =>
    failSafe(root, () => (isStale(root, run, event) ? staleReply(run, event) : withRun(incoming, { ...pointer, run }))),
  );
  const moved = pointer.run === "" ? null : failSafe(root, () => withRun(incoming, pointer));
  if (formal.length === 0) return moved;
  const reply = joinReplies([...remembered, moved]);
  return moved || event.kind !== "prompt" ? reply : { ...reply, open: true };
}

/** Idle for a week: the person may want it back, the agent does not get it unasked. */
function isStale(root: string, id: string, event: Event): boolean {
  if (event.kind !== "prompt" && !(event.kind === "start" && event.source === "resume")) return false;
  const run = loadRun(root, id)?.commit.run;
  return run !== undefined && Date.parse(event.at) - Date.parse(run.updated_at) > STALE_MS;
}

function staleReply(id: string, event: Event): Reply | null {
  if (event.kind !== "start") return null;
  const person = `Pawl: the formal workflow ${id} was idle for over a week, so it was not resumed. \`pawl runs restore ${id}\` shows it, \`pawl runs finish ${id}\` ends it.`;
  return answering({ turn: "none", person });
}

/** A fresh conversation: the person hears once what is on, and what waits for someone. The agent hears nothing. */
function welcome({ cwd }: Incoming, event: EventOf<"start">): Reply | null {
  const { source } = event;
  if ((source !== "startup" && source !== "clear") || cwd === null || lookAt(cwd) === undefined) return null;
  try {
    const person = startLines(findRoot(cwd), event);
    return person === "" ? null : answering({ turn: "none", person });
  } catch (error) {
    logError(null, "welcome", error);
    return null;
  }
}

/** A failure of ours ends the turn, never the work: it is logged, and the person of the session hears of it. */
function failSafe(root: string, work: () => Reply | null): Reply | null {
  try {
    return work();
  } catch (error) {
    logError(root, "hook", error);
    const why = error instanceof Error ? error.message : String(error);
    const person = `Pawl hit an internal error (${why}). Nothing was decided; see .pawl/errors.log.`;
    return answering({ turn: "end", person });
  }
}

/** null: the session has no run (any more). It may have gone to another session, or ended with its document. */
function withRun(incoming: Incoming, pointer: Pointer): Reply | null {
  const { event } = incoming;
  const advanced = advanceRun(pointer.root, pointer.run, incoming, decide);
  if (!advanced) return event.kind === "stop" ? tellIfGone(event, pointer) : null;
  const { run, workflow, decision, reply } = advanced;
  if (!isOwner(run, event)) return null;
  if (!decision || !mayBeginAgain(decision.run, event, workflow)) return reply;
  reply.after();
  return null;
}

/** Removing the files of a run ends it, but not without a word. Said at a stop: at that time no run is about to begin. */
function tellIfGone({ host, session }: Event, { root, run }: Pointer): Reply | null {
  if (!isGone(root, run)) return null;
  const what = `the files of run ${run} were removed from ${root}/.pawl; nothing of it is checked any more`;
  logError(null, "hook", what);
  releasePointer(host, session, run);
  return answering({ turn: "end", person: `Pawl: ${what}. Type the command that began it to begin it again.` });
}

const isOwner = ({ owner }: Run, event: Event) => owner?.session === event.session && owner.host === event.host;

/** The old run ends silently, what was typed may begin a new one: a watch is over, or the document was removed. */
const mayBeginAgain = (run: Run, event: Event, workflow: Workflow) =>
  run.status === "ended" &&
  event.kind === "prompt" &&
  (workflow.watch !== undefined ? run.outcome === "aborted" : parseBeginning(event.text, workflow) !== null);

// ── Commands ────────────────────────────────────────────────────────────────

/** The CLI's door: the same decision, the same commit. null: the run does not exist any more. */
export function handleCommand(root: string, id: string, event: Event, how: { patient?: true } = {}): Answer | null {
  const advanced = advanceRun(root, id, { event, transcript: null, cwd: root, ...how }, decide);
  advanced?.reply.after();
  return advanced && (advanced.reply.answer ?? { turn: "none" });
}
