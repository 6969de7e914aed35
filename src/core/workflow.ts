/** A workflow: compiled from YAML, pinned as JSON beside the run. */

export type SignalFamily = "promise" | "stage" | "none";
export type Outcome = "completed" | "failed" | "aborted" | "stalled" | "budget" | "infra";

/** Exactly one of to, halt, ask, end, show, stay. */
export interface Move {
  to?: string;
  /** stop and keep everything for a retry; the text begins the reason */
  halt?: string;
  ask?: string;
  end?: Outcome;
  show?: "report";
  /** known, and moves nothing */
  stay?: true;
  gates?: Gate[];
  /** what the person sees when this move is taken (template) */
  person?: string;
  /** lines for the human log, in order (templates); default: the signal's name */
  log?: string[];
}

/** A check Pawl makes itself. More kinds come with the gates. */
export interface Gate {
  git: "committed-or-clean";
}

export interface Stage {
  id: string;
  title: string;
  /** instruction for the agent (template, already read from its file) */
  say: string;
  /** the sub-agent whose last message is this stage's report */
  agent?: string;
  on: Record<string, Move>;
}

export interface Choice extends Move {
  /** what the person may type, besides the number */
  words: string[];
  label: string;
}

export interface Ask {
  /** instruction for the agent: put it to the person and stop (template) */
  text: string;
  /** what the person sees (template) */
  person: string;
  /** begins the reason of the block, to the letter */
  reason: string;
  choices: Record<string, Choice>;
}

export interface DocumentSpec {
  /** json: of a formal workflow; its path is a template with {slug} and {time} */
  format: "frontmatter" | "json";
  path: string;
  /** front-matter flag → stage whose completion it tells */
  flags: Record<string, string>;
}

export interface Workflow {
  v: 1;
  name: string;
  title: string;
  /** where it came from: builtin, user or project path */
  source: string;
  signals: SignalFamily;
  document?: DocumentSpec;
  log?: string;
  arm: string[];
  /** said to the agent, before the first stage (template) */
  intro: string;
  /** said to the person when a run begins (template) */
  person?: string;
  stages: Stage[];
  asks: Record<string, Ask>;
  anywhere: Record<string, Move>;
  limits: { idle: number };
  /** what happens if the required reading was not read after a restore; only formal workflows have it */
  reading?: "enforce" | "remind" | "off";
}

export function stageOf(workflow: Workflow, id: string): Stage {
  const stage = workflow.stages.find((candidate) => candidate.id === id);
  if (!stage) throw new Error(`workflow ${workflow.name} has no stage ${id}`);
  return stage;
}

export const stepNumber = (workflow: Workflow, id: string) => workflow.stages.findIndex((s) => s.id === id) + 1;

export function isRegistered(workflow: Workflow, signal: string): boolean {
  return signal in workflow.anywhere || workflow.stages.some((stage) => signal in stage.on);
}
