import { didYouMean } from "../definitions/problem.ts";
import type { Beginning } from "../engine/core/begin.ts";
import { minutesBetween, printedRun, spanText, viewRun, waitingText } from "../engine/core/run-view.ts";
import { begin, handleCommand } from "../engine/handle-event.ts";
import { guidance } from "../formal/core/guidance.ts";
import type { UnclaimedDocument } from "../formal/discover.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import { attempt } from "../kernel/attempt.ts";
import type { Answer, CommandName, Json, PhaseChange, Run, Workflow } from "../kernel/types/run.ts";
import { UserError } from "../kernel/user-error.ts";
import { freeClient, offerRun } from "../store/place.ts";
import { agentOfSession } from "../store/processes/person.ts";
import { listArchived, listRuns, loadRun } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { commandEvent } from "./shared/command-event.ts";
import { refuseAgent } from "./shared/confirm.ts";
import { buildView, findRunId, loadCommits, newestFirst, workflowNamed } from "./shared/run.ts";
import { type Facts, factLines } from "./shared/screen.ts";

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
const WORDS = ["list", "show", "start", "phase", "restore", ...ACTIONS];

const FORMAL_OPTIONS = ["--name=", "--phases=", "--reading=", "--context=", "--reminder="];
export const options = ["--all", "--json", "--why=", "--run=", "--accept", ...FORMAL_OPTIONS];

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const [action = "list", ...words] = parsed.words;
  const root = projectRoot(io);
  if (action === "list") return list(root, parsed, io);
  if (action === "show") return show(root, findRunId(root, words[0], true), parsed, io);
  if (action === "start") return start(root, words, parsed, io);
  if (action === "phase") return phase(root, words, parsed, io);
  if (action === "restore") return restore(root, findRunId(root, words[0], false), io);
  if (action === "adopt" && words[0]?.endsWith(".json")) return adoptDocument(root, words[0], io);
  if (action === "resume" && parsed.flags.has("--accept"))
    return (await import("./approve.ts")).accept(root, findRunId(root, words[0], false), io);
  const name = ACTIONS.find((known) => known === action);
  if (!name)
    throw new UserError(`runs cannot ${action}`, didYouMean(action, WORDS, "`pawl runs --help` lists what it can"));
  return act(root, name, words[0], parsed, io);
}

const age = (at: string) => spanText(minutesBetween(at, new Date().toISOString()));

async function list(root: string, parsed: Parsed, io: Io): Promise<number> {
  const live = listRuns(root).flatMap(({ id, owner_gone }) => {
    const loaded = loadRun(root, id);
    return loaded ? [{ run: loaded.commit.run, owner_gone, forged: undefined }] : [];
  });
  const archived = parsed.flags.has("--all") ? listArchived(root) : [];
  const ended = archived.map(({ commit: { run, forged } }) => ({ run, owner_gone: true, forged }));
  const all = newestFirst([...live, ...ended], ({ run }) => run.updated_at);
  const unclaimed = (await import("../formal/discover.ts")).unclaimedDocuments(root);
  const lines = [
    ...all.map(({ run, owner_gone, forged }) => `${line(run, owner_gone)}${forged ? `  ${NOT_OURS}` : ""}`),
    ...unclaimed.map(unclaimedLine),
  ];
  const data = { root, runs: all.map(({ run, ...more }) => ({ ...printedRun(run), ...more })) };
  const none = "No run here. Type /complete-work in your agent to begin one.";
  return print(io, parsed, data, () => `${lines.join("\n") || none}\n`);
}

const NOT_OURS = "its record was not written by Pawl";

const unclaimedLine = ({ path, parsed: { name, content } }: UnclaimedDocument) =>
  `${path}: “${name}”, phase ${content.phase.current}/${content.phase.total}, no run: \`pawl runs adopt ${path}\``;

function line(run: Run, ownerGone: boolean): string {
  const { state } = viewRun(run, { at: run.updated_at, workflow: null, ownerGone, call: openCall(run) });
  const owner = run.owner ? `session ${run.owner.session.slice(0, 8)}${ownerGone ? " (gone)" : ""}` : "no session";
  const stage = run.formal ? `${run.formal.phase.current}/${run.formal.phase.total}` : run.stage;
  const stale = run.status !== "ended" && Date.now() - Date.parse(run.updated_at) > STALE_MS ? "  stale" : "";
  const name = run.formal ? `  ${run.formal.name} - ${run.formal.phase.name} (${run.formal.phase.status})` : "";
  return `${run.id.padEnd(14)}${run.workflow.padEnd(16)}${state.padEnd(11)}${stage.padEnd(10)}${age(run.updated_at).padStart(7)} ago  ${owner}${stale}${name}`;
}

