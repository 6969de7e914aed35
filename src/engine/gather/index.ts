import { gatherGit } from "../../checks/git.ts";
import { objectsOf } from "../../checks/tree/objects.ts";
import type { Fact, Facts, FileState, Need, ToolCall } from "../../kernel/types/run.ts";
import { insideRoot, lookAt, readText } from "../../store/files.ts";
import { reportPath } from "../core/guide.ts";

/** An agent is asked to read at most this many files. */
const MOST_FILES = 200;

// Loaded when a decision asks for it: most stops do without.
const definitions = () => require("./definition.ts") as typeof import("./definition.ts");
const trees = () => require("../../checks/tree/tree.ts") as typeof import("../../checks/tree/tree.ts");
const gates = () => require("../../checks/measure.ts") as typeof import("../../checks/measure.ts");
const tasks = () => require("../../trackers/next-task.ts") as typeof import("../../trackers/next-task.ts");
const inference = () => require("../../checks/evidence/infer.ts") as typeof import("../../checks/evidence/infer.ts");
const transcripts = () =>
  require("../../hosts/claude/transcript.ts") as typeof import("../../hosts/claude/transcript.ts");

function gatherReport({ root, run }: Sources, file: string): Fact<string> {
  const read = readText(insideRoot(root, reportPath(run, file)));
  return read.ok ? { ok: true, value: read.text } : { ok: false, why: read.why };
}

function gatherFiles(root: string, paths: string[]): Record<string, FileState> {
  return Object.fromEntries(paths.slice(0, MOST_FILES).map((path) => [path, stateOf(root, path)]));
}

function stateOf(root: string, path: string): FileState {
  try {
    return lookAt(insideRoot(root, path)) === undefined ? "missing" : "there";
  } catch {
    return "outside";
  }
}

/** Once the last message is on disk, everything before it is: waiting for it first makes the tool calls complete. */
const toolsOf =
  ({ transcript, tail }: Pick<Sources, "transcript" | "tail">) =>
  (since: string): Fact<ToolCall[]> => {
    if (transcript === null) return NO_TRANSCRIPT;
    if (tail !== "") transcripts().readLastMessage(transcript, tail);
    return transcripts().readToolsSince(transcript, since);
  };

function gatherSeen(
  sources: Sources,
  { rules, since, message, task, names }: Extract<Need, { kind: "seen" }>,
): Facts["seen"] & object {
  const calls = toolsOf(sources)(since);
  // A transcript without a single message of the agent is none: it is broken, or not this session's.
  const whole = sources.transcript === null ? NO_TRANSCRIPT : transcripts().readLastMessage(sources.transcript, "");
  if (!whole.ok) return whole;
  return calls.ok ? { ok: true, value: inference().lookForSignal(rules, calls.value, message, task, names) } : calls;
}

const NO_TRANSCRIPT = { ok: false, why: "no transcript" } as const;

const messageOf = ({ transcript, tail }: Sources): Fact<string> =>
  transcript === null ? NO_TRANSCRIPT : transcripts().readLastMessage(transcript, tail);

/** Where the facts of one event can be had. */
export interface Sources {
  root: string;
  run: string;
  host: string;
  session: string;
  /** no one waits for the answer: checks may take as long as they need */
  patient: boolean;
  transcript: string | null;
  /** the last message as the host gave it */
  tail: string;
}

/** Answers each need with a fact; what cannot be known is a fact that is not ok. */
export function gather(needs: Need[], sources: Sources, facts: Facts): Facts {
  const gathered: Facts = { ...facts };
  for (const need of needs) {
    if (need.kind === "git") gathered.git = gatherGit(sources.root);
    else if (need.kind === "report") gathered.report = gatherReport(sources, need.file);
    else if (need.kind === "files") gathered.files = { ok: true, value: gatherFiles(sources.root, need.paths) };
    else if (need.kind === "definition")
      gathered.definition = definitions().gatherDefinition(sources.root, need.workflow);
    else if (need.kind === "tree") gathered.tree = trees().treeHash(sources.root, objectsOf(sources.root, sources.run));
    else if (need.kind === "gates")
      Object.assign(gathered, gates().gatherGates(need, { ...sources, tools: toolsOf(sources) }));
    else if (need.kind === "task") gathered.task = tasks().gatherTask(sources.root, need.scope, need.id);
    else if (need.kind === "next_task")
      gathered.next_task = tasks().gatherNext(sources.root, need.scope, need.actor, need.wanted, need.peek);
    else if (need.kind === "seen") gathered.seen = gatherSeen(sources, need);
    else if (need.kind === "tools") gathered.tools = toolsOf(sources)(need.since);
    else gathered.message = messageOf(sources);
  }
  return gathered;
}
