import { gatherGit } from "../../checks/git.ts";
import { attempt } from "../../kernel/attempt.ts";
import { inProject } from "../../kernel/project-paths.ts";
import type { Fact, Facts, FileState, Need, NotesFact, ToolCall } from "../../kernel/types/run.ts";
import { objectsFolder } from "../../store/bases.ts";
import { insideRoot, lookAt, type ReadResult, readText } from "../../store/files.ts";
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

function gatherNotes(root: string, path: string): Fact<NotesFact | null> {
  const refused: ReadResult = { ok: false, why: "unreadable" };
  const read = attempt(() => readText(insideRoot(root, path), 1 << 20), refused);
  if (!read.ok) return read.why === "missing" ? { ok: true, value: null } : { ok: false, why: read.why };
  const changed = lookAt(insideRoot(root, path))?.mtimeMs ?? 0;
  return { ok: true, value: { text: read.text, changed_at: new Date(changed).toISOString() } };
}

function gatherFiles(root: string, paths: string[]): Record<string, FileState> {
  const fileState = (path: string) => (lookAt(insideRoot(root, path)) === undefined ? "missing" : "there");
  return Object.fromEntries(
    paths.slice(0, MOST_FILES).map((path) => [path, attempt(() => fileState(path), "outside")]),
  );
}

/** Once the last message is on disk, everything before it is: waiting for it first makes the tool calls complete. */
const readTools =
  ({ root, transcript, tail }: Pick<Sources, "root" | "transcript" | "tail">) =>
  (since: string): Fact<ToolCall[]> => {
    if (transcript === null) return NO_TRANSCRIPT;
    if (tail !== "") transcripts().readLastMessage(transcript, tail);
    const calls = transcripts().readToolsSince(transcript, since);
    return calls.ok ? { ok: true, value: calls.value.map(inProject(root)) } : calls;
  };

/** What a call was given, or gave back, names the agent: it was started by it, or sent on. */
function gatherAgents(sources: Sources, since: string, ids: string[]): Fact<string[]> {
  const calls = readTools(sources)(since);
  if (!calls.ok) return calls;
  const texts = calls.value.map(({ input, result }) => JSON.stringify([input, result?.data ?? result?.text ?? ""]));
  return { ok: true, value: ids.filter((id) => texts.some((text) => text.includes(id))) };
}

function gatherSeen(
  sources: Sources,
  { rules, since, message, task, names }: Extract<Need, { kind: "seen" }>,
): Facts["seen"] & object {
  const calls = readTools(sources)(since);
  // A transcript without a single message of the agent is none: it is broken, or not this session's.
  const whole = sources.transcript === null ? NO_TRANSCRIPT : transcripts().readLastMessage(sources.transcript, "");
  if (!whole.ok) return whole;
  return calls.ok ? { ok: true, value: inference().lookForSignal(rules, calls.value, message, task, names) } : calls;
}

const NO_TRANSCRIPT = { ok: false, why: "no transcript" } as const;

const lastMessage = ({ transcript, tail }: Sources): Fact<string> =>
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
    else if (need.kind === "notes") gathered.notes = gatherNotes(sources.root, need.path);
    else if (need.kind === "definition")
      gathered.definition = definitions().gatherDefinition(sources.root, need.workflow);
    else if (need.kind === "tree")
      gathered.tree = trees().treeHash(sources.root, objectsFolder(sources.root, sources.run));
    else if (need.kind === "gates")
      Object.assign(gathered, gates().gatherGates(need, { ...sources, tools: readTools(sources) }));
    else if (need.kind === "task") gathered.task = tasks().gatherTask(sources.root, need.scope, need.id);
    else if (need.kind === "next_task")
      gathered.next_task = tasks().gatherNext(sources.root, need.scope, need.actor, need.wanted, need.peek);
    else if (need.kind === "seen") gathered.seen = gatherSeen(sources, need);
    else if (need.kind === "agents") gathered.agents = gatherAgents(sources, need.since, need.ids);
    else if (need.kind === "tools") gathered.tools = readTools(sources)(need.since);
    else gathered.message = lastMessage(sources);
  }
  return gathered;
}