function show(root: string, id: string, parsed: Parsed, io: Io): number {
  const { run, forged } = loadCommits(root, id).at(-1)!;
  return print(io, parsed, { ...printedRun(run), forged }, () => runPage(root, run, forged));
}

function runPage(root: string, run: Run, forged: true | undefined): string {
  const view = buildView(root, run.id, run);
  const { formal } = run;
  const phase =
    formal && `${formal.phase.current}/${formal.phase.total} - ${formal.phase.name} (${formal.phase.status})`;
  const steps = run.plan.map((stage) => {
    const mark = run.done[stage] ? "✅" : stage === run.stage && run.status !== "ended" ? "▶ " : "⊙ ";
    const how = run.done[stage] ? `${run.done[stage].signal}, ${age(run.done[stage].at)} ago` : "";
    return `  ${mark} ${stage.padEnd(10)}${how}`;
  });
  const facts: Facts = [
    ["beware", forged && NOT_OURS],
    ["workflow", run.workflow],
    ["status", run.outcome ? `${run.status}: ${run.outcome}` : run.paused ? `${run.status}, paused` : view.state],
    ["needs you", view.waits && waitingText(view.waits)],
    ["why", run.why],
    ["name", formal?.name],
    ["phase", phase],
    ["reading", formal?.required_reading.join(" ")],
    ["reminders", formal?.key_reminders.join("; ")],
    ["session", run.owner?.session ?? "none"],
    ["decision", run.decision && `${run.decision.choice} (${run.decision.at})`],
    ["pending", view.pending && `an instruction: ${view.pending}`],
    ["report", run.reports.at(-1) && `${run.reports.at(-1)!.file} from ${run.reports.at(-1)!.agent || "the agent"}`],
    ["document", run.document.path],
    ["commit", run.commit_hash],
    ["begun", run.created_at],
  ];
  return `${[run.id, ...factLines(facts, 10, "  "), ...steps].join("\n")}\n\n\`pawl explain ${run.id}\` tells how it got here.\n`;
}

function phase(root: string, words: string[], parsed: Parsed, io: Io): number {
  const id = findRunId(root, parsed.values["--run"], false);
  const event = { ...commandEvent("phase", id, ""), phase: parsePhaseChange(words, parsed) };
  return say(handleCommand(root, id, event), id, "phase", io);
}

function act(root: string, name: CommandName, named: string | undefined, { values }: Parsed, io: Io): number {
  const id = findRunId(root, named, false);
  const run = loadRun(root, id)?.commit.run;
  // Finishing passes the gates, and a formal workflow is the agent's to move.
  if (name !== "finish" && name !== "resume" && !run?.formal) refuseAgent(`${name} its own run`);
  const event = commandEvent(name, id, values["--why"] ?? "");
  const code = say(handleCommand(root, id, event, { patient: true }), id, name, io);
  if (name !== "adopt") return code;
  // An agent may adopt a formal workflow; it may not take a session from its process.
  if (run?.owner && agentOfSession() === null) freeClient(run.owner.host, run.owner.session);
  offerToSession(root, id);
  return code;
}

/** What the agent would get after a compaction, to be pasted by hand. */
function restore(root: string, id: string, io: Io): number {
  const { run } = loadCommits(root, id).at(-1)!;
  if (!run.formal) throw new UserError(`${id} is no formal workflow`, "type its command in the session instead", 1);
  io.out(`${guidance(run.formal, id, "hand")}\n`);
  return 0;
}

