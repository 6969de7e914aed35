import type { SignalFamily } from "../types/run.ts";
import { readProse } from "./prose.ts";

/**
 * Signals are claims in the agent's own words. Everything that could be a quotation is no claim.
 */

const EXACT: Record<Exclude<SignalFamily, "none">, RegExp> = {
  promise: /^ {0,3}<promise>([A-Z][A-Z0-9_]*)<\/promise>[ \t]*$/,
  stage: /::: WORKFLOW_STAGE: ([A-Z][A-Z0-9_]*) :::[ \t]*$/,
};
const HINT: Record<Exclude<SignalFamily, "none">, RegExp> = { promise: /promise/i, stage: /workflow.stage/i };
const DECORATION = /^[\s*_#>+\-.]+|[\s*_.!]+$/g;
const ALMOST: Record<Exclude<SignalFamily, "none">, RegExp> = {
  promise: /^<\s*promise\s*>[^<]*<\s*\/\s*promise\s*>$/i,
  stage: /^:::?\s*workflow[_ ]stage\s*:.*:::?$/i,
};
/** No marker needs more; keeps hostile lines from costing more than they are worth. */
const LOOK = 400;

export interface Signals {
  /** in the order of the text, repeats included */
  found: string[];
  /** lines that were plainly meant as a signal and are none */
  malformed: string[];
  /** something follows the last signal */
  trailing: boolean;
}

export function parseSignals(text: string, family: SignalFamily): Signals {
  const signals: Signals = { found: [], malformed: [], trailing: false };
  // Most messages hold nothing of the kind, and need not be read as Markdown.
  if (family === "none" || !HINT[family].test(text)) return signals;
  for (const line of proseLines(text)) {
    if (!HINT[family].test(line)) continue;
    const exact = EXACT[family].exec(line);
    if (exact) signals.found.push(exact[1]!);
    else if (line.length < LOOK && ALMOST[family].test(line.replace(DECORATION, "")))
      signals.malformed.push(line.trim().slice(0, 120));
  }
  const lines = text.trimEnd().split(/\r\n|\n|\r/);
  signals.trailing = signals.found.length > 0 && !EXACT[family].test(lines.at(-1) ?? "");
  return signals;
}

/** The lines of a Markdown text that are the writer's own words, all of them. */
export function proseLines(text: string): string[] {
  const prose: string[] = [];
  readProse(text, (paragraph, own) => {
    if (own === "") return;
    const untouched = own.split("\n");
    for (const [at, line] of paragraph.split("\n").entries()) if (line === untouched[at]) prose.push(line);
  });
  return prose;
}
