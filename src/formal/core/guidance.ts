import type { Formal } from "../../kernel/types/formal.ts";

const LIMIT = 9_500;
const NOTE = "\n… (cut to fit; the document has the rest)";

/** Needs no PATH, and is what the skill may run without asking. */
const PAWL = "~/.local/share/pawl/bin/pawl";

/** What the agent gets after compaction or resume, cut by priority: reminders and context go before the reading list. */
export function guidance(formal: Formal, run: string, source: string, notes: Record<string, string> = {}): string {
  const { phase } = formal;
  const name = inLine(formal.name);
  const head = [
    "⚠️ WORKFLOW RESTORED AFTER COMPACTION ⚠️",
    "",
    `Workflow: ${name}`,
    `Type: ${inLine(formal.type)}`,
    phaseLine(formal),
  ].join("\n");
  const entries = formal.required_reading.map((entry) => `${entry}${Object.hasOwn(notes, entry) ? notes[entry] : ""}`);
  const reading = section("REQUIRED READING (read ALL now with @ syntax):", entries);
  const action = [
    "ACTION REQUIRED:",
    "1. Read ALL required files listed above, with the Read tool",
    `2. Acknowledge with this line: ✅ Workflow restored: ${name}, Phase ${phase.current}/${phase.total}`,
    "3. Continue with this phase; do NOT proceed with assumptions",
    "",
    `Run ${run} (restored after ${source}). When the phase is over: \`${PAWL} runs phase next --run ${run}\`; all phases over: \`${PAWL} runs finish ${run}\`.`,
  ].join("\n");
  const reminders = section(
    "Key Reminders:",
    formal.key_reminders.map((reminder) => `- ${reminder}`),
  );
  const context = Object.keys(formal.context).length > 0 ? `Context:\n${JSON.stringify(formal.context, null, 2)}` : "";
  return fit([head, reading, reminders, context, action], [2, 3, 1]);
}

/** A text made before the phase changed would send the agent back. */
export const isOutdated = (text: string, formal: Formal) =>
  text.includes("\nPhase: ") && !text.includes(`\n${phaseLine(formal)}\n`);

const phaseLine = ({ phase }: Formal) =>
  `Phase: ${phase.current}/${phase.total} - ${inLine(phase.name)} (${phase.status})`;

const section = (title: string, lines: string[]) => (lines.length > 0 ? [title, ...lines].join("\n") : "");

/** A name is on a line of its own and must leave room for the rest. */
function inLine(name: string): string {
  const line = name.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed()}… (cut)` : line;
}

/** Cuts the parts named in `cuttable`, in that order, until the text fits, and says so. */
function fit(parts: string[], cuttable: number[]): string {
  const text = () => parts.filter((part) => part !== "").join("\n\n");
  for (const index of cuttable) {
    const over = text().length - LIMIT;
    if (over <= 0) break;
    if (parts[index] !== "") parts[index] = cut(parts[index]!, over);
  }
  return text();
}

/** Whole lines where they are short: half a path would name another file. */
function cut(part: string, over: number): string {
  const kept = part.slice(0, Math.max(part.indexOf("\n"), part.length - over - NOTE.length));
  const line = kept.lastIndexOf("\n");
  return (line > 0 && kept.length - line < 500 ? kept.slice(0, line) : kept).toWellFormed() + NOTE;
}

/** For the summarizer: what a summary must not lose. */
export function summaryText(formal: Formal, run: string): string {
  const { phase } = formal;
  const reading = formal.required_reading.slice(0, 20).map(inLine).join(" ");
  return `Keep in the summary: the formal workflow "${inLine(formal.name)}" (run ${run}) is at phase ${phase.current}/${phase.total} - ${inLine(phase.name)} (${phase.status}).${reading ? ` Required reading: ${reading}` : ""}`;
}

/** The guidance in short, for an agent that most likely has it already. */
export function reminder(formal: Formal, run: string): string {
  const { phase, required_reading } = formal;
  const where = `Phase ${phase.current}/${phase.total} - ${inLine(phase.name)} (${phase.status})`;
  const shown = required_reading.slice(0, 20).join(" ").slice(0, 2_000);
  const reading = shown === "" ? "" : ` REQUIRED READING: ${shown}`;
  return `WORKFLOW RESTORED: ${inLine(formal.name)}, ${where}.${reading}\nIf you did not get the whole guidance: \`${PAWL} runs restore ${run}\`.`;
}
