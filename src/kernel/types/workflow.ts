/** A workflow: compiled from YAML, pinned as JSON next to the run. */

export type SignalFamily = "promise" | "stage" | "none";
export type Outcome = "completed" | "failed" | "aborted" | "stalled" | "budget" | "infra";

/** Exactly one of to, halt, ask, end, show, stay, next. */
export interface Move {
  to?: string;
  /** stop and keep everything for a retry; the text begins the reason */
  halt?: string;
  ask?: string;
  end?: Outcome;
  show?: "report";
  /** known, and moves nothing */
  stay?: true;
  /** the task is over: go to this stage with the next one, or end if there is none */
  next?: string;
  gates?: Gate[];
  /** what the person sees when this move is taken (template) */
  person?: string;
  /** lines for the human log, in order (templates); default: the signal's name */
  log?: string[];
}

/** A check Pawl makes itself before a claim counts. Exactly one of the first group of keys says what is checked. */
export interface Gate {
  /** what people see; made from the check where none is given */
  name: string;
  /** sha256 of everything else: the same check has the same id */
  id: string;

  /** argv, no shell; exit 0 passes */
  run?: string[];
  /** a line for /bin/sh, said openly */
  shell?: string;
  /** the command that the person typed after the starting word */
  typed?: true;
  /** argv of a test runner: its own summary is read, exit 0 alone proves nothing */
  tests?: string[];
  git?: "clean" | "committed" | "committed-or-clean";
  /** the current branch matches one of these globs, and none that begins with "!" */
  branch?: string[];
  /** nothing changed outside these globs since the run began */
  only?: string[];
  /** this file is there and not empty */
  file?: string;
  /** made since the stage was entered, and not empty (glob) */
  artefact?: string;
  /** the agent's own tool calls show it */
  evidence?: "tests" | "review" | "task-read" | "failure";
  /** of the run's task; or: no task of the project is ready */
  tracker?: "closed" | "claimed" | "none-ready";
  /** the last message has a line that begins with one of these */
  says?: string[];
  /** a person has to approve; the text says what */
  person?: string;
  all?: Gate[];
  any?: Gate[];

  /** evidence: of this stage and all since; not asked of a run without that stage */
  from?: string;
  /** tests: at least this many have to pass (default 1) */
  min?: number;
  /** tests: at most this many may be skipped */
  max_skipped?: number;
  /** tests: fewer than before, or weakened ones, are let through */
  fewer?: "allow";
  weakened?: "allow";
  /** tests: what follows if tests of the beginning do not pass as they were (default: ask) */
  old_tests?: "ask" | "allow" | "fail";
  /** tests: exit 0 is enough where no summary can be read */
  proof?: "exit";
  /** tests: those that failed when this was first checked may fail until they have passed once */
  failing?: "known";
  /** file: it holds this text */
  contains?: string;
  /** relative to the root */
  cwd?: string;
  /** the check counts as passed while nothing here changed since the run began */
  when_changed?: string[];
  retries?: number;
  /** in seconds */
  timeout?: number;
  /** for this many seconds a stop is held up */
  wait?: number;
  env?: Record<string, string>;
  /** a patch, relative to the root, with which it has to fail */
  fault?: string;
}

/** What tool calls and reports may show instead of a signal. All that is named has to be so. */
export interface Inference {
  tests?: "pass";
  review?: "approved";
  closed?: "task";
  read?: "task";
  edited?: true;
  /** prose, only for what has no tool; negations are refused */
  says?: string[];
}

export interface Stage {
  id: string;
  title: string;
  /** said when it is over, before the next stage's instruction */
  done?: string;
  infer?: Record<string, Inference>;
  /** instruction for the agent (template, already read from its file) */
  say: string;
  /** the sub-agent whose last message is this stage's report */
  agent?: string;
  on: Record<string, Move>;
  /** what a stop without a signal means here */
  stop?: Move;
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
  limits: {
    idle: number;
    /** how often a stage's gates may send the agent back */
    rounds: number;
    /** how often a stage may be entered without the person */
    laps: number;
    /** how many seconds a stop waits for gates that do not say it themselves */
    wait?: number;
  };
  /** what a stop without a signal means, once nothing can be inferred: ask the agent once per stage, or end (default) */
  missing?: "ask";
  /** it works through tasks of a tracker, those with these labels */
  tasks?: TaskScope;
  /**
   * It only looks at how a turn ends; any other prompt ends it. chain: what its stages ask for has to be there
   * (`core/stop`). done: the definition of done has to hold (`core/done`).
   */
  watch?: "chain" | "done";
  /** which stages belong to what the person typed, the longest match counts; all for anything else */
  chains?: Record<string, string[]>;
  /** made from this procedure: the loop and the hooks of its sessions share the run */
  procedure?: string;
  /** each task begins in a fresh conversation: the person is asked for /clear */
  fresh?: true;
  /** other stages for tasks with a label */
  sequences?: Record<string, string[]>;
  /** what is named in its texts, and what a project may call it instead */
  commands?: { tests?: string; review?: string; reviewer?: string };
  /** what happens if the required reading was not read after a restore; only formal workflows have it */
  reading?: "enforce" | "remind" | "off";
}

export interface TaskScope {
  labels: string[];
  epic?: string;
  tracker?: "auto" | "beads" | "github" | "session-md";
  /** of session.md */
  path?: string;
  /** of GitHub */
  repo?: string;
}

export function stageOf(workflow: Workflow, id: string): Stage {
  const stage = workflow.stages.find((candidate) => candidate.id === id);
  if (!stage) throw new Error(`workflow ${workflow.name} has no stage ${id}`);
  return stage;
}

export const stepNumber = (workflow: Pick<Workflow, "stages">, id: string) =>
  workflow.stages.findIndex((s) => s.id === id) + 1;

export const isRegistered = (workflow: Workflow, signal: string): boolean => listSignals(workflow).includes(signal);

export const listSignals = ({ stages, anywhere }: Workflow): string[] =>
  [...stages.map(({ on }) => on), anywhere].flatMap(Object.keys);

export function gatesOf(workflow: Workflow): Gate[] {
  const stages = workflow.stages.flatMap((stage) => [...Object.values(stage.on), ...(stage.stop ? [stage.stop] : [])]);
  const choices = Object.values(workflow.asks).flatMap((ask) => Object.values(ask.choices));
  return [...stages, ...choices, ...Object.values(workflow.anywhere)].flatMap((move) => move.gates ?? []);
}

export const childrenOf = (gate: Gate): Gate[] => [...(gate.all ?? []), ...(gate.any ?? [])];

export const leavesOf = (gates: Gate[]): Gate[] =>
  gates.flatMap((gate) => (gate.all || gate.any ? leavesOf(childrenOf(gate)) : [gate]));
