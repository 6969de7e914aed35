/**
 * A few marked lines in an existing CLAUDE.md or AGENTS.md. None is ever made: a new CLAUDE.md would hide AGENTS.md from
 * the agent.
 */
export interface Block {
  begin: string;
  end: string;
  lines: string[];
}

export const ABOUT: Block = {
  begin: "<!-- pawl: begin (`pawl uninstall` removes this) -->",
  end: "<!-- pawl: end -->",
  lines: [
    "## Pawl",
    "",
    "Pawl keeps this session on a workflow once the person types `/complete-work`. Its instructions begin with `[pawl]`.",
    "A step counts only when its signal, e.g. `<promise>REVIEW_COMPLETE</promise>`, is alone on a line of your answer",
    "and what it claims is true: Pawl checks. `pawl runs` shows how far a run is.",
    "",
    "A formal workflow (phases, required reading) begins with `pawl runs start <type> --name … --phases … --reading @…`; say",
    "`pawl runs phase next` at each phase's end. After a compaction Pawl gives it back to you: acknowledge it with the line it",
    "asks for, read ALL required files, and do not go on from memory. The skill `workflow` tells more.",
  ],
};

/** The shortcuts in prose: imported, or where nothing can be imported, written out. */
export const shortcutsBlock = (text: string): Block => ({
  begin: "<!-- pawl shortcuts: begin (`pawl uninstall` removes this) -->",
  end: "<!-- pawl shortcuts: end -->",
  lines: text.replace(/\n$/, "").split("\n"),
});

export const CLAUDE_MD = ["CLAUDE.md", ".claude/CLAUDE.md"];

export function withBlock(text: string, { begin, end, lines }: Block): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = [begin, ...lines, end].join(eol);
  const found = rangeOf(text, begin, end);
  if (found) return text.slice(0, found[0]) + block + text.slice(found[1]);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${block}${eol}`;
}

export const withoutBlocks = (text: string) => withoutBlock(withoutBlock(text, shortcutsBlock("")), ABOUT);

function withoutBlock(text: string, { begin, end }: Block): string {
  const found = rangeOf(text, begin, end);
  if (!found) return text;
  const head = text.slice(0, found[0]).replace(/(\r?\n)\r?\n$/, "$1");
  return head + text.slice(found[1]).replace(/^\r?\n/, "");
}

/** What stands between the marks, whatever the line ends are; null: there is no such block. */
export function blockIn(text: string, { begin, end }: Block): string | null {
  const found = rangeOf(text, begin, end);
  if (!found) return null;
  const inner = text.slice(found[0] + begin.length, found[1] - end.length);
  return inner.replaceAll("\r\n", "\n").replace(/^\n/, "");
}

function rangeOf(text: string, begin: string, end: string): [number, number] | null {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  return from < 0 || to < 0 ? null : [from, to + end.length];
}
