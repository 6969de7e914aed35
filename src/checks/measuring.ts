/** What the gates of one claim share while they are measured. */
import type { Fact, GateFact, GateNeed, ToolCall } from "../kernel/types/run.ts";
import type { TreeChange } from "./tree/tree.ts";

export interface GateSources {
  root: string;
  /** "" without a run: then nothing is kept for later */
  run: string;
  host: string;
  session: string;
  /** nobody waits for the answer: commands may take as long as they do */
  patient: boolean;
  tools: (since: string) => Fact<ToolCall[]>;
}

export interface Measuring {
  sources: GateSources;
  need: GateNeed;
  /** monotonic, in ms */
  began: number;
  tree: string;
  /** an earlier check goes on by itself: the next one waits its turn */
  busy: boolean;
  changes(): Fact<TreeChange[]>;
}

/** A fact without its tree is about the tree at the beginning of the measuring. */
type Untied<F> = F extends GateFact ? Omit<F, "tree"> & { tree?: string } : never;
export type Looked = Untied<GateFact>;
