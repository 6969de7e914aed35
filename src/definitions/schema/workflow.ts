/** The workflow file format. */
import type { InferOutput } from "valibot";
import { GATE } from "./gate.ts";
import { COMMANDS, INFERENCE, LABEL, TASKS } from "./task.ts";
import {
  FILLED,
  flag,
  flagOr,
  integer,
  KEY,
  line,
  list,
  map,
  NAME,
  name,
  named,
  optional,
  type Rule,
  record,
  required,
  SIGNAL,
  text,
  word,
  yes,
} from "./words.ts";

export const PLACEHOLDERS = [
  "issues",
  "steps",
  "commit",
  "stage",
  "title",
  "report",
  "run",
  "choices",
  "signals",
  "plan",
  "command",
  "stages",
  "task",
  "task_title",
  "task_text",
  "show_task",
  "close_task",
  "label_task",
  "tests",
  "review",
] as const;
export const DEFAULT_IDLE = 6;
export const DEFAULT_ROUNDS = 6;
export const DEFAULT_LAPS = 5;

const FILE_PATH: Rule = {
  pattern:
    "^(?!/)(?!.*//)(?!(?:.*/)?\\.\\.?(?:/|$))(?!(?:.*/)?[.][gG][iI][tT](?:/|$))[^\\\\\\u0000-\\u001f:]*[^\\\\\\u0000-\\u001f:/]$",
  what: "a relative path inside the project",
  hint: 'no leading "/", no "." or ".." parts, no "\\" or ":", not inside .git',
};
const ARM_WORD: Rule = {
  pattern: "^/[a-z][a-z0-9:_-]{0,63}$",
  what: 'a word that starts with "/"',
  hint: 'after the "/" use lower-case letters, digits, "-", "_" or ":"',
};
const CHAIN: Rule = {
  pattern: "^/[a-z][a-z0-9:_-]{0,63}( [^\\s]{1,64}){0,4}$",
  what: 'words that begin with "/"',
  hint: 'such as "/handoff --commit"',
};
const ANSWER_WORD: Rule = {
  pattern: "^(?![0-9]+$)\\S{1,32}$",
  what: "a word to answer with",
  hint: "use one word of at most 32 characters; numbers already mean the choices in order",
};

const filePath = text(FILE_PATH);
const filled = text(FILLED);

const VERBS = ["to", "halt", "ask", "end", "show", "stay", "next"];
const moveEntries = {
  to: optional(name, "Go on to the stage with this id."),
  halt: optional(line, "Stop and keep everything for a retry. The text begins the reason that is shown."),
  ask: optional(name, "Put this question (a key of `asks`) to the person and wait."),
  end: optional(word("completed", "failed", "aborted"), "End the run with this outcome."),
  show: optional(word("report"), "Show the stage's report and go on waiting."),
  stay: optional(yes, "The signal is known and moves nothing."),
  next: optional(
    name,
    "The task is over: go to this stage with the next task of the tracker; without one the run ends.",
  ),
  gates: optional(list(GATE), "Checks that Pawl makes itself before the move counts. All must pass."),
  person: optional(filled, "What the person sees when this move is taken. A template."),
  log: optional(list(line), "Lines for the human log, in order. Templates. Default: the name of the signal."),
};

const MOVE = record(moveEntries, { oneOf: VERBS });

const CHOICE = record(
  {
    label: optional(line, "How the choice is offered. Default: its name."),
    words: optional(
      list(text(ANSWER_WORD)),
      "What the person may type for it, in addition to its number. Default: its name.",
    ),
    ...moveEntries,
  },
  { oneOf: VERBS },
);

const STAGE = record({
  id: required(name, "The name that `to` and flags use."),
  title: optional(line, "The name people see. Default: made from the id."),
  agent: optional(name, "The sub-agent whose last message is this stage's report."),
  say: required(filled, "What to tell the agent: text, or the path of a .md file next to the workflow. A template."),
  on: optional(map(SIGNAL, MOVE), "The signals that the agent may give in this stage, and where each one leads."),
  done: optional(line, "Said when the stage is over, before the next one's instruction."),
  infer: optional(
    map(SIGNAL, INFERENCE),
    "What tool calls may show instead of a signal. The gates of the signal still have to pass.",
  ),
  stop: optional(
    named(() => MOVE),
    "What follows when the agent stops here without a signal; with gates: every stop is checked.",
  ),
});