/** A document no one registered becomes a run; the session in whose shell this is said gets it offered. */
async function adoptDocument(root: string, path: string, io: Io): Promise<number> {
  const { adoptDocument } = await import("../formal/discover.ts");
  const wanted = path.replace(/^\.\//, "");
  const incoming = { event: commandEvent("start", wanted, ""), transcript: null, cwd: root };
  const id = await adoptDocument(incoming, root, wanted);
  if (!id) throw new UserError(`${path} is no document without a run`, "`pawl runs` lists those that wait", 1);
  offerToSession(root, id);
  io.out(`${path} is run ${id} now.\n`);
  return 0;
}

function say(answer: Answer | null, id: string, name: string, io: Io): number {
  if (!answer) throw new UserError(`run ${id} has ended`, "`pawl runs list --all` shows how", 1);
  if (answer.reason !== undefined)
    throw new UserError(answer.person ?? "refused", `\`pawl runs show ${id}\` shows its state`, 1);
  io.out(`${answer.person ?? `${name}: ${id}`}\n`);
  return 0;
}

function start(root: string, [name, ...stages]: string[], parsed: Parsed, io: Io): number {
  if (!name) throw new UserError("which workflow?", "`pawl list` shows them");
  const workflow = workflowNamed(name, root);
  const known = workflow.stages.map(({ id }) => id);
  const unknown = stages.filter((stage) => !known.includes(stage));
  if (unknown.length > 0)
    throw new UserError(`${name} has no stage ${unknown.join(", ")}`, `it has ${known.join(", ")}`);
  const incoming = { event: commandEvent("start", name, ""), transcript: null, cwd: root };
  const formal = workflow.document?.format === "json" && { formal: buildBeginning(workflow, parsed) };
  const { run: id, reply } = begin({ incoming, root, workflow, ...(formal || { stages }) });
  reply.after();
  const said = reply.answer?.person ?? "";
  const refused = said.replace(/^Pawl: /, "") || "nothing was started";
  if (!id) throw new UserError(refused, "`pawl runs list` shows what is there", 1);
  offerToSession(root, id);
  const word = workflow.arm[0];
  const takeUp =
    word === undefined
      ? `let the agent of one run \`pawl runs adopt ${id}\``
      : `type ${word} in your agent to take it up`;
  const next = formal
    ? `Run ${id}. \`pawl runs phase next --run ${id}\` at each phase's end, \`pawl runs finish ${id}\` at the last.`
    : `Run ${id} waits for its session: ${takeUp}.`;
  io.out(`${said}\n${next}\n`);
  return 0;
}

/** Inside an agent's shell: only an offer. It becomes a binding when that session's own tool result shows the id. */
function offerToSession(root: string, id: string): void {
  const session = process.env.CLAUDE_CODE_SESSION_ID;
  if (session && /^[\w-]{1,128}$/.test(session)) offerRun("claude", session, root, id);
}

// ── Formal workflows ────────────────────────────────────────────────────────

function buildBeginning(workflow: Workflow, { values, lists }: Parsed): Beginning {
  const named = values["--phases"]?.split(",").map((name) => name.trim());
  const phases = named?.filter((name) => name !== "") ?? workflow.stages.map((stage) => stage.title);
  if (phases.length === 0) throw new UserError("--phases names no phase", 'write --phases "Design,Build,Test"');
  const context = Object.fromEntries((lists["--context"] ?? []).map(parsePair));
  return {
    name: values["--name"]?.trim() || workflow.title,
    type: workflow.name,
    phases,
    created_at: null,
    content: {
      phase: { current: 1, total: phases.length, name: phases[0]!, status: "in_progress" },
      required_reading: (lists["--reading"] ?? []).map((path) => (path.startsWith("@") ? path : `@${path}`)),
      context: workflow.name === "qa-loop" ? { iteration: 1, ...context } : context,
      key_reminders: lists["--reminder"] ?? [],
      extra: {},
    },
  };
}

/** `plan_number=1` is a number, `name=user-auth` a text, `list=[1,2]` what JSON says. */
function parsePair(pair: string): [string, Json] {
  const at = pair.indexOf("=");
  if (at < 1) throw new UserError(`${pair} is no pair`, "write --context name=value");
  const text = pair.slice(at + 1);
  return [pair.slice(0, at), attempt(() => JSON.parse(text) as Json, text)];
}

function parsePhaseChange([to, number]: string[], { values }: Parsed): PhaseChange {
  if (to === "next" || to === "done" || to === "block") return { to };
  const hint = "`pawl runs phase next|set N|block|done [--run ID]`";
  if (to !== "set") throw new UserError(to ? `a phase cannot ${to}` : "what about the phase?", hint);
  const current = Number(number);
  if (!Number.isInteger(current) || current < 1) throw new UserError(`${number ?? "nothing"} is no phase number`, hint);
  const name = values["--name"];
  return { to, current, ...(name !== undefined && { name }) };
}
