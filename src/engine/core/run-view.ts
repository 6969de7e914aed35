/**
 * One run as every surface shows it: where it is, what it waits for, what to type. Status, explain, report, dashboard,
 * notifications and the status line all render this view, so they cannot disagree. The status line loads it: keep it small.
 */
import { plain } from "../../kernel/text/safe-text.ts";
import type { Call, JournalRecord, Run, Workflow } from "../../kernel/types/run.ts";

/** `permission`: the client asks the person something. `clear`: the next task begins after /clear. `free`: no session has it. */
export type WaitKind = "approval" | "question" | "permission" | "halted" | "paused" | "clear" | "free";

export interface Waiting {
  kind: WaitKind;
  /** what is the matter */
  what: string;
  /** what resolves it; commands are in backticks */
  how: string;
  since: string;
}

export interface RunView {
  id: string;
  workflow: string;
  /** the session that has it; null: none */
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
  /** what the person has to do; null: nothing */
  waits: Waiting | null;
  /** its task, or what was asked for; null: only its workflow says what it is about */
  title: string | null;
  /** active, waiting, halted, paused, or how it ended */
  state: string;
  /** what happens now, where the run itself knows it; "" while the agent works */
  doing: string;
  /** an instruction that the agent has not received yet, and when it will; null: none */
  pending: string | null;
  /** when the claim was made that the person can approve; null: there is none */
  claimed: string | null;
}

/** What the run itself does not know. */
export interface RunContext {
  /** now */
  at: string;
  /** null: it cannot be read */
  workflow: Pick<Workflow, "arm" | "asks"> | null;
  /** its session is known to be over */
  ownerGone: boolean;
  /** what the client asks the person, if it is still open; the run only knows that it was asked */
  call?: Call | undefined;
  /** of its last commit */
  records?: JournalRecord[];
}

export function viewRun(run: Run, context: RunContext): RunView {
  const { formal } = run;
  return {
    id: run.id,
    workflow: short(run.workflow, 40),
    session: run.owner?.session ?? null,
    stage: formal ? stageOf(run) : stageOf(run).toUpperCase(),
    step: formal ? formal.phase.current : run.plan.indexOf(run.stage) + 1,
    steps: formal ? formal.phase.total : run.plan.length,
    minutes: minutesBetween(run.entered_at, context.at),
    task: run.task ? short(run.task.title, MOST_SIGNS) : "",
    paused: run.paused !== undefined,
    waits: run.status === "ended" ? null : waitsFor(run, context),
    title: titleOf(run),
    state: run.status === "ended" ? (run.outcome ?? "ended") : run.paused ? "paused" : run.status,
    doing: doingOf(run, context.records ?? []),
    pending: pendingOf(run, context),
    claimed: mayApprove(run) ? run.claim!.at : null,
  };
}

export const stageOf = ({ formal, stage }: Pick<Run, "formal" | "stage">, most = 40) =>
  short(formal?.phase.name ?? stage, most);

export const minutesBetween = (from: string, to: string) =>
  Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 60_000)) || 0;

function titleOf({ task, formal, request }: Run): string | null {
  return (task ? short(task.title, 200) || task.id : short(formal?.name ?? request ?? "", 200)) || null;
}

const armOf = ({ workflow }: Run, context: RunContext) => context.workflow?.arm[0] ?? `/${workflow}`;

// ── What it waits for ───────────────────────────────────────────────────────

function waitsFor(run: Run, context: RunContext): Waiting | null {
  const { id, claim, question, updated_at } = run;
  const why = short(run.why ?? "", MOST_SIGNS);
  if (claim?.open === "person")
    return {
      kind: "approval",
      what: `your approval is needed (${why})`,
      how: `\`pawl approve ${id}\``,
      since: claim.at,
    };
  if (question) return decision(run, why, context);
  if (run.status === "halted")
    return { kind: "halted", what: `stopped (${why})`, how: `\`${resumeCommand(run)}\``, since: updated_at };
  if (run.paused?.firm)
    return { kind: "paused", what: "paused by command", how: `\`pawl runs resume ${id}\``, since: updated_at };
  if (run.status === "waiting")
    return { kind: "clear", what: why, how: "type /clear in its session", since: updated_at };
  if (run.owner === null || context.ownerGone)
    return { kind: "free", what: "no session has it", how: `type ${armOf(run, context)} in one`, since: updated_at };
  if (context.call?.about === "permission") return calling(context.call);
  return unproven(run) ?? (context.call ? calling(context.call) : null);
}