const ASK = record({
  reason: optional(line, "Begins the reason of the block, to the letter. Default: made from the name."),
  text: required(filled, "Tells the agent to put the question and stop: text, or the path of a .md file. A template."),
  person: optional(filled, "What the person sees. A template. Default: the reason and the choices."),
  choices: required(map(NAME, CHOICE), "The answers the person can give, in the order in which they are numbered."),
});

const DOCUMENT = record({
  format: required(
    word("frontmatter", "json"),
    "frontmatter: Markdown with a YAML head. json: phases, reading and reminders; only with `signals: none`.",
  ),
  path: required(
    filePath,
    "Where it is kept, relative to the project. With json it must hold {slug} (the run's name) and {time}.",
  ),
  flags: optional(
    map({ ...KEY, what: "a front-matter key" }, name, 0),
    "Front-matter flags: which stage's completion each of them shows. Only with frontmatter.",
    {},
  ),
});

const LIMITS = record({
  idle: optional(
    integer(1, DEFAULT_IDLE),
    "How often the agent is sent on without any progress before the run stalls.",
    DEFAULT_IDLE,
  ),
  rounds: optional(
    integer(1, 50),
    "How often a stage's gates may send the agent back before the person has to look.",
    DEFAULT_ROUNDS,
  ),
  laps: optional(
    integer(1, 50),
    "How often a stage may be entered for one task; after that the run waits for the person.",
    DEFAULT_LAPS,
  ),
  wait: optional(integer(1, 600), "How many seconds a stop waits for gates that do not say it themselves.", 300),
});

export const WORKFLOW = record({
  name: required(name, "The workflow's name; its file is <name>.yaml."),
  title: optional(line, "The name people see. Default: made from the name."),
  signals: required(
    word("promise", "stage", "none"),
    "How the agent claims: promise = <promise>X</promise>, stage = ::: WORKFLOW_STAGE: X :::, none = the stages follow one another by command.",
  ),
  document: optional(DOCUMENT, "The readable file that mirrors a run."),
  reading: optional(
    word("enforce", "remind", "off"),
    "What happens if the required reading was not read after a restore: the agent is sent back once, the person is told, or nothing. Only with a json document, where leaving it out means enforce.",
  ),
  log: optional(filePath, "The human log, relative to the project."),
  arm: optional(
    list(text(ARM_WORD), 0),
    "What a person types to start it; /pawl:<word> means the same. The client must know it as a command.",
    [],
  ),
  say: optional(filled, "Said to the agent before the first stage: text, or the path of a .md file."),
  person: optional(filled, "Said to the person when a run begins: what will happen. A template."),
  stages: required(list(STAGE), "The steps. A run begins with the first one."),
  asks: optional(map(NAME, ASK, 0), "Questions for the person.", {}),
  anywhere: optional(map(SIGNAL, MOVE, 0), "Signals that mean the same in every stage.", {}),
  missing: optional(
    word("ask", "end"),
    "A stop without a signal: ask the agent once per stage, or end the turn (default).",
  ),
  tasks: optional(TASKS, "It works through the tasks of a tracker."),
  watch: optional(
    flagOr("done"),
    "It only looks at how a turn ends. What the `stop` gates of its stages ask for is there, or the agent is sent on with what is missing; any other prompt ends it. done: as the guard does it.",
  ),
  chains: optional(
    map(CHAIN, list(name)),
    "Which stages belong to what was typed; the longest one that fits counts, else all of them.",
  ),
  commands: optional(COMMANDS, "What its texts name; pawl.yaml may change it."),
  fresh: optional(flag, "Each task begins in a fresh conversation: the person is asked for /clear.", false),
  sequences: optional(map(LABEL, list(line)), "Other stages for tasks with a label, by id or title."),
  limits: optional(LIMITS, "Bounds that make every loop end."),
});

/** Shapes that have their own place in the JSON Schema and in the reference. */
export const WORKFLOW_PARTS = { gate: GATE, move: MOVE, choice: CHOICE, stage: STAGE, ask: ASK, inference: INFERENCE };

export type WorkflowFile = InferOutput<typeof WORKFLOW>;
