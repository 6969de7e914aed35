/** A loop calls the person when it is over, and looks for silent runs while it is at work. */
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

/** Gives what ends the looking; neither keeps the program alive. */
export function watchBesides(): () => void {
  const timer = setInterval(() => notificationsOn() && lookForSilence(Date.now()), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Its own terminal, if it has one, and whatever else there is, later. Who interrupted it sits in front of it. */
export function callAfterLoop(root: string, { run, procedure, outcome, why }: Ended): void {
  const mark = readMark();
  if (!mark || outcome === "interrupted") return;
  const text = loopText(root, procedure, outcome ?? "unknown", why);
  const notice: Notice = { what: "loop", text, root, run, session: "", at: new Date().toISOString() };
  if (mark.bell && process.stderr.isTTY) process.stderr.write(alertOf(notice));
  send({ notice });
}
