/** One run in one line: its stages as a bar, how far it is, and what it waits for. Also for the status line, so it loads little. */
import { plain } from "../../kernel/text/safe-text.ts";
import type { Run } from "../../kernel/types/run.ts";

export interface Waiting {
  /** what is the matter */
  what: string;
  /** what resolves it */
  how: string;
}

export interface RunLine {
  id: string;
  workflow: string;
  /** the session that has it; null: nobody's */
  session: string | null;
  stage: string;
  step: number;
  steps: number;
  /** since the stage was entered */
  minutes: number;
  /** its task; "" where it has none */
  task: string;
  /** the person is busy with something else */
  paused: boolean;
  waits: Waiting | null;
}

/** What the run itself does not know. */
export interface RunPlace {
  minutes: number;
  /** its session is known to be over */
  ownerGone: boolean;
  /** what is typed to take it up again */
  arm: string;
}

export function runLine(run: Run, place: RunPlace): RunLine {
  const { formal } = run;
  return {
    id: run.id,
    workflow: short(run.workflow, 40),
    session: run.owner?.session ?? null,
    stage: formal ? short(formal.phase.name, 40) : short(run.stage, 40).toUpperCase(),
    step: formal ? formal.phase.current : run.plan.indexOf(run.stage) + 1,
    steps: formal ? formal.phase.total : run.plan.length,
    minutes: place.minutes,
    task: run.task ? short(run.task.title, MOST_SIGNS) : "",
    paused: run.paused !== undefined,
    waits: waitsFor(run, place),
  };
}

function waitsFor(run: Run, { ownerGone, arm }: RunPlace): Waiting | null {
  const why = short(run.why ?? "", MOST_SIGNS);
  if (run.claim?.open === "person")
    return { what: `your approval is needed (${why})`, how: `\`pawl approve ${run.id}\`` };
  if (run.question) return { what: "your decision is needed", how: "answer in its session" };
  if (run.status === "halted") return { what: `stopped (${why})`, how: `\`${resumeCommand(run)}\`` };
  if (run.paused?.firm) return { what: "paused by command", how: `\`pawl runs resume ${run.id}\`` };
  if (run.owner === null || ownerGone) return { what: "no session has it", how: `type ${arm} in one` };
  return null;
}

/** What the person has not seen yet must be looked at before it is run. */
function resumeCommand({ id, why = "" }: Run): string {
  return `pawl runs resume ${why.startsWith("its workflow was changed") ? "--accept " : ""}${id}`;
}

/** More stages than this are no picture any more. */
const LONGEST_BAR = 12;

export function stageBar(step: number, steps: number): string {
  if (steps > LONGEST_BAR || steps < 1) return "";
  let bar = "";
  for (let at = 1; at <= steps; at++) bar += `${at > 1 ? " " : ""}${at < step ? "●" : at === step ? "◉" : "○"}`;
  return bar;
}

export function runText({ workflow, stage, step, steps, minutes, paused }: RunLine): string {
  const bar = stageBar(step, steps);
  const state = paused ? ", paused" : "";
  return `${workflow}  ${bar}${bar === "" ? "" : "  "}${stage}  ${step} of ${steps}, ${spanText(minutes)}${state}`;
}

export function spanText(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

export const MOST_SIGNS = 100;

/** Texts of others on one line: nothing hidden in them, and not too long. */
export function short(text: string, most: number): string {
  if (isSimple(text, most)) return text;
  const line = plain(text.slice(0, most * 20))
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= most) return line;
  const signs = [...line];
  return signs.length <= most ? line : `${signs.slice(0, most - 1).join("")}…`;
}

/** Most names are, and the first use of a regular expression costs more than all their letters. */
function isSimple(text: string, most: number): boolean {
  if (text.length > most || text.includes("  ") || text.startsWith(" ") || text.endsWith(" ")) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 32 || text.charCodeAt(at) > 126) return false;
  return true;
}
