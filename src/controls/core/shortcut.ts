/**
 * What a few keys mean: the one table from which the hook, the help and the fragment for agents come. Which shortcut a
 * prompt is, what it expands to, and what a project or a person made of the table.
 */
import { safeText } from "../../kernel/text/safe-text.ts";

export interface Shortcut {
  /** the whole message; with a colon at its end a directive, which begins one */
  key: string;
  /** the text in the brackets */
  name: string;
  /** what follows the bracket: an order, and its bounds */
  text: string;
  /** a few words for people */
  means: string;
  /** off until the person turns it on */
  optional?: true;
  /** what the hook finds out or does itself */
  does?: "status" | "execute" | "resume" | "record" | "help";
  /** what has to follow, in order: "work", "handoff", "commit", "status" */
  tail?: string[];
}

/** Those of `x` and `d:` are an interface: to the letter. */
export const SHORTCUTS: readonly Shortcut[] = [
  {
    key: "s",
    name: "#status",
    text: "Status only: show the STATUS that follows, up to [end], verbatim, as your whole answer. Use no tools, start no task, then wait for the user.",
    means: "show the tasks, start nothing, wait",
    does: "status",
  },
  {
    key: "x",
    name: "#execute",
    text: "Smart execute: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then stop.",
    means: "execute: resume the task in progress, or start the first pending one",
    does: "execute",
  },
  {
    key: "xc",
    name: "#execute --commit",
    text: "Smart execute, then commit: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then hand off (update session.md), then commit (do not push), then show STATUS once and stop. Take no second task.",
    means: "execute, then hand off, commit and show the tasks",
    does: "execute",
    tail: ["work", "handoff", "commit", "status"],
  },
  {
    key: "r",
    name: "#resume",
    text: 'Strict resume: continue the in-progress task only. If there is none, say "Nothing in progress" and stop. Never start a pending task. Drive to completion, then stop.',
    means: "resume the task in progress, never start another",
    does: "resume",
  },
  {
    key: "h",
    name: "/handoff",
    text: "Handoff: update session.md so that a new session can go on from it alone. Keep the lines of unfinished tasks as they are. Do not commit, start no task. Then show STATUS once and stop.",
    means: "hand off: bring session.md up to date",
    tail: ["handoff", "status"],
  },
  {
    key: "hc",
    name: "/handoff --commit",
    text: "Handoff, then commit: update session.md so that a new session can go on from it alone, show no STATUS yet, then commit the work together with it. Start no task, do not push. Then show STATUS once and stop.",
    means: "hand off, then commit",
    tail: ["handoff", "commit", "status"],
  },
  {
    key: "ci",
    name: "/commit",
    text: "Commit: commit what was done, with a message that says what changed and why. Change nothing else, start no task, do not push. Then show STATUS once and stop.",
    means: "commit what was done",
    tail: ["commit", "status"],
  },
  {
    key: "?",
    name: "#help",
    text: "Help: show the list that follows, up to [end], verbatim, as your whole answer. Use no tools, start no task, then wait for the user.",
    means: "list the shortcuts",
    does: "help",
  },
  {
    key: "c",
    name: "#continue",
    text: "Continue: go on with what you were doing, from where it was left. Begin nothing new. If nothing was left unfinished, say so and stop.",
    means: "continue what was interrupted",
    optional: true,
  },
  {
    key: "y",
    name: "#yes",
    text: "Yes: proceed with what you proposed last, exactly that and nothing more. If you proposed nothing, or several things, ask which one is meant.",
    means: "yes: do what you proposed",
    optional: true,
  },
  {
    key: "d:",
    name: "DISCUSS",
    text: "Discussion mode. Analyze and discuss only — do not execute, implement, or invoke workflow skills. The user's topic follows in their message.",
    means: "discuss only: nothing is executed or changed",
  },
  {
    key: "p:",
    name: "PENDING",
    text: "Record a pending task — do not execute, plan, or start it. Pawl writes the task down itself and says below what it wrote: do not write it again. Report that line, then wait for the user. The task is in their message.",
    means: "note a task for later: it is not started",
    does: "record",
  },
  {
    key: "b:",
    name: "BRAINSTORM",
    text: "Brainstorm mode. Offer several ideas that really differ, each with what speaks for and against it — do not choose, execute, or implement. The user's topic follows in their message.",
    means: "brainstorm: ideas, no decision",
    optional: true,
  },
  {
    key: "q:",
    name: "QUESTION",
    text: "Question mode. Answer the question and nothing else — read what you need, but do not edit, execute, or begin a task. The user's question follows in their message.",
    means: "answer a question: nothing is changed",
    optional: true,
  },
  {
    key: "learn:",
    name: "LEARN",
    text: "Record a learning. Add it to the project's memory, in CLAUDE.md or what it imports for this, as one short rule where similar ones stand — change no other file, do not act on it now. Report the line you wrote. The learning is in the user's message.",
    means: "note a learning in the project's memory",
    optional: true,
  },
];

