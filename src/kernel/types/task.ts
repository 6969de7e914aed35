/** What a task is, wherever it lives. Data only. */

export type TaskState = "open" | "claimed" | "closed" | "blocked" | "dropped";

export interface Task {
  id: string;
  title: string;
  /** what the tracker holds: untrusted */
  text: string;
  state: TaskState;
  labels: string[];
  /** 0 (first) to 4; 2 where nothing is said */
  priority: number;
  /** whose it is; ours are `pawl-<session>` */
  owner: string | null;
  /** "" where the tracker does not know; `position` stands for it then */
  created_at: string;
  epic: string | null;
  /** tasks it waits for that are not known to be finished */
  blocked_by: string[];
  /** order in its file */
  position?: number;
  claimed_at?: string;
  /** the machine whose Pawl claimed it */
  claimed_on?: string;
  command?: string;
  model?: string;
  restart?: boolean;
}

/** No label: any task. A label that ends in `*` stands for all that begin so. */
export interface Scope {
  labels: string[];
  epic?: string;
}

/** In scope and not finished, but not to be had: somebody works on it, or it is blocked. */
export interface Leftover {
  id: string;
  state: "claimed" | "blocked";
  owner: string | null;
  waits_for: string[];
}

/** How sessions of ours are named in trackers. */
export const actorOf = (session: string) => `pawl-${session.replace(/[^A-Za-z0-9._-]/g, "").slice(0, 8)}`;
