/** What the person does on the page: the same commands as on the command line, through the same door. */
import { viewRun } from "../engine/core/run-view.ts";
import { handleCommand } from "../engine/handle-event.ts";
import { hash } from "../hosts/identity.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { CommandName, EventOf } from "../kernel/types/run.ts";
import { isRunId } from "../store/names.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import type { Projects } from "./projects.ts";
import { RequestError } from "./security.ts";

const ACTIONS = {
  answer: "decide",
  approve: "approve",
  pause: "pause",
  resume: "resume",
  abort: "abort",
  adopt: "adopt",
} as const satisfies Record<string, CommandName>;
const KEYS = ["project", "run", "action", "choice", "why", "asked"];
const LONGEST_WHY = 2_000;

export interface Done {
  ok: boolean;
  message: string;
  /** where it waits, if the agent has not heard of it */
  waits?: string;
}

export function act(body: Record<string, unknown>, projects: Projects, who: string): Done {
  const wish = readAction(body);
  const root = projects.named(wish.project);
  const answer = handleCommand(root, wish.run, buildEvent(wish, who));
  if (answer === null) return { ok: false, message: `run ${wish.run} has ended` };
  const message = safeText(answer.person ?? "").replace(/^Pawl: /, "");
  if (answer.reason === "refused") return { ok: false, message: message || "refused" };
  const waits = waitsWhere(root, wish.run);
  return { ok: true, message: message || `${wish.action}: done`, ...(waits !== null && { waits }) };
}

/** `asked`: when the question was put, or the claim made, that is meant. */
export interface Action {
  project: string;
  run: string;
  action: keyof typeof ACTIONS;
  choice?: string;
  why?: string;
  asked?: string;
}

function readAction(body: Record<string, unknown>): Action {
  const odd = Object.entries(body).find(([key, value]) => !KEYS.includes(key) || typeof value !== "string");
  if (odd) throw new RequestError("an action has project, run, action, choice and why, as texts");
  const action: Action = { project: "", run: "", action: "" as Action["action"], ...body };
  if (!Object.hasOwn(ACTIONS, action.action)) throw new RequestError("there is no such action");
  if (!isRunId(action.run)) throw new RequestError("this is no run's name");
  if (action.action === "answer" && !action.choice) throw new RequestError("an answer needs a choice");
  return action;
}

function buildEvent({ run, action, choice = "", why = "", asked }: Action, who: string): EventOf<"command"> {
  const at = new Date().toISOString();
  const name = ACTIONS[action];
  return {
    id: hash("dashboard", run, name, at, crypto.randomUUID()),
    at,
    host: "cli",
    session: "",
    turn: "",
    via: "dashboard",
    kind: "command",
    name,
    why: safeText(why).slice(0, LONGEST_WHY),
    who,
    ...(name === "decide" && { choice }),
    ...(asked && (name === "decide" || name === "approve") && { asked }),
  };
}

/** null: the agent has nothing to hear, or the run has ended. */
function waitsWhere(root: string, id: string): string | null {
  const loaded = loadRun(root, id);
  if (!loaded) return null;
  const ownerGone = listRuns(root).find((one) => one.id === id)?.owner_gone === true;
  const { run } = loaded.commit;
  return viewRun(run, { at: run.updated_at, workflow: loaded.workflow, ownerGone }).pending;
}
