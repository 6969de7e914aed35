import { nextText } from "../../formal/core/state.ts";
import type { Effect, Facts, Run, RunDocument, Workflow } from "../../kernel/types/run.ts";
import { stepNumber } from "../../kernel/types/workflow.ts";

/** The readable file of a run. It never decides anything. What others write into it is kept. */

const OURS = ["step", "commit_hash", "last_promise", "timestamp", "session_id", "run", "decision"];

export interface ParsedDocument {
  keys: Record<string, string>;
  body: string;
}

/** null: no front matter, so nothing we could read. */
export function parseFrontMatter(text: string): ParsedDocument | null {
  const match = /^---\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!match || text.includes("\u0000")) return null;
  const keys: Record<string, string> = {};
  let current = "";
  for (const line of match[1]!.split(/\r?\n/)) {
    const key = /^([A-Za-z_][\w-]*):/.exec(line)?.[1];
    if (key) current = key;
    else if (!current && line.trim() !== "") return null;
    if (current) keys[current] = keys[current] === undefined ? line : `${keys[current]}\n${line}`;
  }
  return { keys, body: text.slice(match[0].length) };
}

export const isOurKey = (workflow: Workflow, key: string) =>
  OURS.includes(key) || key in (workflow.document?.flags ?? {});

/** Takes over what others wrote: keys unknown to us and the text below. A key once seen and now missing was removed. */
export function importDocument(document: RunDocument, parsed: ParsedDocument, workflow: Workflow): RunDocument {
  const theirs = Object.fromEntries(Object.entries(parsed.keys).filter(([key]) => !isOurKey(workflow, key)));
  const unseen = Object.fromEntries(Object.entries(document.extra).filter(([key]) => !document.seen.includes(key)));
  return { ...document, extra: { ...unseen, ...theirs }, body: parsed.body, seen: Object.keys(theirs) };
}

const quoted = (text: string | null) => (text === null ? "null" : JSON.stringify(text));

export function renderFrontMatter(run: Run, workflow: Workflow): string {
  const flags = Object.entries(workflow.document?.flags ?? {});
  const lines = [
    `step: ${stepNumber(workflow, run.stage)}`,
    ...flags.map(([flag, stage]) => `${flag}: ${run.done[stage] !== undefined}`),
    `commit_hash: ${quoted(run.commit_hash)}`,
    `last_promise: ${quoted(run.last_signal)}`,
    `timestamp: ${quoted(run.moved_at.replace(/\.\d+Z$/, "Z"))}`,
    `session_id: ${quoted(run.owner?.session ?? null)}`,
    `run: ${quoted(run.id)}`,
    `decision: ${quoted(run.decision?.choice ?? null)}`,
    ...Object.values(run.document.extra),
  ];
  return `---\n${lines.join("\n")}\n---\n${run.document.body}`;
}

/** The effects that bring the file in line with the run. */
export function projectDocument(run: Run, workflow: Workflow, facts: Facts): Effect[] {
  const { path } = run.document;
  if (path === "" || !facts.document?.ok) return [];
  const { state, text, hash } = facts.document.value;
  const effects: Effect[] = state === "broken" ? [{ kind: "quarantine", path }] : [];
  if (run.status === "ended") return [...effects, { kind: "document", path, text: null, expect: hash }];
  run.document.written = true;
  const wanted = run.formal ? nextText(run, run.formal, text) : renderFrontMatter(run, workflow);
  if (state === "present" && text === wanted) return effects;
  effects.push({ kind: "document", path, text: wanted, expect: state === "broken" ? "" : hash });
  return effects;
}
