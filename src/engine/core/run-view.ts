/**
 * One run as every surface shows it: where it is, what it waits for, what to type. Status, explain, report, dashboard,
 * notifications and the status line all render this view, so they cannot disagree. The status line loads it: keep it small.
 */
import { safeText } from "../../kernel/text/safe-text.ts";
import type { Call, JournalRecord, Run, Workflow } from "../../kernel/types/run.ts";
import { stepNumber } from "../../kernel/types/workflow.ts";

/**
 * `permission`: the client asks the person something. `stopped`: the agent's turn ended and the step is not done.
 * `clear`: the next task begins after /clear. `free`: no session has it.
 */
export type WaitKind = "approval" | "question" | "permission" | "stopped" | "halted" | "paused" | "clear" | "free";

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
  /** active, waiting (for the person, whatever for), halted, paused, or how it ended */
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
  workflow: Pick<Workflow, "arm" | "asks" | "stages" | "watch"> | null;
  /** its session is known to be over */
  ownerGone: boolean;
  /** what the client asks the person, if it is still open; the run only knows that it was asked */
  call?: Call | undefined;
  /** of its last commit */
  records?: JournalRecord[];
}

export function viewRun(run: Run, context: RunContext): RunView {
  const { formal } = run;
  const waits = run.status === "ended" ? null : waitsFor(run, context);
  return {
    id: run.id,
    workflow: short(run.workflow, 40),
    session: run.owner?.session ?? null,
    stage: formal ? stageLabel(run) : stageLabel(run).toUpperCase(),
    ...place(run, context.workflow),
    minutes: minutesBetween(run.entered_at, context.at),
    task: run.work.task ? short(run.work.task.title, MOST_SIGNS) : "",
    paused: run.paused !== undefined,
    waits,
    title: formatTitle(run),
    state: nameState(run, waits),
    doing: describeActivity(run, context.records ?? []),
    pending: describePending(run, context),
    claimed: mayApprove(run) ? run.checks.claim!.at : null,
  };
}

/** Counted in the workflow, as in every text for the agent; a chain that a shortcut began is counted by itself. */
function place({ formal, plan, stage }: Run, workflow: RunContext["workflow"]): { step: number; steps: number } {
  if (formal) return { step: formal.phase.current, steps: formal.phase.total };
  if (workflow && !workflow.watch) return { step: stepNumber(workflow, stage), steps: workflow.stages.length };
  return { step: plan.indexOf(stage) + 1, steps: plan.length };
}

function nameState({ status, outcome, paused }: Run, waits: Waiting | null): string {
  if (status === "ended") return outcome ?? "ended";
  if (paused) return "paused";
  return waits && status !== "halted" ? "waiting" : status;
}

export const stageLabel = ({ formal, stage }: Pick<Run, "formal" | "stage">, most = 40) =>
  short(formal?.phase.name ?? stage, most);

/** So long a claim waits for sub-agents; then it is the person's turn. */
export const AGENTS_MINUTES = 30;

export const minutesBetween = (from: string, to: string) =>
  Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 60_000)) || 0;

function formatTitle({ work: { task, request }, formal }: Run): string | null {
  return (task ? short(task.title, 200) || task.id : short(formal?.name ?? request ?? "", 200)) || null;
}

/** A run as `--json` prints it: flat, with the names that scripts know. */
export function printedRun({ work, checks, pending, ...head }: Run) {
  return { ...head, v: 1, ...work, ...checks, ...(pending && { owed: pending }) };
}

/** Formal workflows have no word that begins them: an agent takes such a run up by its own command. */
const takeUp = ({ id }: Run, { workflow }: RunContext) =>
  workflow?.arm[0] === undefined
    ? `let the agent of one run \`pawl runs adopt ${id}\``
    : `type ${workflow.arm[0]} in one`;

// ── What it waits for ───────────────────────────────────────────────────────

