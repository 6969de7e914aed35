/** What tool calls show where no signal was given, and the names a project uses for things. Data only. */

export interface Inferred {
  signal: string;
  /** in words what shows it */
  evidence: string;
}

export type Progress = "IN_PROGRESS" | "IN_TESTING" | "IN_ORACLE_REVIEW" | "UNKNOWN";

export interface ObservedStage {
  inferred: Inferred | null;
  progress: Progress;
  /** how many tools were used */
  tools: number;
}

/** What the project calls otherwise: the file of its tasks, its reviewers. */
export interface Names {
  notes?: string;
  reviewers?: string[];
}
