/** What the person does on the page: the same commands as on the command line, through the same door. */

import { viewRun } from "../engine/core/run-view.ts";
import { handleCommand } from "../engine/handle-event.ts";
import { hash } from "../hosts/identity.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { CommandName, EventOf } from "../kernel/types/run.ts";
import { isRunId } from "../store/names.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import { AskedError, type Projects } from "./projects.ts";

const ACTIONS: Record<string, CommandName> = {
  answer: "decide",
  approve: "approve",
  pause: "pause",
  resume: "resume",
  abort: "abort",
  adopt: "adopt",
};
const KEYS = ["project", "run", "action", "choice", "why", "asked"];
const LONGEST_WHY = 2_000;

export interface Done {
  ok: boolean;
  message: string;
  /** where it waits, if the agent has not heard of it */
  waits?: string;
}

export function act(body: Record<string, unknown>, projects: Projects, who: string): Done {
  const asked = readAction(body);
  const root = projects.named(asked.project);
  const answer = handleCommand(root, asked.run, eventOf(asked, who));
  if (answer === null) return { ok: false, message: `run ${asked.run} has ended` };
  const message = plain(answer.person ?? "").replace(/^Pawl: /, "");
  if (answer.reason === "refused") return { ok: false, message: message || "refused" };
  const waits = waitsWhere(root, asked.run);
  return { ok: true, message: message || `${asked.action}: done`, ...(waits !== null && { waits }) };
}

interface Action {
  project: string;
  run: string;
  action: string;
  choice: string;
  why: string;
  asked?: string;
}

function readAction(body: Record<string, unknown>): Action {
  const odd = Object.entries(body).find(([key, value]) => !KEYS.includes(key) || typeof value !== "string");
  if (odd) throw new AskedError("an action has project, run, action, choice and why, as texts");
  const { project = "", run = "", action = "", choice = "", why = "", asked } = body as Partial<Action>;
  if (!Object.hasOwn(ACTIONS, action)) throw new AskedError("there is no such action");
  if (!isRunId(run)) throw new AskedError("this is no run's name");
  if (action === "answer" && choice === "") throw new AskedError("an answer needs a choice");
  return { project, run, action, choice, why: plain(why).slice(0, LONGEST_WHY), ...(asked && { asked }) };
}

function eventOf({ run, action, choice, why, asked }: Action, who: string): EventOf<"command"> {
  const at = new Date().toISOString();
  const name = ACTIONS[action]!;
  return {
    id: hash("dashboard", run, name, at, crypto.randomUUID()),
    at,
    host: "cli",
    session: "",
    turn: "",
    via: "dashboard",
    kind: "command",
    name,
    why,
    who,
    ...(name === "decide" && { choice }),
    ...(asked !== undefined && (name === "decide" || name === "approve") && { asked }),
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
