/** A few marked lines in an existing CLAUDE.md. None is ever made: a new one would hide AGENTS.md from the agent. */
const BEGIN = "<!-- pawl: begin (`pawl uninstall` removes this) -->";
const END = "<!-- pawl: end -->";

const LINES = [
  BEGIN,
  "## Pawl",
  "",
  "Pawl keeps this session on a workflow once the person types `/complete-work`. Its instructions begin with `[pawl]`.",
  "A step counts only when its signal, e.g. `<promise>REVIEW_COMPLETE</promise>`, stands alone on a line of your answer",
  "and what it claims is true: Pawl checks. `pawl runs` shows where a run stands.",
  "",
  "A formal workflow (phases, required reading) begins with `pawl runs start <type> --name … --phases … --reading @…`; say",
  "`pawl runs phase next` at each phase's end. After a compaction Pawl gives it back to you: acknowledge it with the line it",
  "asks for, read ALL required files, and do not go on from memory. The skill `workflow` tells more.",
  END,
];

export const CLAUDE_MD = ["CLAUDE.md", ".claude/CLAUDE.md"];

export function withBlock(text: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = LINES.join(eol);
  const found = rangeOf(text);
  if (found) return text.slice(0, found[0]) + block + text.slice(found[1]);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${block}${eol}`;
}

export function withoutBlock(text: string): string {
  const found = rangeOf(text);
  if (!found) return text;
  const head = text.slice(0, found[0]).replace(/(\r?\n)\r?\n$/, "$1");
  return head + text.slice(found[1]).replace(/^\r?\n/, "");
}

function rangeOf(text: string): [number, number] | null {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  return from < 0 || to < 0 ? null : [from, to + END.length];
}