function decision({ question }: Run, why: string, { workflow }: RunContext): Waiting {
  const choices = Object.values(workflow?.asks[question!.ask]?.choices ?? {});
  const answers = choices.map(({ label }, at) => `${at + 1} ${short(label, 60)}`).join(" · ");
  return {
    kind: "question",
    what: `your decision is needed${why === "" ? "" : ` (${why})`}`,
    how: `answer in its session${answers === "" ? "" : `: ${answers}`}`,
    since: question!.at,
  };
}

/** A changed workflow runs only after the person has looked at the change. */
function resumeCommand({ id, why = "" }: Run): string {
  return `pawl runs resume ${why.startsWith("its workflow was changed") ? "--accept " : ""}${id}`;
}

function calling({ about, tool, at }: Call): Waiting {
  const what = {
    permission: `the agent asks for a permission${tool === "" ? "" : ` for ${short(tool, 60)}`}`,
    idle: "its session waits for you",
    question: "its session asks you something",
  };
  return { kind: "permission", what: what[about], how: "answer in its session", since: at };
}

/** A claim that no gate refuses and none can prove: the run goes on, but only the person can say more. */
function unproven(run: Run): Waiting | null {
  const { claim, paused, verdicts = {}, id } = run;
  if (!claim || claim.open !== undefined || paused) return null;
  const open = Object.values(verdicts).filter(({ verdict, at }) => verdict !== "pass" && at >= claim.at);
  if (open.length === 0 || open.some(({ verdict }) => verdict === "fail")) return null;
  const why = short(open.map(({ gate, why }) => `${gate}: ${why}`).join("; "), 400);
  const what = `${claim.signal || "done"} is unproven (${why})`;
  return { kind: "approval", what, how: `\`pawl approve ${id}\``, since: claim.at };
}

/** A check that still runs is waited for, not approved. */
const mayApprove = ({ claim, status }: Run) => claim !== undefined && claim.open !== "running" && status !== "ended";

export const waitingText = ({ what, how }: Waiting) => `${what}: ${how}`;

// ── What happens ────────────────────────────────────────────────────────────

function doingOf({ status, why, claim, paused }: Run, records: JournalRecord[]): string {
  if (status === "ended") return short(why ?? "", 200);
  if (claim?.open === "running") {
    const gates = records.find(({ kind }) => kind === "checking")?.gates;
    return `checks running${Array.isArray(gates) ? `: ${short(gates.join(", "), 80)}` : ""}`;
  }
  if (status !== "active") return short(why ?? status, 200);
  return paused ? (paused.firm ? "paused" : "paused for your own prompt") : "";
}

/** Given at a stop or a prompt it is on its way. Decided elsewhere, it waits for the next event that can carry it. */
function pendingOf(run: Run, context: RunContext): string | null {
  if (!run.owed || run.status === "ended") return null;
  if (run.owner !== null && !context.ownerGone)
    return run.owed.given_by === "nothing"
      ? "the agent gets it with the next prompt in its session"
      : "sent; waiting for delivery";
  return `no session has this run: type ${armOf(run, context)} in one, and it goes on there`;
}

// ── Text ────────────────────────────────────────────────────────────────────

/** More stages than this are no picture any more. */
const LONGEST_BAR = 12;

export function stageBar(step: number, steps: number): string {
  if (steps > LONGEST_BAR || steps < 1) return "";
  let bar = "";
  for (let at = 1; at <= steps; at++) bar += `${at > 1 ? " " : ""}${at < step ? "●" : at === step ? "◉" : "○"}`;
  return bar;
}

export function runText({ workflow, stage, step, steps, minutes, paused }: RunView): string {
  const bar = stageBar(step, steps);
  const state = paused ? ", paused" : "";
  return `${workflow}  ${bar}${bar === "" ? "" : "  "}${stage}  ${step} of ${steps}, ${spanText(minutes)}${state}`;
}

export function spanText(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

export const MOST_SIGNS = 100;

/** Text of others on one line: nothing hidden in it, and not too long. */
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
