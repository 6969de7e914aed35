import type { Json } from "../../kernel/types/run.ts";

/** The journal in plain words, for `log` and `explain`. Unknown kinds are shown as they are. */

type Fields = Record<string, Json | undefined>;

const text = (value: Json | undefined) => (typeof value === "string" ? value : JSON.stringify(value ?? null));
const list = (value: Json | undefined) => (Array.isArray(value) ? value.map(text).join(", ") : text(value));

const verdict = (r: Fields) => {
  const more = [r.verdict === "pass" && r.proof ? text(r.proof) : "", r.flaky ? "flaky" : ""].filter(Boolean);
  return more.length > 0 ? `${text(r.verdict)} (${more.join(", ")})` : text(r.verdict);
};
const tree = (value: Json | undefined) =>
  typeof value === "string" && value !== "" ? ` @ tree ${value.slice(0, 10)}` : "";

export const WORDS: Record<string, (r: Fields) => string> = {
  armed: (r) => `a run begins: ${Array.isArray(r.plan) ? r.plan.map(text).join(" → ") : ""}`,
  adopted: (r) => `this session takes the run over (before: ${text(r.from)})`,
  released: () => "the run is free for another session",
  prompted: (r) => (r.injected ? "text injected by the host, not the person's" : `the person: “${text(r.said)}”`),
  stopped: (r) => `the agent wants to stop: “${text(r.said)}”`,
  signalled: (r) => `it claims ${text(r.signal)}${r.trailing ? " (with text after it)" : ""}`,
  multiple_signals: (r) => `several signals (${list(r.signals)}): the last one counts`,
  malformed: (r) => `almost a signal, but none: ${list(r.lines)}`,
  missing: (r) => (r.why === "no signal" ? "no signal" : `no signal: ${text(r.why)}`),
  ignored: (r) => `${r.signal ? text(r.signal) : list(r.signals)} is ignored: ${text(r.why)}`,
  repeated: () => "word for word the same as before: no new claim",
  gated: (r) =>
    `gate ${text(r.gate ?? "")}: ${verdict(r)}, ${text(r.why)}${tree(r.tree)}${r.again ? " (as before)" : ""}`,
  refused: (r) => `refused: ${text(r.gate)} is ${text(r.verdict)}, ${text(r.why)}`,
  held: (r) => `${r.signal} waits for ${list(r.agents)}`,
  checking: (r) => `still running: ${list(r.gates)}`,
  approved: (r) => `${text(r.who)} approves ${text(r.gate)} by ${text(r.how)} (it was ${text(r.was)})${tree(r.tree)}`,
  changed: (r) => `the workflow was changed while it ran: ${list(r.changes)}`,
  accepted: (r) => `${text(r.who)} accepts the changed workflow`,
  inferred: (r) => `no signal, but ${text(r.evidence)}: ${text(r.signal)}`,
  asked_agent: () => "the agent is asked which stage it is at",
  task_done: (r) => `task ${text(r.task)} is done: ${text(r.title)}`,
  task_begun: (r) => `task ${text(r.task)} begins: ${text(r.title)}`,
  iteration_begun: (r) => `iteration ${text(r.iteration)} begins in a fresh session`,
  looped: (r) => `iteration ${text(r.iteration)}: ${text(r.verdict)}, ${text(r.why)}`,
  loop_ended: (r) => `⇒ the loop ends: ${text(r.outcome)}, ${text(r.why)}`,
  advanced: (r) => `${text(r.from)} is done → ${text(r.to)}`,
  replanned: (r) => `new plan: ${list(r.plan)}`,
  phased: (r) => `phase ${text(r.from)} → ${text(r.to)}, ${text(r.name)} (by ${text(r.by)})`,
  mended: (r) => `the document was fixed: ${list(r.what)}`,
  unread: (r) => `required reading not read since the restore: ${list(r.files)}`,
  halted: (r) => `stopped, everything kept: ${text(r.why)}`,
  asked: (r) =>
    `the person has to decide (${text(r.ask)})${Array.isArray(r.issues) && r.issues.length > 0 ? `: ${list(r.issues)}` : ""}`,
  decided: (r) => `the person decides: ${text(r.choice)} (by ${text(r.how)})`,
  reported: (r) => `report of ${text(r.agent) || "the agent"} kept as ${text(r.file)}`,
  shown: (r) => `the report ${text(r.report)} is shown`,
  continued: (r) => `⇒ the agent goes on${typeof r.idle === "number" && r.idle > 0 ? ` (idle round ${r.idle})` : ""}`,
  owed: () => "instruction sent; waiting for delivery",
  delivered: () => "the instruction has arrived",
  undelivered: (r) => `delivery of the instruction not confirmed (sent ${text(r.times)}×)`,
  paused: (r) => `paused: ${text(r.why)}`,
  resumed: (r) => text(r.why),
  checkpointed: (r) => `compaction (${text(r.trigger)}) is about to begin; nothing is lost`,
  restored: (r) => `after ${text(r.source)}: the agent gets its place again`,
  removed: (r) => `${text(r.path)} was removed`,
  commanded: (r) =>
    r.name === "decide" ? "the person decides from outside the session" : `command: pawl runs ${text(r.name)}`,
  doubled: (r) => `the hook is installed twice (${text(r.first)} and ${text(r.second)}); only the first counts`,
  noticed,
  left: (r) => `the session ended (${text(r.reason)})`,
  errored: (r) => `error: ${text(r.why ?? r.what)}`,
  ended: (r) =>
    `⇒ the run ends: ${text(r.outcome)}${typeof r.commit === "string" ? `, commit ${r.commit.slice(0, 12)}` : ""}`,
};

const NOTIFIED: Readonly<Record<string, string>> = {
  permission_prompt: "the host asks the person for a permission",
  idle_prompt: "the host waits for the person",
  elicitation_dialog: "the host asks the person something",
};

function noticed({ what, detail }: Fields): string {
  const named = text(detail);
  if (what === "permission") return `the agent asks for a permission${named && ` for ${named}`}`;
  if (what === "expansion") return `the person typed /${named}`;
  return Object.hasOwn(NOTIFIED, named) ? NOTIFIED[named]! : `${text(what)}: ${named}`;
}

export function inWords(record: Fields): string {
  const kind = text(record.kind);
  return Object.hasOwn(WORDS, kind) ? WORDS[kind]!(record) : kind;
}
