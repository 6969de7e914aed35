/** How a loop and the hooks of its sessions share one run; and how `auto` lets a workflow drive. */

import { advanceRun, type Incoming, type Reply, SILENT } from "../engine/advance.ts";
import { begin } from "../engine/begin.ts";
import { takeOver } from "../engine/core/begin.ts";
import { decide } from "../engine/core/decide.ts";
import { takeUpCleared } from "../engine/core/moves.ts";
import { hash } from "../hosts/identity.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { IterationLine, LoopOutcome, LoopState } from "../kernel/types/loop.ts";
import type { Procedure } from "../kernel/types/procedure.ts";
import type { Event, Facts, Run, Step, Workflow } from "../kernel/types/run.ts";
import { bindPointer, releasePointer } from "../store/place.ts";
import { loadRun, readCommits } from "../store/runs.ts";
import { freeClaims } from "./claims.ts";
import { endLoopRun, loopWorkflow, noteIteration, takeIteration } from "./core/run.ts";
import type { LoopSignals } from "./core/signal.ts";

export interface Sharing {
  /** the run's id; "" before the first iteration of `auto` */
  run(): string;
  /** a fresh session is about to begin: what it is told besides the procedure; or there is nothing to do */
  begin(
    iteration: number,
    session: string,
  ): Promise<{ instruction: string } | { over: { outcome: LoopOutcome; why: string } }>;
  /** what the run itself knows of the iteration, where that counts more than words */
  signals?(said: LoopSignals): LoopSignals;
  /** why SUCCESS is not believed; null: every check passed */
  refuses(session: string): string | null;
  note(line: IterationLine): void;
  end(state: LoopState): void;
}

const HOST = "claude";

function eventOf(session: string, ...about: string[]) {
  const at = new Date().toISOString();
  return {
    id: hash("loop", session, ...about, at, String(process.pid)),
    at,
    host: HOST,
    session,
    turn: "",
    via: "loop",
  };
}

const incomingOf = (event: Event, root: string): Incoming => ({ event, transcript: null, cwd: root, patient: true });

type Decide = (input: { workflow: Workflow; run: Run; event: Event; facts: Facts }) => Step;

function commit(root: string, run: string, event: Event, decision: Decide): Reply {
  const reply = advanceRun(root, run, incomingOf(event, root), decision)?.reply ?? SILENT;
  reply.after();
  return reply;
}

const command = (session: string, name: "start" | "resume", why: string): Event => ({
  ...eventOf(session, name, why),
  kind: "command",
  name,
  why,
});

/** No hooks, no checks: the loop is alone with what it hears. */
export const shareNothing = (): Sharing => ({
  run: () => "",
  begin: async () => ({ instruction: "" }),
  refuses: () => null,
  note: () => undefined,
  end: () => undefined,
});

// ── A procedure ─────────────────────────────────────────────────────────────

