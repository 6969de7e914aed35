/** The prompt of one iteration: the procedure's fragments, the state of the loop, what the person added. */
import { type Fragment, PHASES, type Phase, type Procedure } from "../../kernel/types/procedure.ts";

/** What the person gave with --context: a text, or the content of a file. */
export interface Context {
  text: string;
  /** the file it came from */
  source?: string;
}

/** The first line with words in it says what it is about; "": nothing was given. */
export function requestIn(context: Context[]): string {
  const lines = context.flatMap(({ text }) => text.split("\n", MOST_LINES));
  return (
    lines.map((line) => line.replace(/^[\s#>*-]*(?:title:)?/i, "").trim()).find((line) => /\p{L}{2}/u.test(line)) ?? ""
  );
}

const MOST_LINES = 40;
const LINE = "═".repeat(63);

const DESCRIPTIONS: Record<Phase, string> = {
  observe: "Look at what is there. Gather facts; do not judge or change anything yet.",
  orient: "Work out what the facts mean for the goal.",
  decide: "Choose what this iteration does, and whether anything blocks it.",
  act: "Do what you decided, check it, and end with the signal if one is due.",
};

/** `iteration` counts from 1; `max` null: unlimited; `notes`: what the last iteration left for this one. */
export function composePrompt(
  procedure: Procedure,
  at: { iteration: number; max: number | null },
  extra: { context: Context[]; notes: string[] },
): string {
  const lines = extra.notes.filter((note) => note.trim() !== "").map((note) => `- ${note.trim()}`);
  const told = PHASES.filter((phase) => joinFragments(procedure.phases[phase]) !== "");
  const sections = [
    banner("PAWL PROCEDURE EXECUTION"),
    `Procedure: ${procedure.name}\nIteration: ${at.iteration}${at.max === null ? " (unlimited)" : ` of ${at.max}`}`,
    role(procedure),
    signaling(procedure),
    ...contextSection(extra.context),
    ...(lines.length === 0 ? [] : [section("FROM THE LAST ITERATION", lines.join("\n"))]),
    ...told.flatMap((phase, index) => [
      banner(`PHASE ${index + 1}: ${phase.toUpperCase()}`, DESCRIPTIONS[phase]),
      joinFragments(procedure.phases[phase]),
    ]),
  ];
  return `${sections.join("\n\n")}\n`;
}

const banner = (...lines: string[]) => [LINE, ...lines, LINE].join("\n");

function role({ title }: Procedure): string {
  return [
    `You are the agent of one iteration of this procedure: ${title}.`,
    "Each iteration is a fresh process. Only files, commits and the task tracker carry over to the next one.",
    "No person is watching: do not ask questions, decide from what you find. Work through the phases below in order.",
  ].join("\n");
}

function signaling({ success, again, failure }: Procedure): string {
  return [
    "Success Signaling",
    "─────────────────",
    "A signal is exactly one of these two lines, alone on its line, in your final message:",
    "",
    "<promise>SUCCESS</promise>",
    "<promise>FAILURE</promise>",
    "",
    "Capital letters, no spaces, nothing else between the tags, not in a code block or a quotation.",
    "The explanation comes after the signal, never inside it.",
    "",
    `- SUCCESS: ${success}`,
    `- no signal: ${again} The next iteration continues.`,
    `- FAILURE: ${failure}`,
    "",
    "SUCCESS is about the goal of the procedure, not about this iteration. If you give both, FAILURE counts.",
  ].join("\n");
}

function contextSection(context: Context[]): string[] {
  const filled = context.filter(({ text }) => text.trim() !== "");
  if (filled.length === 0) return [];
  const entries = filled.map(({ text, source }) =>
    source === undefined ? text : `Source: ${source}\n\n${text.trim()}`,
  );
  return [section("CONTEXT", entries.map((entry) => entry.trim()).join("\n\n"))];
}

/** An agent may repeat what it was given. Other brackets keep that readable without making it a signal. */
function section(title: string, text: string): string {
  const safe = text.replace(/<([ \t]*\/?[ \t]*promise\b[^<>\n]{0,100})>/gi, "‹$1›");
  const hint = "(‹ and › replace the brackets of tags here. In your own signal write < and >.)";
  const told = /‹[^‹›\n]{0,120}promise/i.test(safe) ? [hint] : [];
  return [`=== ${title} ===`, safe, ...told].join("\n\n");
}

function joinFragments(fragments: Fragment[]): string {
  return fragments
    .map(({ text }) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}
