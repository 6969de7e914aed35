/** Which transcripts are on this machine. Of the files at most the head is read here. */

import { agentsFolder, namesIn, type TranscriptFile, transcriptsIn } from "../../hosts/claude/folders.ts";
import { openRegular } from "../../hosts/claude/tail.ts";
import { attempt } from "../../kernel/attempt.ts";
import { close, read } from "../../native/disk.ts";
import { messageOf } from "../../store/files.ts";
import { join } from "../../store/names.ts";

const HEAD = 16 * 1024;

export interface Transcript {
  path: string;
  size: number;
  /** the sub-agents' own files */
  agents: TranscriptFile[];
}

export interface FoundSession {
  /** false: there is no such folder */
  there: boolean;
  transcripts: Transcript[];
  unread: UnreadFile[];
}

export interface UnreadFile {
  path: string;
  why: string;
}

export interface HistoryRequest {
  /** files that were not touched since then cannot matter; null: all */
  since: number | null;
  /** only sessions begun in or below this folder */
  project: string | null;
}

export function findTranscripts(folder: string, { since, project }: HistoryRequest): FoundSession {
  const found: FoundSession = { there: true, transcripts: [], unread: [] };
  const fail = (path: string, error: unknown) => void found.unread.push({ path, why: messageOf(error) });
  const projects = namesIn(folder, fail);
  if (projects === null) return { ...found, there: false };
  const named = projects.filter((name) => isWanted(name, project));
  // Names are only a short cut: where none fits, the sessions' own words decide.
  for (const name of named.length > 0 ? named : projects) {
    const files = transcriptsIn(join(folder, name), fail);
    const loose = files.filter(isAgent).map((file) => ({ file, session: sessionName(file.path) }));
    for (const { path, size, name, changed } of files.filter((file) => !isAgent(file))) {
      if (since !== null && changed < since) continue;
      const own = loose.filter(({ session }) => session === name).map(({ file }) => file);
      found.transcripts.push({ path, size, agents: [...transcriptsIn(agentsFolder(path), fail), ...own] });
    }
  }
  return found;
}

/** The client names the folder after the project's: whatever is no letter or digit becomes a dash. */
function isWanted(name: string, project: string | null): boolean {
  if (project === null) return true;
  const coded = project.replace(/[^A-Za-z0-9]/g, "-");
  return name === coded || name.startsWith(`${coded}-`);
}

/** Some versions keep the sub-agents' files next to the session's, which is named in their first line. */
const isAgent = ({ name }: TranscriptFile) => name.startsWith("agent-");

function sessionName(path: string): string {
  const file = openRegular(path);
  if ("why" in file) return "";
  const head = Buffer.alloc(HEAD);
  const text = attempt(() => head.toString("latin1", 0, read(file.fd, head, 0, HEAD, 0)), "");
  close(file.fd);
  return /"sessionId":\s*"([^"]{1,128})"/.exec(text)?.[1] ?? "";
}
