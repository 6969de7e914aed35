/** How a loop and the hooks of its sessions share one run, and how `auto` lets a workflow drive. */

import { advanceRun, type Incoming, type Reply, SILENT } from "../engine/advance.ts";
import { begin } from "../engine/begin.ts";
import { takeOver } from "../engine/core/begin.ts";
import { decide } from "../engine/core/decide.ts";
import { takeUpCleared } from "../engine/core/moves.ts";
import { hash } from "../hosts/identity.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { IterationLine, LoopOutcome, LoopState } from "../kernel/types/loop.ts";
import type { Procedure } from "../kernel/types/procedure.ts";
import type { Event, Run, Step, Workflow } from "../kernel/types/run.ts";
import { actorOf, type Task } from "../kernel/types/task.ts";
import { bindPointer, releasePointer } from "../store/place.ts";
import { loadRun, readCommits } from "../store/runs.ts";
import { isElsewhere } from "../trackers/core/tasks.ts";
import { type Tracker, withLock } from "../trackers/index.ts";
import { openForChanging } from "../trackers/project-tracker.ts";
import { endLoopRun, loopWorkflow, noteIteration, takeIteration } from "./core/run.ts";
import type { LoopSignals } from "./core/signal.ts";

export interface Sharing {
  /** the run's id; "" before the first iteration of `auto` */
  run(): string;
  /** before a fresh session: what its prompt says besides the procedure, or that the loop is over */
  begin(
    iteration: number,
    session: string,
  ): Promise<{ instruction: string } | { over: { outcome: LoopOutcome; why: string } }>;
  /** the run's own view of the iteration, where that counts more than the agent's words */
  signals?(said: LoopSignals): LoopSignals;
  /** why SUCCESS is not believed; null: every check passed */
  refuses(session: string): string | null;
  note(line: IterationLine): void;
  end(state: LoopState): void;
}

const HOST = "claude";

function buildEvent(session: string, ...about: string[]) {
  const at = new Date().toISOString();
  const id = hash("loop", session, ...about, at, String(process.pid));
  return { id, at, host: HOST, session, turn: "", via: "loop" };
}

const buildIncoming = (event: Event, root: string): Incoming => ({ event, transcript: null, cwd: root, patient: true });

function commit(root: string, run: string, event: Event, decision: typeof decide): Reply {
  const reply = advanceRun(root, run, buildIncoming(event, root), decision)?.reply ?? SILENT;
  reply.after();
  return reply;
}

const command = (session: string, name: "start" | "resume", why: string): Event => ({
  ...buildEvent(session, name, why),
  kind: "command",
  name,
  why,
});

/** No hooks, no checks: only the agent's output counts. */
export const shareNothing = (): Sharing => ({
  run: () => "",
  begin: async () => ({ instruction: "" }),
  refuses: () => null,
  note: () => undefined,
  end: () => undefined,
});

// ── A procedure ─────────────────────────────────────────────────────────────

/** `request`: what the person added; "": nothing. */
export function shareProcedure(
  root: string,
  procedure: Procedure,
  known: string,
  request: string,
  /** notifies the person if a check needs them */
  notify: (commits: Reply["commits"]) => void,
): Sharing {
  const run = known !== "" && loadRun(root, known) ? known : arm(root, procedure, request || procedure.title);
  let owner = "";
  return {
    run: () => run,
    async begin(iteration, session) {
      // Starting or resuming a loop lifts a pause; a pause that came later is the person's decision.
      const over = owner === "" ? null : stoppedBy(root, run);
      if (over) return { over };
      if (owner !== "") releasePointer(HOST, owner, run);
      freeClaims(root, procedure, loadRun(root, run)?.commit.run.owner?.session ?? "");
      owner = session;
      bindPointer(HOST, session, { root, run });
      commit(root, run, command(session, "resume", `iteration ${iteration}`), (input) =>
        takeIteration(input, iteration),
      );
      return { instruction: "" };
    },
    refuses(session) {
      freeClaims(root, procedure, session);
      const message = "<promise>SUCCESS</promise>";
      const stop = { kind: "stop" as const, message, continuing: false, background: 0, agents: [], scheduled: false };
      const event: Event = { ...buildEvent(session, "success"), ...stop };
      notify(commit(root, run, event, decide).commits);
      const now = loadRun(root, run)?.commit;
      if (!now) return "its run is missing";
      if (now.run.checks.claim) return openChecks(now.run, procedure);
      // No objection proves something only if the checks were made.
      const isChecked = now.event.id === event.id && now.records.some(({ kind }) => kind === "gated");
      return isChecked || procedure.gates.length === 0 ? null : unchecked(now.run);
    },
    note: (line) => void commit(root, run, command(owner, "resume", "note"), (input) => noteIteration(input, line)),
    end({ outcome, why }) {
      commit(root, run, command(owner, "resume", "end"), (input) => endLoopRun(input, outcome ?? "interrupted", why));
      if (owner !== "") releasePointer(HOST, owner, run);
    },
  };
}

function arm(root: string, procedure: Procedure, request: string): string {
  const event = command("", "start", procedure.name);
  const incoming = buildIncoming({ ...event, host: "cli" }, root);
  const { run, reply } = begin({ incoming, root, workflow: loopWorkflow(procedure), request });
  reply.after();
  if (run === null) throw new Error(reply.answer?.person?.replace(/^Pawl: /, "") || "no run could be started");
  return run;
}

