/**
 * The workflow file format, as data. The reader (read.ts) and the JSON Schema (json-schema.ts) both come from it:
 * what an editor underlines and what `pawl check` refuses is the same thing.
 */
import { LINE, NAME, type Rule } from "../rules.ts";
import { GATE } from "./gate.ts";
import type { Field, RecordShape, Shape } from "./shape.ts";
import { COMMANDS, INFERENCE, LABEL, TASKS } from "./task.ts";

const VERBS = ["to", "halt", "ask", "end", "show", "stay", "next"] as const;
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

export const SIGNAL: Rule = {
  pattern: "^[A-Z][A-Z0-9_]{1,63}$",
  what: "a signal name",
  hint: "use capital letters, digits and underscores, beginning with a letter, 2 to 64",
};
const FLAG: Rule = {
  pattern: "^[a-z][a-z0-9_]{0,47}$",
  what: "a front-matter key",
  hint: "use lower-case letters, digits and underscores, beginning with a letter, at most 48",
};
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
const FILLED: Rule = { pattern: "\\S", what: "a text", hint: "write something here, or leave the key out" };

const name: Shape = { kind: "text", rule: NAME };
const line: Shape = { kind: "text", rule: LINE };
const filePath: Shape = { kind: "text", rule: FILE_PATH };
const prompt: Shape = { kind: "text", rule: FILLED, role: "prompt" };
const template: Shape = { kind: "text", rule: FILLED, role: "template" };
const logLine: Shape = { kind: "text", rule: LINE, role: "template" };

const moveFields: Record<string, Field> = {
  to: { shape: name, about: "Go on to the stage with this id." },
  halt: { shape: line, about: "Stop and keep everything for a retry. The text begins the reason that is shown." },
  ask: { shape: name, about: "Put this question (a key of `asks`) to the person and wait." },
  end: {
    shape: { kind: "word", values: ["completed", "failed", "aborted"] },
    about: "End the run with this outcome.",
  },
  show: { shape: { kind: "word", values: ["report"] }, about: "Show the stage's report and go on waiting." },
  stay: { shape: { kind: "true" }, about: "The signal is known and moves nothing." },
  next: {
    shape: name,
    about: "The task is over: go to this stage with the next task of the tracker; without one the run ends.",
  },
  gates: {
    shape: { kind: "list", of: GATE, min: 1 },
    about: "Checks that Pawl makes itself before the move counts. All must pass.",
  },
  person: { shape: template, about: "What the person sees when this move is taken. A template." },
  log: {
    shape: { kind: "list", of: logLine, min: 1 },
    about: "Lines for the human log, in order. Templates. Default: the name of the signal.",
  },
};

const move: Shape = { kind: "record", id: "move", fields: moveFields, oneOf: VERBS };

const choice: Shape = {
  kind: "record",
  id: "choice",
  fields: {
    label: { shape: line, about: "How the choice is offered. Default: its name." },
    words: {
      shape: { kind: "list", of: { kind: "text", rule: ANSWER_WORD }, min: 1 },
      about: "What the person may type for it, besides its number. Default: its name.",
    },
    ...moveFields,
  },
  oneOf: VERBS,
};

const stage: Shape = {
  kind: "record",
  id: "stage",
  fields: {
    id: { shape: name, required: true, about: "The name that `to` and flags use." },
    title: { shape: line, about: "The name people see. Default: made from the id." },
    agent: { shape: name, about: "The sub-agent whose last message is this stage's report." },
    say: {
      shape: prompt,
      required: true,
      about: "What to tell the agent: text, or the path of a .md file beside the workflow. A template.",
    },
    on: {
      shape: { kind: "map", key: SIGNAL, of: move, min: 1 },
      about: "The signals that the agent may give in this stage, and where each one leads.",
    },
    done: { shape: line, about: "Said when the stage is over, before the next one's instruction." },
    infer: {
      shape: { kind: "map", key: SIGNAL, of: INFERENCE, min: 1 },
      about: "What tool calls may show instead of a signal. The gates of the signal still have to pass.",
    },
    stop: {
      shape: move,
      about: "What follows when the agent stops here without a signal; with gates: whenever it stops, it is checked.",
    },
  },
};

