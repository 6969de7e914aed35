import { findByName } from "../definitions/registry.ts";
import { minutesBetween, spanText, viewRun, waitingText } from "../engine/core/run-view.ts";
import { begin, handleCommand } from "../engine/handle-event.ts";
import { guidance } from "../formal/core/guidance.ts";
import type { UnclaimedDocument } from "../formal/discover.ts";
import type { Answer, CommandName, Run } from "../kernel/types/run.ts";
import { UserError } from "../kernel/user-error.ts";
import { offerRun } from "../store/place.ts";
import { agentOfSession } from "../store/processes/person.ts";
import { listArchived, listRuns, loadRun } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "./shared/args.ts";
import { commandEvent } from "./shared/command-event.ts";
import { commitsOf, findRunId, viewOf } from "./shared/find-run.ts";
import { beginningOf, FORMAL_OPTIONS, phaseChangeOf } from "./shared/formal.ts";

export const summary = "list, show, pause, resume, finish or abort runs";
export const usage = `usage: pawl runs [list] [--all] [--json]      runs in progress here (--all: ended ones too)
       pawl runs start <workflow> [stage …]     begin a run without typing in the agent
         a formal one: --name TEXT --phases "A,B" --reading @FILE --context k=v --reminder TEXT
       pawl runs show [run] [--json]            one run in full
       pawl runs phase next|set N|block|done [--run ID]   of a formal workflow; with --name TEXT for \`set\`
       pawl runs pause|resume [run]             let the agent rest, or go on with the next prompt
       pawl runs resume --accept [run]          … with the workflow as it is now, after looking at what was changed
       pawl runs finish [run]                   end it as completed; its gates are checked
       pawl runs abort [run] [--why TEXT]       end it as aborted
       pawl runs adopt [run|document]           free it: the next session that types its command has it
       pawl runs restore [run]                  print what the agent gets after a compaction (formal workflows)

A run may be named by the beginning of its id. Exit codes: 0 done, 1 refused or not found, 2 wrong usage.`;

const ACTIONS: CommandName[] = ["abort", "adopt", "pause", "resume", "finish"];

export async function run(args: string[], io: Io): Promise<number> {
  const parsed = parseArgs(args, ["--all", "--json", "--why=", "--run=", "--accept", ...FORMAL_OPTIONS]);
  const [action = "list", ...words] = parsed.words;
  const root = rootOf(io);
  if (action === "list") return list(root, parsed, io);
  if (action === "show") return show(root, findRunId(root, words[0], true), parsed, io);
  if (action === "start") return start(root, words, parsed, io);
  if (action === "phase") return phase(root, words, parsed, io);
  if (action === "restore") return restore(root, findRunId(root, words[0], false), io);
  if (action === "adopt" && words[0]?.endsWith(".json")) return adoptDocument(root, words[0], io);
  if (action === "resume" && parsed.flags.has("--accept")) {
    return (await import("./accept.ts")).accept(root, findRunId(root, words[0], false), io);
  }
  const name = ACTIONS.find((known) => known === action);
  if (!name) throw new UserError(`runs cannot ${action}`, "`pawl runs --help` lists what it can");
  return act(root, name, words[0], parsed, io);
}

const age = (at: string) => spanText(minutesBetween(at, new Date().toISOString()));

async function list(root: string, { flags }: Parsed, io: Io): Promise<number> {
  const live = listRuns(root).flatMap(({ id, owner_gone }) => {
    const loaded = loadRun(root, id);
    return loaded ? [{ run: loaded.commit.run, owner_gone, forged: undefined }] : [];
  });
  const ended = flags.has("--all")
    ? listArchived(root).map(({ commit: { run, forged } }) => ({ run, owner_gone: true, forged }))
    : [];
  const all = [...live, ...ended].toSorted((a, b) => b.run.updated_at.localeCompare(a.run.updated_at));
  const unclaimed = (await import("../formal/discover.ts")).unclaimedDocuments(root);
  if (flags.has("--json"))
    io.out(`${JSON.stringify({ root, runs: all.map(({ run, ...more }) => ({ ...run, ...more })) }, null, 2)}\n`);
  else if (all.length + unclaimed.length === 0)
    io.out("No run here. Type /complete-work in your agent to begin one.\n");
  else {
    const lines = [
      ...all.map(({ run, owner_gone, forged }) => `${line(run, owner_gone)}${forged ? `  ${NOT_OURS}` : ""}`),
      ...unclaimed.map(strayLine),
    ];
    io.out(`${lines.join("\n")}\n`);
  }
  return 0;
}