function waitsFor(run: Run, context: RunContext): Waiting | null {
  const { id, question, updated_at } = run;
  const { claim } = run.checks;
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
    return {
      kind: "free",
      what: "no session has it",
      how: takeUp(run, context),
      since: updated_at,
    };
  if (context.call?.about === "permission") return calling(context.call);
  if (claim?.open === "agents" && minutesBetween(claim.at, context.at) >= AGENTS_MINUTES)
    return {
      kind: "approval",
      what: `${claim.signal} has waited for sub-agents for over ${AGENTS_MINUTES} minutes`,
      how: `\`pawl approve ${id}\``,
      since: claim.at,
    };
  return unproven(run) ?? stopped(run) ?? (context.call ? calling(context.call) : null);
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

/** A changed workflow runs only after the person has looked at the change. A loop starts its own sessions. */
function resumeCommand(run: Run): string {
  const { id, why = "" } = run;
  if (isLooped(run)) return `pawl loop --resume ${id}`;
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
  const { paused, id } = run;
  const { claim, verdicts = {} } = run.checks;
  if (!claim || claim.open !== undefined || paused) return null;
  const open = Object.values(verdicts).filter(({ verdict, at }) => verdict !== "pass" && at >= claim.at);
  if (open.length === 0 || open.some(({ verdict }) => verdict === "fail")) return null;
  const untrusted = open.filter((one) => one.untrusted).map(({ gate }) => gate);
  if (untrusted.length > 0)
    return {
      kind: "approval",
      what: `${claim.signal || "done"} is unproven (commands not approved: ${short(untrusted.join(", "), 400)})`,
      how: "run `pawl trust` in its project, then type /pawl:go in its session",
      since: claim.at,
    };
  const why = short(open.map(({ gate, why }) => `${gate}: ${why}`).join("; "), 400);
  const what = `${claim.signal || "done"} is unproven (${why})`;
  return { kind: "approval", what, how: `\`pawl approve ${id}\``, since: claim.at };
}

const isLooped = ({ workflow, work }: Run) => workflow === "loop" || work.fresh === true;

/** In a formal workflow every turn ends so, and after an iteration the loop goes on by itself. */
function stopped(run: Run): Waiting | null {
  const { stopped_at, paused, formal, checks, pending } = run;
  if (stopped_at === undefined || formal || isLooped(run) || checks.claim?.open === "running") return null;
  const kind = paused ? "paused" : "stopped";
  const isPending = pending?.given_by === "nothing";
  const why = isPending ? "its next instruction waits for your prompt" : "the agent stopped without a valid signal";
  const what = paused ? "paused for your own prompt" : why;
  return { kind, what, how: "type /pawl:go in its session", since: stopped_at };
}

/** A check that still runs is waited for, not approved; one that may not run yet wants trust instead. */
const mayApprove = ({ checks: { claim, verdicts = {} }, status }: Run) =>
  claim !== undefined &&
  claim.open !== "running" &&
  status !== "ended" &&
  !Object.values(verdicts).some(({ untrusted, at }) => untrusted && at >= claim.at);

export const waitingText = ({ what, how }: Waiting) => `${what}: ${how}`;

// ── What happens ────────────────────────────────────────────────────────────

function describeActivity({ status, why, checks: { claim }, paused }: Run, records: JournalRecord[]): string {
  if (status === "ended") return short(why ?? "", 200);
  if (claim?.open === "running") {
    const gates = records.find(({ kind }) => kind === "checking")?.gates;
    return `checks running${Array.isArray(gates) ? `: ${short(gates.join(", "), 80)}` : ""}`;
  }
  if (claim?.open === "agents") {
    const agents = records.find(({ kind }) => kind === "held")?.agents;
    return `waiting for ${Array.isArray(agents) ? short(agents.join(", "), 80) : "sub-agents"}`;
  }
  if (status !== "active") return short(why ?? status, 200);
  return paused ? (paused.firm ? "paused" : "paused for your own prompt") : "";
}

/** Given at a stop or a prompt it is on its way. Decided elsewhere, it waits for the next event that can carry it. */
function describePending(run: Run, context: RunContext): string | null {
  if (!run.pending || run.status === "ended") return null;
  if (run.owner !== null && !context.ownerGone)
    return run.pending.given_by === "nothing"
      ? "the agent gets it with the next prompt in its session"
      : "sent; waiting for delivery";
  return `no session has this run: ${takeUp(run, context)}, and it goes on there`;
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
  const line = safeText(text.slice(0, most * 20))
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= most) return line;
  const signs = [...line];
  return signs.length <= most ? line : `${signs.slice(0, most - 1).join("")}…`;
}
