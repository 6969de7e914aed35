/** Sends everything that is ready as one message. */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { logError } from "../store/errors.ts";
import { readText } from "../store/files.ts";
import { type Pointer, readPointer } from "../store/place.ts";
import { asIdentity, processState } from "../store/processes/process.ts";
import { byCommand, byDesktop } from "./channels.ts";
import { buildMessage, type Message, type Notice } from "./notice.ts";
import { type NotifySettings, readSettings } from "./settings.ts";
import { silentRuns } from "./silence.ts";
import { put, takeAll, tidy } from "./spool.ts";

/** `pawl notify --send`, started by a hook that has ended by now. The first process to take the spool sends for all. */
export async function sendSoon(): Promise<void> {
  const settings = readSettings();
  if ("errors" in settings || !settings.on) {
    const problem = "errors" in settings && settings.errors[0];
    if (problem) logError(null, "notify", `${problem.file}:${problem.line}: ${problem.message}`);
    // By the time the config is fixed this is old news.
    takeAll();
    return;
  }
  for (const notice of silentRuns(Date.now(), settings.silent)) put(notice);
  await Bun.sleep(settings.batch * 1000);
  const notices = takeAll();
  if (notices.length > 0) await sendNow(settings, buildMessage(notices));
  tidy(Date.now());
}

/** Failures are logged; `pawl notify --test` shows them to the person. */
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

/** For programs that keep running, such as `pawl notify --watch`. */
export async function tell(notices: Notice[]): Promise<Message | null> {
  const settings = readSettings();
  if (notices.length === 0 || "errors" in settings || !settings.on) return null;
  const message = buildMessage(notices);
  await sendNow(settings, message);
  return message;
}

// ── The bell of a session's terminal, for what no hook can answer ──────────

const BELL = "\u0007";

/** Each terminal once, one byte: the client draws there, and anything longer would disturb it. */
function ringTerminals(notices: Notice[]): void {
  const sessions = new Set(notices.filter(({ unrung }) => unrung).map(({ session }) => session));
  const terminals = new Set([...sessions].map((session) => findTerminal(readPointer("claude", session))));
  for (const terminal of terminals) if (terminal !== null) ring(terminal);
}

/** null: perhaps not the process that the session began with, or it has no pseudo-terminal. */
function findTerminal(pointer: Pointer | null): string | null {
  const host = pointer && asIdentity({ ...pointer });
  if (process.platform !== "linux" || !host || processState(host) !== "there") return null;
  const stat = readText(`/proc/${host.pid}/stat`);
  // The second field is the program's name, which may hold spaces and brackets: count from its end.
  const device = stat.ok ? Number(stat.text.slice(stat.text.lastIndexOf(")") + 2).split(" ")[4]) : 0;
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  return major >= 136 && major <= 143 ? `/dev/pts/${(major - 136) * 256 + minor}` : null;
}

function ring(path: string): void {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    const fd = openSync(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const found = fstatSync(fd);
      if (found.isCharacterDevice() && found.uid === process.getuid?.()) writeSync(fd, BELL);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The terminal is gone or full.
  }
}