const NOT_OURS = "its record was not written by Pawl";

const strayLine = ({ path, parsed: { name, content } }: UnclaimedDocument) =>
  `${path}: “${name}”, phase ${content.phase.current}/${content.phase.total}, nobody's: \`pawl runs adopt ${path}\``;

function line(run: Run, ownerGone: boolean): string {
  const { state } = viewRun(run, { at: run.updated_at, workflow: null, ownerGone });
  const owner = run.owner ? `session ${run.owner.session.slice(0, 8)}${ownerGone ? " (gone)" : ""}` : "nobody's";
  const stage = run.formal ? `${run.formal.phase.current}/${run.formal.phase.total}` : run.stage;
  const stale = run.status !== "ended" && Date.now() - Date.parse(run.updated_at) > STALE_MS ? "  stale" : "";
  const name = run.formal ? `  ${run.formal.name} - ${run.formal.phase.name} (${run.formal.phase.status})` : "";
  return `${run.id.padEnd(14)}${run.workflow.padEnd(16)}${state.padEnd(11)}${stage.padEnd(10)}${age(run.updated_at).padStart(7)} ago  ${owner}${stale}${name}`;
}

function show(root: string, id: string, { flags }: Parsed, io: Io): number {
  const { run, forged } = commitsOf(root, id).at(-1)!;
  if (flags.has("--json")) {
    io.out(`${JSON.stringify({ ...run, forged }, null, 2)}\n`);
    return 0;
  }
  const view = viewOf(root, id, run);
  const steps = run.plan.map((stage) => {
    const mark = run.done[stage] ? "✅" : stage === run.stage && run.status !== "ended" ? "▶ " : "⊙ ";
    const how = run.done[stage] ? `${run.done[stage].signal}, ${age(run.done[stage].at)} ago` : "";
    return `  ${mark} ${stage.padEnd(10)}${how}`;
  });
  const facts: [string, string | null | undefined][] = [
    ["beware", forged && NOT_OURS],
    ["workflow", run.workflow],
    ["status", run.outcome ? `${run.status}: ${run.outcome}` : run.paused ? `${run.status}, paused` : run.status],
    ["needs you", view.waits && waitingText(view.waits)],
    ["why", run.why],
    ["name", run.formal?.name],
    [
      "phase",
      run.formal &&
        `${run.formal.phase.current}/${run.formal.phase.total} - ${run.formal.phase.name} (${run.formal.phase.status})`,
    ],
    ["reading", run.formal?.required_reading.join(" ")],
    ["reminders", run.formal?.key_reminders.join("; ")],
    ["session", run.owner?.session ?? "(nobody)"],
    ["decision", run.decision && `${run.decision.choice} (${run.decision.at})`],
    ["pending", view.pending && `an instruction: ${view.pending}`],
    ["report", run.reports.at(-1) && `${run.reports.at(-1)!.file} from ${run.reports.at(-1)!.agent || "the agent"}`],
    ["document", run.document.path],
    ["commit", run.commit_hash],
    ["begun", run.created_at],
  ];
  const lines = facts.filter(([, value]) => value).map(([key, value]) => `  ${key.padEnd(10)}${value}`);
  io.out(`${run.id}\n${lines.join("\n")}\n${steps.join("\n")}\n\n\`pawl explain ${run.id}\` tells how it got here.\n`);
  return 0;
}

function phase(root: string, words: string[], parsed: Parsed, io: Io): number {
  const id = findRunId(root, parsed.values["--run"], false);
  const event = { ...commandEvent("phase", id, ""), phase: phaseChangeOf(words, parsed) };
  return say(handleCommand(root, id, event), id, "phase", io);
}

