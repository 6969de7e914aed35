/** What the person asked for in this conversation before they typed a command: the name they would give the work. */

import { entryMessage, isFromPerson, joinText, parseLine } from "./entry.ts";
import { linesFromEnd, pollFile } from "./tail.ts";
import { isInjected } from "./wire.ts";

const REACH = 8 * 1024 * 1024;
/** longer lines hold pictures or whole files */
const LONGEST_LINE = 256 * 1024;
const LONGEST_REQUEST = 4_000;

const TYPE_USER = Buffer.from('"type":"user"');
const TOOL_RESULT = Buffer.from('"tool_result"');

/** "": nothing was asked since the last command, or no one can tell. */
export function readRequest(path: string): string {
  const found = pollFile(
    path,
    0,
    (fd, size) => firstSinceCommand(linesFromEnd(fd, size, REACH)),
    () => true,
  );
  return found.ok ? found.value : "";
}

/** Backwards. The newest commands are what is being typed now; the one before the requests belongs to earlier work. */
function firstSinceCommand(lines: Iterable<Buffer>): string {
  let request = "";
  for (const line of lines) {
    const said = line.length <= LONGEST_LINE && line.includes(TYPE_USER) ? readSaid(line) : "";
    if (isCommand(said) && request !== "") break;
    // “yes” and “go on” name nothing.
    if (/\S\s+\S+\s+\S/.test(said) && !isCommand(said) && !isInjected(said)) request = said;
  }
  return request.slice(0, LONGEST_REQUEST);
}

function readSaid(line: Buffer): string {
  const entry = line.includes(TOOL_RESULT) ? null : parseLine(line);
  return entry && isFromPerson(entry) ? joinText(entryMessage(entry).content).trim() : "";
}

const isCommand = (said: string) => said.startsWith("/") || said.includes("<command-name>");
