/** Where the client keeps its transcripts: a folder for each project, in it a file for each session. */

import { readNames, stat } from "../../native/disk.ts";
import { errorCode, namesOrNone } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";

export const transcriptsFolder = (): string =>
  join(process.env.CLAUDE_CONFIG_DIR || join(homeDir(), ".claude"), "projects");

/** Where a session's transcript may be. */
export function listTranscripts(session: string): string[] {
  const folder = transcriptsFolder();
  return namesOrNone(folder).map((project) => join(folder, project, `${session}.jsonl`));
}

/** The sub-agents' own transcripts are next to the main one; there are none in the ordinary case. */
export const agentsFolder = (path: string): string => join(path.replace(/\.jsonl$/, ""), "subagents");

/** What cannot be read. */
type Fail = (path: string, error: unknown) => void;

/** null: there is no such folder. */
export function namesIn(folder: string, fail: Fail): string[] | null {
  try {
    return readNames(folder).sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return null;
    fail(folder, error);
    return [];
  }
}

export interface TranscriptFile {
  path: string;
  /** without its ending */
  name: string;
  size: number;
  changed: number;
}

export function transcriptsIn(folder: string, fail: Fail): TranscriptFile[] {
  const names = namesIn(folder, fail)?.filter((name) => name.endsWith(".jsonl")) ?? [];
  return names.flatMap((name) => {
    const path = join(folder, name);
    try {
      const found = stat(path);
      const file = { path, name: name.replace(/\.jsonl$/, ""), size: found.size, changed: found.mtimeMs };
      return found.isFile() ? [file] : [];
    } catch (error) {
      fail(path, error);
      return [];
    }
  });
}
