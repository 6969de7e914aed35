import type { Speak } from "../engine/advance.ts";
import { conduct } from "../engine/handle-event.ts";
import { clientVersion, parseEvent, renderAnswer } from "../hosts/claude/wire.ts";
import { detectHost } from "../hosts/detect.ts";
import type { Input } from "../kernel/types/input.ts";
import { write } from "../native/disk.ts";
import { notificationsOn } from "../notify/mark.ts";
import { logError } from "../store/errors.ts";
import { isMadeOf, LOWER } from "../store/names.ts";

interface Given {
  value: unknown;
  at: string;
  via: string;
  /** the quick path's first look */
  mayBeShortcut: (prompt: string) => boolean;
}

/** `pawl hook claude|auto`: JSON on stdin, JSON or nothing on stdout, exit 0, whatever happens. */
export async function hook(input: Input, args: string[], mayBeShortcut: Given["mayBeShortcut"]): Promise<void> {
  try {
    if ("failed" in input) throw new Error(input.failed);
    if (hostOf(args, input.value) !== "claude") return;
    const given = { value: input.value, at: new Date().toISOString(), via: viaOf(args), mayBeShortcut };
    if (notificationsOn()) await answerAndCall(given);
    else await answer(given);
  } catch (error) {
    logError(null, "hook", error);
  }
}

/** The person switched notifications on: what the host asks them goes to them too. */
async function answerAndCall(given: Given): Promise<void> {
  const { callOfHost, lookForSilence, send } = await import("../notify/call.ts");
  const call = callOfHost(given.value, given.at);
  const spoke = await answer(given, call?.alert);
  if (call?.alert && !spoke) speak(JSON.stringify({ terminalSequence: call.alert }));
  if (call) send(call);
  lookForSilence(Date.now());
}

/** false: nothing was said. `alert`: for the terminal, whatever else there is to say. */
async function answer({ value, at, via, mayBeShortcut }: Given, alert?: string): Promise<boolean> {
  const parsed = parseEvent(value, at, via);
  if ("ignored" in parsed) {
    if (parsed.ignored.startsWith("the payload")) logError(null, "hook", parsed.ignored);
    return false;
  }
  if (parsed.event.session === "") logError(null, "hook", `${parsed.name}: the payload has no usable session id`);
  const client = { version: clientVersion(process.env) };
  let spoke = false;
  const say: Speak = (answer, call) => {
    spoke = true;
    speak(renderAnswer(parsed.name, answer, client, call ?? alert));
  };
  await conduct(parsed, say, mayBeShortcut);
  return spoke;
}

/** As the hook's command says; `auto` looks at the payload. */
const hostOf = (args: string[], payload: unknown) =>
  args[0] === "auto" ? detectHost(payload, process.env) : (args[0] ?? "");

function viaOf(args: string[]): string {
  const at = args.indexOf("--via");
  const via = at >= 0 ? (args[at + 1] ?? "") : "";
  return via.length <= 16 && isMadeOf(via, LOWER) ? via : "unknown";
}

/** Said or not, the decision stands and is owed. A second attempt could only add to half an answer. */
function speak(text: string): void {
  try {
    writeAll(text);
  } catch (error) {
    logError(null, "stdout", error);
  }
}

/** In full, also into a pipe that is set to non-blocking; a closed one is the reader's choice. */
function writeAll(text: string): void {
  const bytes = new TextEncoder().encode(text);
  const deadline = Date.now() + 2_000;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += write(1, bytes, at, bytes.length - at);
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN" || Date.now() > deadline) throw error;
      Bun.sleepSync(1);
    }
  }
}
