/** The table of shortcuts for people (`?`, `pawl help shortcuts`) and for agents (the fragment execute-rule.md). */
import { isDirective, type Shortcut } from "./shortcut-table.ts";

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

// ── For agents ──────────────────────────────────────────────────────────────

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
