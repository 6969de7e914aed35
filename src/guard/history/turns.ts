/** The turns of a session, read from its end like every transcript: a call finds its result already there. */

import { needsTests } from "../../checks/evidence/edits.ts";
import { type Entry, entryMessage, isFromPerson, joinText, listBlocks, string } from "../../hosts/claude/entry.ts";
import { openRegular, piecesFromEnd } from "../../hosts/claude/tail.ts";
import { entriesIn, newestMessage, type Results, readCalls } from "../../hosts/claude/transcript.ts";
import { isInjected } from "../../hosts/claude/wire.ts";
import { inProject } from "../../kernel/project-paths.ts";
import { close } from "../../native/disk.ts";
import { claimsCompletion } from "../core/completion.ts";
import { judgeWeights, type TurnJudgement, type Weight, weigh } from "../core/turns.ts";

export interface Turn {
  at: string;
  cwd: string;
  claim: string;
  judged: TurnJudgement;
  /** the same in every file that repeats the turn, as forks do */
  key: string;
}

/** Comes between the reads, with how many bytes were read. */
export type Pause = (bytes: number) => Promise<void>;

/** a message has few text blocks, and no more of them matter */
const MOST_TEXTS = 16;

/** What follows a prompt; everything in it the newest first. */
interface Part {
  weights: Weight[];
  /** lines with text after the last tool call: the newest of them are the agent's last message */
  texts: Buffer[];
  /** the main agent called a tool */
  called: boolean;
}

const newPart = (): Part => ({ weights: [], texts: [], called: false });

/** `agents`: what the sub-agents did; each belongs to the turn it happened in. The newest turn comes first. */
export async function readTurns(
  path: string,
  agents: Weight[],
  emit: (turn: Turn) => void,
  pause: Pause,
): Promise<void> {
  let part = newPart();
  let newer: (Part & { prompt: Entry }) | null = null;
  let end = "\uffff";
  const emitNewer = () => {
    if (newer === null) return;
    const at = string(newer.prompt.timestamp);
    const own = agents.filter((weight) => weight.at >= at && weight.at < end);
    const turn = buildTurn(newer.prompt, newer, own);
    if (turn !== null) emit(turn);
    end = at;
  };
  await readFile(path, pause, (entry, line, results) => {
    if (entry.type === "assistant") takeAnswer(part, entry, line, results);
    else if (isPersonsPrompt(entry)) {
      const id = string(entry.promptId);
      if (newer !== null && id !== "" && id === newer.prompt.promptId) part = joined(part, newer);
      else emitNewer();
      newer = { ...part, prompt: entry };
      part = newPart();
    }
  });
  emitNewer();
}

/** A sub-agent's own file: only what it did counts, not what it said. */
export async function readAgent(path: string, pause: Pause): Promise<Weight[]> {
  const part = newPart();
  await readFile(path, pause, (entry, line, results) => takeAnswer(part, entry, line, results));
  return part.weights.reverse();
}

type Take = (entry: Entry, line: Buffer, results: Results) => void;

async function readFile(path: string, pause: Pause, take: Take): Promise<void> {
  const file = openRegular(path);
  if ("why" in file) throw new Error(file.why);
  const results: Results = new Map();
  let end = file.size;
  try {
    for (const { lines, start } of piecesFromEnd(file.fd, file.size, file.size)) {
      for (const { entry, line } of entriesIn(lines, "agent", results, Number.POSITIVE_INFINITY))
        take(entry, line, results);
      await pause(end - start);
      end = start;
    }
  } finally {
    close(file.fd);
  }
}

function takeAnswer(part: Part, entry: Entry, line: Buffer, results: Results): void {
  if (entry.type !== "assistant") return;
  const isMain = entry.isSidechain !== true;
  const calls = readCalls(entry, "agent", results);
  if (calls.length > 0 && isMain) part.called = true;
  else if (isMain && !part.called && part.texts.length < MOST_TEXTS) part.texts.push(line);
  for (const call of calls) {
    const weight = weigh(inProject(string(entry.cwd))(call));
    if (weight !== null) part.weights.push(weight);
    // No one else asks for it, and a long file has many.
    results.delete(call.id);
  }
}

/** A command that the person typed counts: it is written as <command-name>. */
function isPersonsPrompt(entry: Entry): boolean {
  const { content } = entryMessage(entry);
  if (!isFromPerson(entry) || listBlocks(content, "tool_result").length > 0) return false;
  const text = joinText(content);
  if (/^\s*<command-(?:name|message)>/.test(text)) return true;
  return (text.trim() !== "" || Array.isArray(content)) && !isInjected(text);
}

/** Prompts with the same id belong to one turn. */
const joined = (older: Part, newer: Part): Part => ({
  weights: [...newer.weights, ...older.weights],
  texts: newer.called ? newer.texts : [...newer.texts, ...older.texts],
  called: newer.called || older.called,
});

/** null: it changed nothing that needs tests, or does not say that the work is done. */
function buildTurn(prompt: Entry, { weights, texts }: Part, agents: Weight[]): Turn | null {
  const all = [...weights.toReversed(), ...agents].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  if (texts.length === 0 || !all.some((weight) => weight.edited.length + weight.after.length > 0)) return null;
  const judged = judgeWeights(all, needsTests);
  const claim = judged.edited.length === 0 ? "" : (newestMessage(texts)?.text ?? "");
  if (!claimsCompletion(claim)) return null;
  const at = string(prompt.timestamp);
  return {
    at,
    cwd: string(prompt.cwd),
    key: `${at} ${joinText(entryMessage(prompt).content).slice(0, 200)}`,
    claim,
    judged,
  };
}
