/** What a task line says. Files may have thousands: most lines are as Pawl writes them, and those are read in one look. */

import type { TaskState } from "../../kernel/types/task.ts";
import { factsOf, type LineFacts, parseTaskLine, stateOf, stateOfBox } from "./session-line.ts";

export interface Said {
  title: string;
  state: TaskState;
  facts: LineFacts;
}

/** `- [ ] **Name** — `command` | model | restart | #label`: command, restart and label may be left out. */
const USUAL =
  /^[ \t]*[-*+] \[([ x>!-])\] \*\*([^\s*`|](?:[^*`|]*[^\s*`|])?)\*\* — (?:`([^`|]+)` )?\| (?!restart\b)([a-z]+)(?: \| (restart))?(?: \| #([A-Za-z0-9_][A-Za-z0-9_.:/+-]*))?$/;
const LONGEST_USUAL = 1_000;

/** null: no task. */
export function readTaskLine(text: string): Said | null {
  const usual = text.length > LONGEST_USUAL ? null : USUAL.exec(text);
  if (usual !== null) return usualSaid(usual);
  const line = parseTaskLine(text);
  return line && { title: line.title, state: stateOf(line), facts: factsOf(line) };
}

/** By their numbers: to take an array apart by names costs more than all the rest. */
function usualSaid(parts: RegExpExecArray): Said {
  const labels = parts[6] === undefined ? [] : [parts[6]];
  const facts: LineFacts = { labels, priority: 2, owner: null, epic: null, after: [], model: parts[4]! };
  if (parts[3] !== undefined) facts.command = parts[3];
  if (parts[5] !== undefined) facts.restart = true;
  return { title: parts[2]!, state: stateOfBox(parts[1]!), facts };
}
