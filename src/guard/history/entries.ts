/** What single lines of a transcript mean. Unknown shapes mean nothing. */

import { type Entry, parseLine, record, string, textOf } from "../../hosts/claude/entry.ts";
import { claimsCompletion } from "../core/completion.ts";

/** How texts begin that the client wrote, although they stand where a prompt does. */
const INJECTED =
  /^\s*(?:\[pawl\]|<task-notification>|<system-reminder>|<local-command-|<persisted-output>|<teammate-message|<bash-(?:input|stdout|stderr)>|Caveat: The messages below|Stop hook (?:feedback|additional context|blocking error)|\[Request interrupted by user|This session is being continued from a previous conversation)/;

/** A command that the person typed counts: it is written as <command-name>. */
export function isPersonsPrompt(entry: Entry): boolean {
  if (entry.type !== "user" || entry.isSidechain === true || entry.isMeta === true || entry.isCompactSummary === true)
    return false;
  const { content } = record(entry.message);
  if (Array.isArray(content) && content.map(record).some((block) => block.type === "tool_result")) return false;
  const text = textOf(content);
  return (text.trim() !== "" || Array.isArray(content)) && !INJECTED.test(text);
}

/** The newest message of the main agent, if it claims that the work is done. */
export function claimOf(lines: Buffer[]): string | null {
  const texts: string[] = [];
  let id: string | null = null;
  for (const line of lines.toReversed()) {
    const entry = parseLine(line);
    if (entry === null || !isOwn(entry)) continue;
    const message = record(entry.message);
    const own = string(message.id) || string(entry.uuid);
    if (id !== null && own !== id) break;
    const text = textOf(message.content);
    if (text.trim() === "") continue;
    id = own;
    texts.unshift(text);
  }
  const text = texts.join("\n");
  return claimsCompletion(text) ? text : null;
}

/** Not a sub-agent's, nor made by the client: API errors and fillers. */
function isOwn(entry: Entry): boolean {
  if (entry.type !== "assistant" || entry.isSidechain === true || entry.isApiErrorMessage === true) return false;
  return record(entry.message).model !== "<synthetic>";
}
