/** A loop notifies the person when it ends, and looks for silent runs while it works. */
import { alertOf, lookForSilence, send } from "./call.ts";
import { notificationsOn, readMark } from "./mark.ts";
import { loopText, type Notice } from "./notice.ts";

interface Ended {
  run: string;
  procedure: string;
  outcome: string | null;
  why: string;
}

const LOOK_MS = 60_000;

/** Returns what stops it; the timer does not keep the program alive. */
export function watchBesides(): () => void {
  const timer = setInterval(() => notificationsOn() && lookForSilence(Date.now()), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Rings its own terminal at once; other channels follow. A person who interrupted it needs no notification. */
export function callAfterLoop(root: string, { run, procedure, outcome, why }: Ended): void {
  const mark = readMark();
  if (!mark || outcome === "interrupted") return;
  const text = loopText(root, procedure, outcome ?? "unknown", why);
  const notice: Notice = { what: "loop", text, root, run, session: "", at: new Date().toISOString() };
  if (mark.bell && process.stderr.isTTY) process.stderr.write(alertOf(notice));
  send({ notice });
}
