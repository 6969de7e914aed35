/** Sends what lies ready, as one message. */
import { logError } from "../store/errors.ts";
import { byCommand, byDesktop } from "./channels.ts";
import { type Message, messageOf, type Notice } from "./notice.ts";
import { type NotifySettings, readSettings } from "./settings.ts";
import { silentRuns } from "./silence.ts";
import { put, takeAll, tidy } from "./spool.ts";
import { ringTerminals } from "./tty.ts";

/** `pawl notify --send`: started by a hook, which has long gone. Whoever takes the spool first sends for all. */
export async function sendSoon(): Promise<void> {
  const settings = readSettings();
  if ("errors" in settings) {
    const [{ file, line, message }] = settings.errors as [(typeof settings.errors)[0]];
    logError(null, "notify", `${file}:${line}: ${message}`);
    // By the time it is mended this is no news.
    takeAll();
    return;
  }
  if (!settings.on) {
    takeAll();
    return;
  }
  for (const notice of silentRuns(Date.now(), settings.silent)) put(notice);
  await Bun.sleep(settings.batch * 1000);
  const notices = takeAll();
  if (notices.length > 0) await sendNow(settings, messageOf(notices));
  tidy(Date.now());
}

/** What did not work is told by the log; `pawl notify --test` tells it to the person. */
export async function sendNow(settings: NotifySettings, message: Message): Promise<Record<string, string | null>> {
  if (settings.bell) ringTerminals(message.notices);
  const ways: Record<string, Promise<string | null>> = {
    ...(settings.desktop && { desktop: byDesktop(message) }),
    ...(settings.command && { command: byCommand(settings.command, message) }),
  };
  const ended = await Promise.all(Object.entries(ways).map(async ([name, way]) => [name, await way] as const));
  for (const [name, why] of ended) if (why !== null) logError(null, "notify", `${name}: ${why}`);
  return Object.fromEntries(ended);
}

/** For programs that run anyway: a loop at its end, and those that watch. */
export async function tell(notices: Notice[]): Promise<Message | null> {
  const settings = readSettings();
  if (notices.length === 0 || "errors" in settings || !settings.on) return null;
  const message = messageOf(notices);
  await sendNow(settings, message);
  return message;
}
