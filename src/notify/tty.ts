/** The bell of a session's terminal, for what no hook can say: the session is silent, or nobody's answer is awaited. */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { readText } from "../store/files.ts";
import { type Pointer, readPointer } from "../store/place.ts";
import { asIdentity, whereabouts } from "../store/processes/process.ts";
import type { Notice } from "./notice.ts";

const BELL = "\u0007";

/** Each terminal once. One byte: the client draws there, and nothing longer could come between without harm. */
export function ringTerminals(notices: Notice[]): void {
  const sessions = new Set(notices.filter(({ unrung }) => unrung).map(({ session }) => session));
  const terminals = new Set([...sessions].map((session) => terminalOf(readPointer("claude", session))));
  for (const terminal of terminals) if (terminal !== null) ring(terminal);
}

/** null: not surely the process that the session began with, or it has no pseudo-terminal. */
function terminalOf(pointer: Pointer | null): string | null {
  const host = pointer && asIdentity({ ...pointer });
  if (process.platform !== "linux" || !host || whereabouts(host) !== "there") return null;
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
    // A terminal that is gone or full hears nothing.
  }
}