function act(root: string, name: CommandName, named: string | undefined, { values }: Parsed, io: Io): number {
  const id = findRunId(root, named, false);
  refuseAgents(root, id, name);
  const code = say(
    handleCommand(root, id, commandEvent(name, id, values["--why"] ?? ""), { patient: true }),
    id,
    name,
    io,
  );
  if (name === "adopt") offerToSession(root, id);
  return code;
}

/** An agent must not free itself of its workflow. Finishing passes the gates; a formal workflow is the agent's to move. */
function refuseAgents(root: string, id: string, name: CommandName): void {
  if (name === "finish" || name === "resume" || loadRun(root, id)?.commit.run.formal) return;
  const agent = agentOfSession();
  if (agent === null) return;
  const hint = "tell the person why; they can run it in a terminal of their own";
  throw new UserError(`an agent cannot ${name} its own run (${agent})`, hint, 1);
}

/** What the agent would get after a compaction, to be pasted by hand. */
function restore(root: string, id: string, io: Io): number {
  const { run } = commitsOf(root, id).at(-1)!;
  if (!run.formal) throw new UserError(`${id} is no formal workflow`, "type its command in the session instead", 1);
  io.out(`${guidance(run.formal, id, "hand")}\n`);
  return 0;
}

/** A document no one registered becomes a run; the session in whose shell this is said gets it offered. */
async function adoptDocument(root: string, path: string, io: Io): Promise<number> {
  const { adoptDocument } = await import("../formal/discover.ts");
  const wanted = path.replace(/^\.\//, "");
  const id = await adoptDocument(
    { event: commandEvent("start", wanted, ""), transcript: null, cwd: root },
    root,
    wanted,
  );
  if (!id) throw new UserError(`${path} is no document without a run`, "`pawl runs` lists those that wait", 1);
  offerToSession(root, id);
  io.out(`${path} is run ${id} now.\n`);
  return 0;
}

function say(answer: Answer | null, id: string, name: string, io: Io): number {
  if (!answer) throw new UserError(`run ${id} has ended`, "`pawl runs list --all` shows how", 1);
  if (answer.reason !== undefined)
    throw new UserError(answer.person ?? "refused", `\`pawl runs show ${id}\` shows where it stands`, 1);
  io.out(`${answer.person ?? `${name}: ${id}`}\n`);
  return 0;
}

function start(root: string, [name, ...stages]: string[], parsed: Parsed, io: Io): number {
  if (!name) throw new UserError("which workflow?", "`pawl list` shows them");
  const found = findByName(name, root);
  if (!found) throw new UserError(`there is no workflow ${name}`, "`pawl list` shows them");
  if ("errors" in found) throw new UserError(`${found.file} has errors`, "`pawl check` shows them", 1);
  const unknown = stages.filter((stage) => !found.workflow.stages.some(({ id }) => id === stage));
  if (unknown.length > 0) {
    const known = found.workflow.stages.map(({ id }) => id).join(", ");
    throw new UserError(`${name} has no stage ${unknown.join(", ")}`, `it has ${known}`);
  }
  const incoming = { event: commandEvent("start", name, ""), transcript: null, cwd: root };
  const { workflow } = found;
  const formal = workflow.document?.format === "json" && { formal: beginningOf(workflow, parsed) };
  const { run: id, reply } = begin({ incoming, root, workflow, ...(formal || { stages }) });
  reply.after();
  const said = reply.answer?.person ?? "";
  if (!id)
    throw new UserError(
      said.replace(/^Pawl: /, "") || "nothing was started",
      "`pawl runs list` shows what is there",
      1,
    );
  offerToSession(root, id);
  const next = formal
    ? `Run ${id}. \`pawl runs phase next --run ${id}\` at each phase's end, \`pawl runs finish ${id}\` at the last.`
    : `Run ${id} waits for its session: type ${found.workflow.arm[0] ?? name} in your agent to take it up.`;
  io.out(`${said}\n${next}\n`);
  return 0;
}

/** Inside an agent's shell: only an offer. It becomes a binding when that session's own tool result shows the id. */
function offerToSession(root: string, id: string): void {
  const session = process.env.CLAUDE_CODE_SESSION_ID;
  if (session && /^[\w-]{1,128}$/.test(session)) offerRun("claude", session, root, id);
}
