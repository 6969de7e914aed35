/** Counts turns by project and verdict, and keeps the worst examples. Bounded, however many turns there are. */

import { messageOf } from "../../store/files.ts";
import type { TurnVerdict, Weight } from "../core/turns.ts";
import { findTranscripts, type HistoryRequest, type Transcript, type UnreadFile } from "./find.ts";
import { type Pause, readAgent, readTurns, type Turn } from "./turns.ts";

export type Counts = Record<TurnVerdict, number>;

export interface Example {
  at: string;
  project: string;
  verdict: TurnVerdict;
  claim: string;
  why: string;
}

export interface History {
  folder: string;
  there: boolean;
  since: string | null;
  sessions: number;
  bytes: number;
  total: Counts;
  projects: { project: string; counts: Counts }[];
  /** the worst first, of the same kind the newest first */
  examples: Example[];
  unread: UnreadFile[];
}

export interface Watch {
  /** after each piece that was read; may throw to end it */
  progress(done: number, all: number): void;
}

const WORST: TurnVerdict[] = ["failed", "stale", "never"];
const MOST_EXAMPLES = 5;
const MOST_KEYS = 2_000_000;
const noCounts = (): Counts => ({ verified: 0, stale: 0, failed: 0, never: 0 });

interface Counting {
  projects: Map<string, Counts>;
  examples: Record<TurnVerdict, Example[]>;
  seen: Set<string>;
}

export async function readHistory(folder: string, wanted: HistoryRequest, watch: Watch): Promise<History> {
  const found = findTranscripts(folder, wanted);
  const unread = [...found.unread];
  const counting: Counting = {
    projects: new Map(),
    examples: { verified: [], failed: [], stale: [], never: [] },
    seen: new Set(),
  };
  const all = found.transcripts.reduce((sum, one) => sum + one.size + sumSizes(one.agents), 0);
  let bytes = 0;
  const pause = async (read: number) => {
    bytes += read;
    watch.progress(bytes, all);
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (const transcript of found.transcripts)
    await readSession(transcript, (turn) => count(counting, turn, wanted), pause, unread);
  const projects = [...counting.projects].map(([project, counts]) => ({ project, counts }));
  return {
    folder,
    there: found.there,
    since: wanted.since === null ? null : new Date(wanted.since).toISOString(),
    sessions: found.transcripts.length,
    bytes,
    total: sumCounts(projects.map(({ counts }) => counts)),
    projects: projects.sort((a, b) => countTurns(b.counts) - countTurns(a.counts) || (a.project < b.project ? -1 : 1)),
    examples: WORST.flatMap((verdict) => counting.examples[verdict]).slice(0, MOST_EXAMPLES),
    unread,
  };
}

const sumSizes = (files: { size: number }[]) => files.reduce((sum, { size }) => sum + size, 0);

/** The sub-agents first: what they did belongs to the turns of the session. */
async function readSession(
  { path, agents }: Transcript,
  emit: (turn: Turn) => void,
  pause: Pause,
  unread: UnreadFile[],
): Promise<void> {
  const weights: Weight[] = [];
  for (const agent of agents)
    await readOr(agent.path, pause, unread, async (guarded) => {
      weights.push(...(await readAgent(agent.path, guarded)));
    });
  await readOr(path, pause, unread, (guarded) => readTurns(path, weights, emit, guarded));
}

/** A file that cannot be read is listed, and the others are read. */
async function readOr(path: string, pause: Pause, unread: UnreadFile[], read: (pause: Pause) => Promise<void>) {
  let interrupted: unknown = null;
  const guarded: Pause = (bytes) =>
    pause(bytes).catch((error) => {
      interrupted = error;
      throw error;
    });
  try {
    await read(guarded);
  } catch (error) {
    if (interrupted !== null) throw interrupted;
    unread.push({ path, why: messageOf(error) });
  }
}

function count(counting: Counting, turn: Turn, { since, project }: HistoryRequest): void {
  if (since !== null && !(Date.parse(turn.at) >= since)) return;
  if (project !== null && turn.cwd !== project && !turn.cwd.startsWith(`${project}/`)) return;
  if (counting.seen.has(turn.key)) return;
  if (counting.seen.size < MOST_KEYS) counting.seen.add(turn.key);
  const name = turn.cwd === "" ? "(unknown)" : turn.cwd;
  const counts = counting.projects.get(name) ?? noCounts();
  counting.projects.set(name, counts);
  const { verdict, why } = turn.judged;
  counts[verdict] += 1;
  const example = { at: turn.at, project: name, verdict, claim: firstWords(turn.claim), why: shortened(why, turn.cwd) };
  const list = counting.examples[verdict];
  list.push(example);
  list.sort((a, b) => (a.at < b.at ? 1 : -1));
  list.length = Math.min(list.length, MOST_EXAMPLES);
}

const firstWords = (claim: string) => claim.replace(/\s+/g, " ").trim().slice(0, 100);
const shortened = (why: string, cwd: string) => (cwd === "" ? why : why.replaceAll(`${cwd}/`, "")).slice(0, 300);

function sumCounts(list: Counts[]): Counts {
  const sum = noCounts();
  for (const counts of list) for (const verdict of Object.keys(sum) as TurnVerdict[]) sum[verdict] += counts[verdict];
  return sum;
}

export const countTurns = (counts: Counts) => counts.verified + counts.stale + counts.failed + counts.never;