/** The person paused or ended the run from another terminal. */
function stoppedBy(root: string, id: string): { outcome: LoopOutcome; why: string } | null {
  const run = loadRun(root, id)?.commit.run;
  if (!run || run.status === "ended") return { outcome: "aborted", why: `run ${id} was ended from outside` };
  return run.paused?.firm ? { outcome: "interrupted", why: `run ${id} was paused` } : null;
}

const unchecked = ({ paused }: Run) => `its checks were not run${paused ? ": the run is paused" : ""}`;

function openChecks({ checks: { verdicts = {} } }: Run, { gates }: Procedure): string {
  const open = gates.flatMap((gate) => {
    const verdict = verdicts[gate.id];
    return verdict?.verdict === "pass" ? [] : [`${gate.name}: ${verdict?.why ?? "not checked"}`];
  });
  return safeText(open.join("; ")) || "its checks did not pass";
}

// ── auto ────────────────────────────────────────────────────────────────────

/** One fresh session per task; the workflow's gates and the tracker decide when a task is done. */
export function shareWorkflow(root: string, workflow: Workflow, known: string): Sharing {
  let run = known;
  let owner = "";
  const now = () => (run === "" ? null : (loadRun(root, run)?.commit.run ?? null));
  return {
    run: () => run,
    async begin(iteration, session) {
      const over = owner === "" ? null : stoppedBy(root, run);
      if (over) return { over };
      if (owner !== "") releasePointer(HOST, owner, run);
      owner = session;
      const before = now();
      const begun = before ? takeUp(root, before, session, iteration) : armFirst(root, workflow, session);
      if ("run" in begun) run = begun.run;
      return begun;
    },
    // The reason is the one of the agent's own signal, which counts for nothing here.
    signals: (said) => ({ ...said, ...readState(root, run), reason: null }),
    refuses: () => null,
    note: () => undefined,
    end() {
      if (owner !== "") releasePointer(HOST, owner, run);
    },
  };
}

type SharedRun = { run: string; instruction: string } | { over: { outcome: LoopOutcome; why: string } };

function armFirst(root: string, workflow: Workflow, session: string): SharedRun {
  const text = workflow.arm[0] ?? "/auto";
  const event: Event = { ...buildEvent(session, "prompt"), kind: "prompt", text, injected: false, typed: true };
  const { run, reply } = begin({ incoming: buildIncoming(event, root), root, workflow, wanted: "", fresh: true });
  reply.after();
  const { answer } = reply;
  if (run !== null) return { run, instruction: answer?.agent ?? "" };
  const why = (answer?.person ?? "nothing was started").replace(/^Pawl: /, "");
  return { over: { outcome: /tasks complete$/.test(why) ? "success" : "aborted", why } };
}

/** Between two tasks the next one is claimed; otherwise the fresh session continues the current one. */
function takeUp(root: string, before: Run, session: string, iteration: number): SharedRun {
  bindPointer(HOST, session, { root, run: before.id });
  const event: Event = before.work.task
    ? command(session, "resume", `iteration ${iteration}`)
    : { ...buildEvent(session, "start"), kind: "start", source: "clear" };
  const { answer } = commit(root, before.id, event, (input) =>
    before.work.task ? continueTask(input, iteration) : takeUpCleared(input),
  );
  const run = loadRun(root, before.id)?.commit.run;
  if (run && run.status !== "ended") return { run: run.id, instruction: answer?.agent ?? "" };
  return { over: { outcome: "success", why: (answer?.person ?? "all tasks are done").replace(/^(?:Pawl: |✅ )/, "") } };
}

/** The fresh session gets the stage and its instruction. */
function continueTask(input: Parameters<typeof takeOver>[0], iteration: number): Step {
  const step = takeOver(input);
  if ("decision" in step) step.decision.records.push({ kind: "iteration_begun", iteration });
  return step;
}

/** The state of the run counts, not what the agent says. */
function readState(root: string, id: string): { success: boolean; failure: boolean } {
  const live = id === "" ? null : loadRun(root, id);
  const run = live?.commit.run ?? (id === "" ? undefined : readCommits(root, id).at(-1)?.run);
  const success = run?.status === "ended" && run.outcome === "completed";
  return { success, failure: !success && (run?.status === "ended" || run?.status === "halted") };
}

// ── Claimed tasks ───────────────────────────────────────────────────────────

const LOCK_WAIT_MS = 20_000;

/**
 * Frees tasks that a session of the loop claimed and did not finish, so that they need not expire and do not look as if
 * someone works on them. Only for procedures that ask for ready work; a tracker that does not answer keeps its claims.
 */
function freeClaims(root: string, { gates }: Procedure, session: string): void {
  if (session === "" || !gates.some(({ tracker }) => tracker === "none-ready")) return;
  const opened = openForChanging(root);
  if (opened.kind !== "ok") return;
  const tracker = opened.value;
  if (listClaims(tracker, session).length === 0) return;
  const until = Bun.nanoseconds() / 1e6 + LOCK_WAIT_MS;
  const free = () => {
    for (const { id } of listClaims(tracker, session)) tracker.reopen(id);
    return { kind: "ok" as const, value: null };
  };
  withLock(root, until, free, "taking");
}

function listClaims(tracker: Tracker, session: string): Task[] {
  const claimed = tracker.list({ state: "claimed" });
  const actor = actorOf(session);
  if (claimed.kind !== "ok") return [];
  return claimed.value.filter((task) => task.owner === actor && !isElsewhere(task, tracker.here));
}
