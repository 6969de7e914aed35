/** What a formal workflow remembers. Data only. */

import type { Json } from "./json.ts";

export type PhaseStatus = "not_started" | "in_progress" | "completed" | "blocked";

export interface Phase {
  current: number;
  total: number;
  name: string;
  status: PhaseStatus;
}

/** What an agent may write. */
export interface Content {
  phase: Phase;
  required_reading: string[];
  context: Record<string, Json>;
  key_reminders: string[];
  /** keys we do not know, kept as they are */
  extra: Record<string, Json>;
}

export interface Formal extends Content {
  name: string;
  type: string;
  /** the names of the phases, as far as they are known */
  phases: string[];
  /** what we meant the document to say, the newest last, each with its own time */
  bases: Base[];
  /** what the document said when an agent's change was last taken over: unchanged, it must not be taken over twice */
  seen?: Base;
  /** the newest of our writings that was read back: a later one may never have reached the disk */
  on_disk?: string;
  /** the notes or the plan that also hold it, and their text when last read */
  notes?: { path: string; content: Content /** it was found there: it ends with them */; found?: true };
  /** set by a restore until the reading was checked */
  restored?: { at: string /** entries that cannot be read: they are named, and not asked for */; absent: string[] };
}

export interface Base {
  stamp: string;
  content: Content;
}