const ask: Shape = {
  kind: "record",
  id: "ask",
  fields: {
    reason: { shape: line, about: "Begins the reason of the block, to the letter. Default: made from the name." },
    text: {
      shape: prompt,
      required: true,
      about: "Tells the agent to put the question and stop: text, or the path of a .md file. A template.",
    },
    person: { shape: template, about: "What the person sees. A template. Default: the reason and the choices." },
    choices: {
      shape: { kind: "map", key: NAME, of: choice, min: 1 },
      required: true,
      about: "The answers the person can give, in the order in which they are numbered.",
    },
  },
};

const document: Shape = {
  kind: "record",
  fields: {
    format: {
      shape: { kind: "word", values: ["frontmatter", "json"] },
      required: true,
      about: "frontmatter: Markdown with a YAML head. json: phases, reading and reminders; only with `signals: none`.",
    },
    path: {
      shape: filePath,
      required: true,
      about: "Where it is kept, relative to the project. With json it must hold {slug} (the run's name) and {time}.",
    },
    flags: {
      shape: { kind: "map", key: FLAG, of: name, min: 0 },
      default: {},
      about: "Front-matter flags: which stage's completion each of them tells. Only with frontmatter.",
    },
  },
};

export const WORKFLOW: RecordShape = {
  kind: "record",
  fields: {
    name: { shape: name, required: true, about: "The workflow's name; its file is <name>.yaml." },
    title: { shape: line, about: "The name people see. Default: made from the name." },
    signals: {
      shape: { kind: "word", values: ["promise", "stage", "none"] },
      required: true,
      about:
        "How the agent claims: promise = <promise>X</promise>, stage = ::: WORKFLOW_STAGE: X :::, none = the stages follow one another by command.",
    },
    document: { shape: document, about: "The readable file that mirrors a run." },
    reading: {
      shape: { kind: "word", values: ["enforce", "remind", "off"] },
      about:
        "What happens if the required reading was not read after a restore: the agent is sent back once, the person is told, or nothing. Only with a json document, where leaving it out means enforce.",
    },
    log: { shape: filePath, about: "The human log, relative to the project." },
    arm: {
      shape: { kind: "list", of: { kind: "text", rule: ARM_WORD }, min: 0 },
      default: [],
      about: "What a person types to start it; /pawl:<word> means the same. The client must know it as a command.",
    },
    say: { shape: prompt, about: "Said to the agent before the first stage: text, or the path of a .md file." },
    person: { shape: template, about: "Said to the person when a run begins: what will happen. A template." },
    stages: {
      shape: { kind: "list", of: stage, min: 1 },
      required: true,
      about: "The steps. A run begins with the first one.",
    },
    asks: { shape: { kind: "map", key: NAME, of: ask, min: 0 }, default: {}, about: "Questions for the person." },
    anywhere: {
      shape: { kind: "map", key: SIGNAL, of: move, min: 0 },
      default: {},
      about: "Signals that mean the same in every stage.",
    },
    missing: {
      shape: { kind: "word", values: ["ask", "end"] },
      about: "A stop without a signal: ask the agent once per stage, or end the turn (default).",
    },
    tasks: { shape: TASKS, about: "It works through the tasks of a tracker." },
    watch: {
      shape: { kind: "word", values: ["true"] },
      about:
        '"true": it only looks at how a turn ends. What the `stop` gates of its stages ask for is there, or the agent is sent on with what is missing; any other prompt ends it.',
    },
    chains: {
      shape: { kind: "map", key: CHAIN, of: { kind: "list", of: name, min: 1 }, min: 1 },
      about: "Which stages belong to what was typed; the longest one that fits counts, else all of them.",
    },
    commands: { shape: COMMANDS, about: "What its texts name; pawl.yaml may say it otherwise." },
    fresh: {
      shape: { kind: "word", values: ["true", "false"] },
      about: '"true": each task begins in a fresh conversation, the person is asked for /clear. Default "false".',
    },
    sequences: {
      shape: { kind: "map", key: LABEL, of: { kind: "list", of: line, min: 1 }, min: 1 },
      about: "Other stages for tasks with a label, by id or title.",
    },
    limits: {
      shape: {
        kind: "record",
        fields: {
          idle: {
            shape: { kind: "integer", min: 1, max: DEFAULT_IDLE },
            default: DEFAULT_IDLE,
            about: "How often the agent is sent on without any progress before the run stalls.",
          },
          rounds: {
            shape: { kind: "integer", min: 1, max: 50 },
            default: DEFAULT_ROUNDS,
            about: "How often a stage's gates may send the agent back before the person has to look.",
          },
        },
      },
      about: "Bounds that make every loop end.",
    },
  },
};