const isDirective = ({ key }: Shortcut) => key.endsWith(":");

export function renderExpansion(shortcut: Shortcut): string {
  return `[${isDirective(shortcut) ? "DIRECTIVE" : "SHORTCUT"}: ${shortcut.name}] ${shortcut.text}`;
}

// ── Matching ────────────────────────────────────────────────────────────────

export function findShortcut(prompt: string, table: readonly Shortcut[]): { shortcut: Shortcut; rest: string } | null {
  const message = prompt.trim();
  const shortcut = table.find((one) =>
    isDirective(one) ? begins(message, one.key) && !isIndented(prompt) : message === one.key,
  );
  return shortcut ? { shortcut, rest: message.slice(shortcut.key.length).trim() } : null;
}

/** Trimmed, it does not end with the blank: so something follows. */
const begins = (message: string, key: string) => message.startsWith(key) && /^\s/.test(message.slice(key.length));

/** Pasted code, not a line that the person typed. */
function isIndented(prompt: string): boolean {
  const before = prompt.slice(0, prompt.length - prompt.trimStart().length);
  const indent = before.slice(before.lastIndexOf("\n") + 1);
  return indent.length >= 4 || indent.includes("\t");
}

// ── Overrides ───────────────────────────────────────────────────────────────

/** Key → "on", "off" or a text of one's own; or all of them off. */
export type Overrides = "off" | Record<string, string>;

/** Later layers win. Only what is on is left. */
export function withOverrides(table: readonly Shortcut[], layers: Overrides[]): Shortcut[] {
  const shipped = new Map(table.map((one) => [one.key, one]));
  const known = new Map(shipped);
  const on = new Set(table.filter(({ optional }) => !optional).map(({ key }) => key));
  for (const layer of layers) {
    if (layer === "off") on.clear();
    else for (const [key, value] of Object.entries(layer)) override(key, value);
  }
  return [...known.values()].filter(({ key }) => on.has(key));

  function override(key: string, value: string): void {
    if (value === "off") on.delete(key);
    else {
      // "on" is the shipped meaning, whatever a layer below made of the key.
      const chosen = value === "on" ? (shipped.get(key) ?? known.get(key)) : ownShortcut(key, value);
      if (chosen) known.set(key, chosen);
      on.add(key);
    }
  }
}

const LONGEST_MEANING = 60;

/** Nothing is resolved or watched for it: no one knows what it asks for. */
function ownShortcut(key: string, value: string): Shortcut {
  const text = safeText(value).trim();
  const line = text.split("\n", 1)[0]!;
  const means =
    line.length < text.length || line.length > LONGEST_MEANING ? `${line.slice(0, LONGEST_MEANING)}…` : line;
  return { key, name: key.endsWith(":") ? key.slice(0, -1).toUpperCase() : key, text, means };
}

// ── For people (`?`, `pawl help shortcuts`) ─────────────────────────────────

