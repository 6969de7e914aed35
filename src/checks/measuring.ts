/** What a kind of gate may ask the machine while it is measured. Types only: kinds stay pure. */
import type { Fact, FileState, Gate, GateFact, GateNeed, ToolCall } from "../kernel/types/run.ts";
import type { Tracked } from "../kernel/types/verdict.ts";
import type { Environment } from "../store/environment.ts";
import type { TreeChange } from "./tree/tree.ts";

export interface GateSources {
  root: string;
  /** "" without a run: then nothing is kept for later */
  run: string;
  host: string;
  session: string;
  /** no one waits for the answer: commands may take as long as they do */
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
  /** what commands run in */
  environment(): Environment;
  /** since the beginning of the run, up to this tree; default: the one at the beginning of the measuring */
  changes(tree?: string): Fact<TreeChange[]>;
  inspectFile(path: string): { state: FileState; size: number };
  readFile(path: string): Fact<string>;
  /** a file of this glob that is not empty and was made since then, "" if there is none */
  findMade(glob: string, since: string): Fact<string>;
  toolCalls(since: string): Fact<ToolCall[]>;
  /** reads tool calls; loaded when first asked for */
  readers(): Pick<typeof import("./evidence/infer.ts"), "failureIn" | "judgeReview"> &
    Pick<typeof import("./evidence/infer-task.ts"), "shows"> &
    Pick<typeof import("./evidence/infer-tests.ts"), "testState">;
  /** a file that was touched after that moment, "" if none was */
  changedAfter(ms: number, notes?: string): Fact<string>;
  /** the ids of ready tasks, and the one that this session has claimed */
  readyTasks(): Fact<{ ready: string[]; own: string | null }>;
  /** the run's task, as its tracker shows it */
  trackedTask(): Fact<Tracked>;
  runCommand(gate: Gate): Looked;
}

type WithoutTree<F> = F extends GateFact ? Omit<F, "tree"> : never;
/** What a command says. A fact without its tree is about the tree at the beginning of the measuring. */
export type Looked = { tree?: string } & Exclude<WithoutTree<GateFact>, { kind: "measured" }>;