/** `request`: what the person gave it besides; "" where the procedure says it all. */
export function shareProcedure(
  root: string,
  procedure: Procedure,
  known: string,
  request: string,
  /** calls the person, where a check asks for them */
  notify: (commits: Reply["commits"]) => void,
): Sharing {
  const run = known !== "" && loadRun(root, known) ? known : arm(root, procedure, request || procedure.title);
  let owner = "";
  return {
    run: () => run,
    async begin(iteration, session) {
      // Who begins or resumes a loop lifts a pause; one that came meanwhile is the person's word.
      const over = owner === "" ? null : heldUp(root, run);
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
      const event: Event = {
        ...eventOf(session, "success"),
        kind: "stop",
        message: "<promise>SUCCESS</promise>",
        continuing: false,
        background: 0,
      };
      notify(commit(root, run, event, decide).commits);
      const now = loadRun(root, run)?.commit;
      if (!now) return "the run that it shares with the hooks is gone";
      if (now.run.claim) return openChecks(now.run, procedure);
      // Nobody objected: that proves something only if somebody has looked.
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
  const incoming = incomingOf({ ...event, host: "cli" }, root);
  const { run, reply } = begin({ incoming, root, workflow: loopWorkflow(procedure), request });
  reply.after();
  if (run === null) throw new Error(reply.answer?.person?.replace(/^Pawl: /, "") || "no run could be begun");
  return run;
}

/** The person paused or ended the run from another terminal. */
function heldUp(root: string, id: string): { outcome: LoopOutcome; why: string } | null {
  const run = loadRun(root, id)?.commit.run;
  if (!run || run.status === "ended") return { outcome: "aborted", why: `the run ${id} was ended from outside` };
  return run.paused?.firm ? { outcome: "interrupted", why: `the run ${id} was paused` } : null;
}

const unchecked = ({ paused }: Run) => `its checks were not made${paused ? ": the run is paused" : ""}`;

function openChecks({ verdicts = {} }: Run, { gates }: Procedure): string {
  const open = gates.flatMap((gate) => {
    const verdict = verdicts[gate.id];
    return verdict?.verdict === "pass" ? [] : [`${gate.name}: ${verdict?.why ?? "not checked"}`];
  });
  return plain(open.join("; ")) || "its checks did not pass";
}

// ── auto ────────────────────────────────────────────────────────────────────

/** One fresh session for each task; the workflow's gates and the tracker say when a task is over. */
export function shareWorkflow(root: string, workflow: Workflow, known: string): Sharing {
  let run = known;
  let owner = "";
  const now = () => (run === "" ? null : (loadRun(root, run)?.commit.run ?? null));
  return {
    run: () => run,
    async begin(iteration, session) {
      const over = owner === "" ? null : heldUp(root, run);
      if (over) return { over };
      if (owner !== "") releasePointer(HOST, owner, run);
      owner = session;
      const before = now();
      const found =
        before === null ? await armFirst(root, workflow, session) : takeUp(root, before, session, iteration);
      if ("over" in found) return found;
      run = found.run;
      return { instruction: found.instruction };
    },
    signals: (said) => ({ ...said, ...standing(root, run) }),
    refuses: () => null,
    note: () => undefined,
    end() {
      if (owner !== "") releasePointer(HOST, owner, run);
    },
  };
}

type Begun = { run: string; instruction: string } | { over: { outcome: LoopOutcome; why: string } };

async function armFirst(root: string, workflow: Workflow, session: string): Promise<Begun> {
  const event: Event = {
    ...eventOf(session, "prompt"),
    kind: "prompt",
    text: workflow.arm[0] ?? "/auto",
    injected: false,
  };
  const { run, reply } = begin({ incoming: incomingOf(event, root), root, workflow, wanted: "", fresh: true });
  reply.after();
  const { answer } = reply;
  if (run !== null) return { run, instruction: answer?.agent ?? "" };
  const why = (answer?.person ?? "nothing was begun").replace(/^Pawl: /, "");
  return { over: { outcome: /tasks complete$/.test(why) ? "success" : "aborted", why } };
}

/** Between two tasks the next one is claimed; in the middle of one the fresh session goes on with it. */
function takeUp(root: string, before: Run, session: string, iteration: number): Begun {
  bindPointer(HOST, session, { root, run: before.id });
  const event: Event = before.task
    ? command(session, "resume", `iteration ${iteration}`)
    : { ...eventOf(session, "start"), kind: "start", source: "clear" };
  const { answer } = commit(root, before.id, event, (input) =>
    before.task ? goOnWith(input, iteration) : takeUpCleared(input),
  );
  const run = loadRun(root, before.id)?.commit.run;
  if (run && run.status !== "ended") return { run: run.id, instruction: answer?.agent ?? "" };
  return { over: { outcome: "success", why: (answer?.person ?? "all tasks are done").replace(/^(?:Pawl: |✅ )/, "") } };
}

/** A session that never saw the work gets its place and its instruction. */
function goOnWith(input: Parameters<typeof takeOver>[0], iteration: number): Step {
  const step = takeOver(input);
  if ("decision" in step) step.decision.records.push({ kind: "iteration_begun", iteration });
  return step;
}

/** Not what the agent says, but where the run stands. */
function standing(root: string, id: string): { success: boolean; failure: boolean } {
  const live = id === "" ? null : loadRun(root, id);
  const run = live?.commit.run ?? (id === "" ? undefined : readCommits(root, id).at(-1)?.run);
  const over = run?.status === "ended";
  return {
    success: over && run.outcome === "completed",
    failure: (over && run.outcome !== "completed") || run?.status === "halted",
  };
}