export function helpText(table: readonly Shortcut[]): string {
  const commands = table.filter((one) => !isDirective(one));
  const directives = table.filter(isDirective);
  if (table.length === 0) return "No shortcuts are on here.";
  const width = Math.max(...table.map(({ key }) => key.length));
  const rows = (some: readonly Shortcut[]) => some.map(({ key, means }) => `  ${key.padEnd(width)}  ${means}`);
  return [
    ...(commands.length > 0 ? ["Type one of these as your whole message:", ...rows(commands), ""] : []),
    ...(directives[0] ? [`Begin a message with one of these, as in "${directives[0].key} your text":`] : []),
    ...(directives[0] ? [...rows(directives), ""] : []),
    "Everything else is left alone: a capital letter, or d:x without the space, is not a shortcut.",
    "Change them under `shortcuts:` in ~/.config/pawl/config.yaml or pawl.yaml: `pawl help shortcuts` shows how.",
    "`pawl off shortcuts` turns them off in this project.",
  ].join("\n");
}

// ── For agents (the fragment execute-rule.md) ──────────────────────────────

const MODES: [mode: string, name: string, what: string][] = [
  ["STATUS (default)", "#status", "Show STATUS, start nothing, wait for instruction."],
  [
    "EXECUTE",
    "#execute",
    "Resume the task in progress, or else start the first pending one. Drive it to completion, then stop.",
  ],
  ["EXECUTE+COMMIT", "#execute --commit", "The same, then handoff → commit → STATUS."],
  ["RESUME", "#resume", "Continue the task in progress and no other. Then stop."],
];

const STATUS_LAYOUT = `\`\`\`
Next: <first pending task name>
  \`<command to start it>\`
  Model: <recommended model> | Restart: <yes/no>

Pending:
- <task 2 name> (<model if non-default>)
- <task 3 name>
- ...
\`\`\``;

const AMBIGUOUS =
  'Ambiguous prompts ("next?", "what\'s next?", start-up) default to STATUS. Work begins only when it is asked for.';

export function fragmentText(table: readonly Shortcut[]): string {
  return `${[
    "# Session modes, STATUS and shortcuts",
    "<!-- Written by Pawl from its table of shortcuts. Do not edit. -->",
    "## Modes",
    markdownTable(
      ["Mode", "Asked for by", "What to do"],
      MODES.map(([mode, name, what]) => [mode, called(table, name), what]),
    ),
    AMBIGUOUS,
    "## STATUS",
    "Show what `~/.local/share/pawl/bin/pawl status` prints, verbatim. Where it cannot be run, read the pending tasks of session.md and use its layout:",
    STATUS_LAYOUT,
    'No session.md, or no pending tasks in it: "No pending tasks." A task without a model: sonnet. Without a restart field: no. Work that ends with handoff or commit ends with STATUS, exactly once, at the very end.',
    ...vocabulary(table),
    `## ${called(table, "#execute")} and ${called(table, "#resume")}`,
    matrix(table),
  ].join("\n\n")}\n`;
}

function vocabulary(table: readonly Shortcut[]): string[] {
  const rows = (some: readonly Shortcut[], after = "") =>
    some.map(({ key, name, means }) => [`\`${key}${after}\``, name, means]);
  return [
    "## Shortcuts",
    "Sent alone, a shortcut comes with its full meaning in `[SHORTCUT: …]` or `[DIRECTIVE: …]`: follow that text. Named in a sentence (“fix this, then hc”) it means the same. A letter in code, a quotation or a pasted text is none.",
    "Commands, as a whole message:",
    markdownTable(["Input", "Expansion", "Semantics"], rows(table.filter((one) => !isDirective(one)))),
    "Directives, at the start of a message:",
    markdownTable(["Input", "Expansion", "Semantics"], rows(table.filter(isDirective), " <text>")),
  ];
}

function matrix(table: readonly Shortcut[]): string {
  return markdownTable(
    ["State", called(table, "#execute"), called(table, "#resume")],
    [
      ["In-progress task exists", "Resume it", "Resume it"],
      ["No in-progress, pending exists", "Start first pending", 'Error: "Nothing in progress"'],
      ["No tasks at all", '"No pending tasks"', 'Error: "Nothing in progress"'],
    ],
  );
}

/** By its name, and by its key where that is on. */
function called(table: readonly Shortcut[], name: string): string {
  const key = table.find((one) => one.name === name)?.key;
  return key === undefined ? `\`${name}\`` : `\`${key}\` (\`${name}\`)`;
}

function markdownTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}
