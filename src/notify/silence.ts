/** Active runs without a sign of life. No process watches all the time; hooks, loops and the dashboard look. */
import { listTranscripts } from "../hosts/claude/folders.ts";
import { attempt } from "../kernel/attempt.ts";
import { stat } from "../native/disk.ts";
import { namesOrNone } from "../store/files.ts";
import { statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { isOff, readPointer } from "../store/place.ts";
import { loadRun } from "../store/runs.ts";
import { type Notice, silentText } from "./notice.ts";
import { firstToSay } from "./spool.ts";

/** After a day it is old news; `pawl runs` still lists it. */
const NO_NEWS_MS = 24 * 3_600_000;

export function silentRuns(now: number, minutes: number): Notice[] {
  if (minutes === 0) return [];
  return sessions().flatMap(({ host, session }) => {
    const pointer = readPointer(host, session);
    if (!pointer || pointer.off || pointer.run === "" || isOff(pointer.root)) return [];
    const run = loadRun(pointer.root, pointer.run)?.commit.run;
    if (run?.status !== "active" || run.paused || run.owner?.session !== session || run.owner.ended_at) return [];
    const last = Math.max(Date.parse(run.updated_at), lastWritten(session));
    const silent = now - last;
    if (silent < minutes * 60_000 || silent > NO_NEWS_MS) return [];
    if (!firstToSay(`silent ${pointer.root} ${run.id} ${last}`, now, NO_NEWS_MS)) return [];
    const text = silentText(pointer.root, run, Math.floor(silent / 60_000));
    const at = new Date(now).toISOString();
    return [{ what: "silent", text, root: pointer.root, run: run.id, session, at, unrung: true }];
  });
}

const sessions = () =>
  namesOrNone(statePath("sessions")).flatMap((name) => {
    const dash = name.indexOf("-");
    return dash > 0 ? [{ host: name.slice(0, dash), session: name.slice(dash + 1) }] : [];
  });

/** A working agent writes its transcript long before it stops, and so do its sub-agents. */
function lastWritten(session: string): number {
  const paths = listTranscripts(session).flatMap((own) => {
    const agents = join(own.slice(0, -".jsonl".length), "subagents");
    return [own, ...namesOrNone(agents).map((name) => join(agents, name))];
  });
  return Math.max(0, ...paths.map((path) => attempt(() => stat(path).mtimeMs, 0)));
}
