import { type Capabilities, handleEvent } from "../engine/handle-event.ts";
import { clientVersion, parseEvent, renderAnswer } from "../hosts/claude/wire.ts";
import { detectHost, isFromAnotherHost } from "../hosts/detect.ts";
import type { Input } from "../kernel/types/input.ts";
import { notificationsOn } from "../notify/mark.ts";
import { logError } from "../store/errors.ts";
import { isMadeOf, LOWER } from "../store/names.ts";
import { writeText } from "./shared/write.ts";

/** The rooms that take part in an event, each loaded only when it is due. */
const CAPABILITIES: Omit<Capabilities, "mayBeShortcut"> = {
  shortcuts: () => import("../controls/shortcuts.ts"),
  marker: () => import("../auto/marker.ts"),
  formal: () => import("../formal/discover.ts"),
  guard: () => import("../guard/guard.ts"),
};

/**
 * `pawl hook claude|auto`: JSON on stdin, JSON or nothing on stdout, exit 0, whatever happens. The event is saved first,
 * then answered, and only then does everything readable follow.
 */
export async function hook(input: Input, args: string[], mayBeShortcut: (prompt: string) => boolean): Promise<void> {
  try {
    if ("failed" in input) throw new Error(input.failed);
    const host = args[0] === "auto" ? detectHost(input.value, process.env) : args[0];
    if (host !== "claude" || isFromAnotherHost(input.value)) return;
    const at = new Date().toISOString();
    // The person switched notifications on: what the host asks them, and what a run came to, goes to them too.
    const notify = notificationsOn() ? await import("../notify/call.ts") : null;
    const hostCall = notify?.callOfHost(input.value, at) ?? null;
    const event = readEvent(input.value, at, parseVia(args));
    const reply = event && (await handleEvent(event, { ...CAPABILITIES, mayBeShortcut }));
    const calls = reply?.commits.flatMap(({ root, commit }) => notify?.callFor(root, commit) ?? []) ?? [];
    const alert = calls[0]?.alert ?? hostCall?.alert;
    if (reply?.answer) speak(renderAnswer(event!.name, reply.answer, { version: clientVersion(process.env) }, alert));
    else if (alert) speak(JSON.stringify({ terminalSequence: alert }));
    reply?.after();
    for (const call of hostCall ? [...calls, hostCall] : calls) notify?.send(call);
    notify?.lookForSilence(Date.now());
  } catch (error) {
    logError(null, "hook", error);
  }
}

/** null: not an event for us. */
function readEvent(value: unknown, at: string, via: string) {
  const parsed = parseEvent(value, at, via);
  if ("ignored" in parsed) {
    if (parsed.ignored.startsWith("the payload")) logError(null, "hook", parsed.ignored);
    return null;
  }
  if (parsed.event.session === "") logError(null, "hook", `${parsed.name}: the payload has no usable session id`);
  return parsed;
}

function parseVia(args: string[]): string {
  const at = args.indexOf("--via");
  const via = at >= 0 ? (args[at + 1] ?? "") : "";
  return via.length <= 16 && isMadeOf(via, LOWER) ? via : "unknown";
}

/** The decision holds and its instruction is pending, written or not. A second attempt could only add to half an answer. */
function speak(text: string): void {
  try {
    writeText(1, text, Date.now() + 2_000);
  } catch (error) {
    logError(null, "stdout", error);
  }
}
