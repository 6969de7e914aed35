/** The run of a session for its status line. */
import { type RunLine, runLine, runText, stageBar } from "../engine/core/run-line.ts";
import type { Run } from "../kernel/types/run.ts";
import { liveDir, readCommit, seqName, seqsIn } from "../store/commits.ts";
import { insideRoot, lookAt } from "../store/files.ts";
import { isOff, pointerPath, readPointer } from "../store/place.ts";
import { noteAbsence, noteCommit, noteFile, type Watch } from "./status-line-watch.ts";

export interface SessionRun {
  root: string;
  id: string;
  /** the same in more and in fewer words, the richest first */
  words: string[];
  /** when the words will be others by themselves, in milliseconds */
  until: number;
}

const MINUTE = 60_000;

/** null: none is at work in this session. */
export function sessionRun(session: string, now: number, watch: Watch): SessionRun | "off" | null {
  noteFile(watch, pointerPath("claude", session) ?? "", now);
  const pointer = readPointer("claude", session);
  if (pointer === null) return null;
  const { root } = pointer;
  const off = `${root}/.pawl/off`;
  noteFile(watch, off, now);
  // Looked for first: a file that is missed costs more than one that is not asked for.
  if (pointer.off || (lookAt(off) !== undefined && isOff(root))) return "off";
  for (const id of [pointer.run, ...(pointer.formal ?? [])]) {
    const run = id === "" ? null : newest(root, id, watch);
    if (run === null || run.status === "ended" || run.owner?.session !== session) continue;
    const entered = Date.parse(run.entered_at);
    const minutes = Math.max(0, Math.floor((now - entered) / MINUTE)) || 0;
    const words = wordsOf(runLine(run, { minutes, ownerGone: false, arm: "" }));
    return { root, id, words, until: entered + (minutes + 1) * MINUTE };
  }
  return null;
}

/**
 * Only looked at: what is broken is put aside by the next hook. A commit never changes, and each has the number after the
 * last one's: as long as it is there and the next is not, the run is as it was.
 */
function newest(root: string, id: string, watch: Watch): Run | null {
  const dir = insideRoot(root, liveDir(id));
  const seqs = seqsIn(dir) ?? [];
  const last = seqs.at(-1);
  if (last === undefined) noteAbsence(watch, dir);
  else noteCommit(watch, `${dir}/${seqName(last)}`, `${dir}/${seqName(last + 1)}`);
  for (let at = seqs.length - 1; at >= 0; at--) {
    const read = readCommit(dir, id, seqs[at]!);
    if (read.ok) return read.commit.run;
    watch.sure = false;
  }
  return null;
}

function wordsOf(line: RunLine): string[] {
  const { workflow, stage, step, steps, task, waits } = line;
  const full = runText(line);
  if (waits === null) return task === "" ? [full] : [`${full}  ${task}`];
  const { what, how } = waits;
  return [
    `${full}  ${what}: ${how}`,
    `${workflow}  ${stageBar(step, steps)}  ${stage}  ${what}: ${how}`,
    `${workflow}  ${stage}  ${what}: ${how}`,
    `${stage}  ${how}: ${what}`,
  ];
}
