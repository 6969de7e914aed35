import type { Incoming } from "../engine/advance.ts";
import { begin, recentCalls } from "../engine/begin.ts";
import type { Beginning } from "../engine/core/begin.ts";
import type { Event, Run, ToolCall } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { insideRoot, lookAt } from "../store/files.ts";
import { listArchived, listRuns, loadRun } from "../store/runs.ts";
import { type DetectedWorkflow, detectIn, NOTES } from "./core/detect.ts";
import { type ParsedFormal, parseFormal } from "./core/state.ts";
import { findDocuments, readNotes, readPlans } from "./find.ts";

/** Formal workflows that no one registered: documents written by agents, notes and plans. Looked for only when the
 * conversation is about to be lost, or has been. */

const WEEK_MS = 7 * 24 * 3600 * 1000;

export interface UnclaimedDocument {
  path: string;
  parsed: ParsedFormal;
}

/** Makes runs of what this session wrote or plainly works on; says how many it bound. */
export async function discover(incoming: Incoming, root: string): Promise<number> {
  const unclaimed = unclaimedDocuments(root);
  const written = unclaimed.length === 0 ? [] : writtenBy(incoming, root, unclaimed);
  const source = written.length === 0 ? detected(root) : null;
  for (const { path, parsed } of written) await remember(incoming, root, buildBeginning(parsed), path);
  if (!source || !isFree(root, source, incoming.event)) return written.length;
  const { name, type, ...content } = source.found;
  const formal = buildBeginning({ name, type, created_at: null, content: { ...content, extra: {} } });
  await remember(incoming, root, { ...formal, notes: source.path }, null);
  return 1;
}

/** By command: the document at this path becomes a run that no session has yet. */
export async function adoptDocument(incoming: Incoming, root: string, path: string): Promise<string | null> {
  const stray = unclaimedDocuments(root).find((one) => one.path === path);
  return stray ? remember(incoming, root, buildBeginning(stray.parsed), path) : null;
}

/** Documents that belong to no run. The runs are loaded only if one does not say whose it is. */
export function unclaimedDocuments(root: string): UnclaimedDocument[] {
  const unclaimed = findDocuments(root).flatMap(({ path, text }) => {
    const parsed = parseFormal(text);
    return typeof parsed === "string" || isLive(root, parsed.run) ? [] : [{ path, parsed }];
  });
  if (unclaimed.length === 0) return [];
  const ours = new Set(liveFormal(root).map((run) => run.document.path));
  return unclaimed.filter(({ path }) => !ours.has(path));
}

const isLive = (root: string, run: string | null) =>
  run !== null && /^[a-z0-9][a-z0-9-]{0,63}$/.test(run) && lookAt(insideRoot(root, `.pawl/runs/${run}`)) !== undefined;

function liveFormal(root: string): Run[] {
  return listRuns(root).flatMap(({ id }) => {
    try {
      const run = loadRun(root, id)?.commit.run;
      return run?.formal ? [run] : [];
    } catch (error) {
      logError(root, "discover", error);
      return [];
    }
  });
}

/** A document is taken only by the session whose own tool calls name it. */
function writtenBy(incoming: Incoming, root: string, unclaimed: UnclaimedDocument[]): UnclaimedDocument[] {
  const calls = recentCalls(incoming, root, WEEK_MS);
  return unclaimed.filter(({ path }) => calls.some((call) => isWrite(call, path)));
}

const WRITERS = ["Write", "Edit", "MultiEdit", "Bash"];

const isWrite = (call: ToolCall, path: string) =>
  WRITERS.includes(call.name) && call.result?.error !== true && JSON.stringify(call.input).includes(path);

interface Source {
  found: DetectedWorkflow;
  /** of the notes or the plan */
  path: string;
}

function detected(root: string): Source | null {
  const notes = { path: NOTES, text: readNotes(root) ?? "" };
  for (const { path, text } of [notes, ...readPlans(root)]) {
    const found = detectIn(text, path);
    if (found) return { found, path };
  }
  return null;
}

/**
 * Not if this session has a formal workflow, or any run has that name. What was brought to an end does not come back
 * because its notes still lie there; changed notes are a new beginning.
 */
function isFree(root: string, { found, path }: Source, event: Event): boolean {
  const live = liveFormal(root);
  if (live.some((run) => run.owner?.session === event.session || run.formal!.name === found.name)) return false;
  const changed = lookAt(insideRoot(root, path))?.mtimeMs ?? 0;
  return !listArchived(root).some(
    ({ commit: { run, forged } }) =>
      !forged && run.formal?.name === found.name && Date.parse(run.updated_at) >= changed,
  );
}

/** Only the current phase is known by its name. */
function buildBeginning({ name, type, created_at, content }: Omit<Beginning, "phases">): Beginning {
  const { current, total, name: phase } = content.phase;
  const length = Math.min(total, 200);
  const phases = Array.from({ length }, (_, i) => (i + 1 === current ? phase : `Phase ${i + 1}`));
  return { name, type, phases, content, created_at };
}

/** The session of the event has it from then on; a command's run has no session yet. */
async function remember(incoming: Incoming, root: string, formal: Beginning, path: string | null) {
  const { findByName } = await import("../definitions/registry.ts");
  const custom = findByName("custom", root);
  if (!custom || "errors" in custom) return null;
  const { run, reply } = begin({ incoming, root, workflow: custom.workflow, formal, ...(path !== null && { path }) });
  reply.after();
  return run;
}
