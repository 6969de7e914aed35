/** A journal file from where it was read to, alone or by two threads. */
import { mergeDays } from "./days.ts";
import { openFold } from "./fold-lines.ts";
import { type Mate, type Part, startMate, type Team } from "./mate.ts";
import type { Project } from "./projects.ts";
import { lineEndAfter, type Place, readOn, takeLines } from "./read.ts";
import { openShelf } from "./shelf.ts";
import { dismissMate, type Step, type Work } from "./work.ts";

/** So that the mate never has to wait. */
const AHEAD = 2;

interface File {
  path: string;
  size: number;
}

export interface Reader {
  /** null: it is not the file that was read before. */
  read: (file: File, place: Place) => Place | null;
  flush: () => void;
}

export function openReader(work: Work, project: Project): Reader {
  const shelf = openShelf(work, project);
  const fold = openFold(work.scanner, work, shelf);
  const some = { ...fold, isEnough: () => isEnough(work.step) };
  const all = { ...fold, isEnough: () => false };

  /** false: a run was not as new as it looked. */
  const takePart = ({ events, skipped, rows, packed, ends, days, passed }: Part): boolean => {
    if (rows.some(({ id }) => fold.holds(id) || shelf.has(id))) return false;
    work.events += events;
    work.helped += events;
    work.skipped += skipped;
    mergeDays(work.step.days, days);
    for (const [n, row] of rows.entries()) shelf.keep(row, packed.subarray(ends[n - 1] ?? 0, ends[n]));
    takeLines(Buffer.from(passed.buffer, passed.byteOffset, passed.length), all);
    return true;
  };

  /** As far as it is worth it. */
  const readTogether = (mate: Mate, team: Team, file: File, from: Place): Place | null => {
    let place = from;
    for (;;) {
      if (work.team !== null) askAhead(mate, team, project.id, file, place);
      const asked = mate.asked[0];
      if (asked === undefined || (place !== from && isEnough(work.step))) return place;
      const own = readOn(file.path, place, all, asked.place.offset);
      const part = mate.answer();
      if (own === null) return null;
      if (part === null || own.offset !== asked.place.offset) {
        work.team = null;
        dismissMate(work);
        return own;
      }
      // If most of it comes back, as from one endless run, there is nothing to win.
      if (part.passed.length > team.mates / 2) work.team = null;
      if (!takePart(part)) {
        work.team = null;
        if (readOn(file.path, asked.place, all, asked.end.offset) === null) return null;
      }
      place = asked.end;
    }
  };

  const read = (file: File, from: Place): Place | null => {
    const { team } = work;
    const mate = team === null ? null : mateFor(work, team, file.size - from.offset);
    if (team === null || mate === null) return readOn(file.path, from, some);
    const place = orDismiss(work, () => readTogether(mate, team, file, from));
    const isCut = place === null || (place.offset > from.offset && isEnough(work.step));
    return isCut ? place : readOn(file.path, place, some);
  };
  return { read, flush: fold.flush };
}

/** null: not worth it, or there cannot be one more thread. */
function mateFor(work: Work, team: Team, left: number): Mate | null {
  if (work.mate !== null || left < team.long) return work.mate;
  try {
    work.mate = startMate(team);
  } catch {
    work.team = null;
  }
  return work.mate;
}

/** What it was asked for in another file, or for a place that others have come to, is in vain. */
function askAhead(mate: Mate, { own, mates }: Team, project: number, { path, size }: File, from: Place): void {
  const [first] = mate.asked;
  if (first !== undefined && (first.path !== path || first.from !== from.offset)) mate.forget();
  while (mate.asked.length < AHEAD) {
    const begin = mate.asked.at(-1)?.end ?? from;
    if (size - begin.offset < own + mates) return;
    const place = lineEndAfter(path, begin, begin.offset + own);
    const end = place && lineEndAfter(path, place, place.offset + mates);
    if (place === null || end === null) return;
    mate.ask({ project, path, from: begin.offset, place, end });
  }
}

function isEnough(step: Step): boolean {
  step.isCut ||= performance.now() >= step.until;
  return step.isCut;
}

/** It may not have been asked for its answers. */
function orDismiss(work: Work, read: () => Place | null): Place | null {
  let place: Place | null = null;
  try {
    place = read();
    return place;
  } finally {
    if (place === null) dismissMate(work);
  }
}
