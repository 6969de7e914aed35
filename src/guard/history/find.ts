/** Which transcripts lie on this machine. Of the files at most the head is read here. */

import { closeSync, constants, openSync, readdirSync, readSync, statSync } from "node:fs";
import { describe } from "../../hosts/claude/tail.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";

const HEAD = 16 * 1024;

export interface Transcript {
  path: string;
  size: number;
  /** the sub-agents' own files */
  agents: { path: string; size: number }[];
}

export interface Found {
  /** where they were looked for */
  folder: string;
  /** false: there is no such folder */
  there: boolean;
  transcripts: Transcript[];
  unread: Unread[];
}

export interface Unread {
  path: string;
  why: string;
}

export interface Wanted {
  /** files that were not touched since then cannot matter; null: all */
  since: number | null;
  /** only sessions begun in or below this folder */
  project: string | null;
}

export function transcriptsFolder(): string {
  return join(process.env.CLAUDE_CONFIG_DIR || join(homeDir(), ".claude"), "projects");
}

export function findTranscripts(folder: string, wanted: Wanted): Found {
  const found: Found = { folder, there: true, transcripts: [], unread: [] };
  const projects = namesIn(folder, found);
  if (projects === null) return { ...found, there: false };
  const named = projects.filter((one) => isWanted(one, wanted.project));
  // Names are only a short cut: where none fits, the sessions' own words decide.
  for (const name of named.length > 0 ? named : projects) lookInto(join(folder, name), wanted, found);
  return found;
}

/** The client names the folder after the project's: whatever is no letter or digit becomes a dash. */
function isWanted(name: string, project: string | null): boolean {
  if (project === null) return true;
  const coded = project.replace(/[^A-Za-z0-9]/g, "-");
  return name === coded || name.startsWith(`${coded}-`);
}

function lookInto(folder: string, { since }: Wanted, found: Found): void {
  const names = namesIn(folder, found)?.filter((name) => name.endsWith(".jsonl")) ?? [];
  const unclaimedDocuments = agentFiles(folder, names.filter(isAgent), found).map((file) => ({
    ...file,
    of: sessionOf(file.path),
  }));
  for (const name of names.filter((one) => !isAgent(one))) {
    const path = join(folder, name);
    const file = fileAt(path, found);
    if (file === null || (since !== null && file.changed < since)) continue;
    const session = name.replace(/\.jsonl$/, "");
    const agents = [
      ...agentsOf(join(folder, session), found),
      ...unclaimedDocuments.filter(({ of }) => of === session),
    ];
    found.transcripts.push({ path, size: file.size, agents });
  }
}

/** Some versions keep the sub-agents' files next to the session's, which is named in their first line. */
const isAgent = (name: string) => name.startsWith("agent-");

function sessionOf(path: string): string {
  try {
    return /"sessionId":\s*"([^"]{1,128})"/.exec(headOf(path))?.[1] ?? "";
  } catch {
    return "";
  }
}

function headOf(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const head = Buffer.alloc(HEAD);
    return head.toString("latin1", 0, readSync(fd, head, 0, HEAD, 0));
  } finally {
    closeSync(fd);
  }
}

function agentsOf(session: string, found: Found): Transcript["agents"] {
  const folder = join(session, "subagents");
  const names = namesIn(folder, found) ?? [];
  return agentFiles(
    folder,
    names.filter((name) => name.endsWith(".jsonl")),
    found,
  );
}

function agentFiles(folder: string, names: string[], found: Found): Transcript["agents"] {
  return names.flatMap((name) => {
    const path = join(folder, name);
    const file = fileAt(path, found);
    return file === null ? [] : [{ path, size: file.size }];
  });
}

/** null: there is no such folder. One that cannot be read is told. */
function namesIn(folder: string, found: Found): string[] | null {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") found.unread.push({ path: folder, why: describe(error) });
    return code === "ENOENT" || code === "ENOTDIR" ? null : [];
  }
}

function fileAt(path: string, found: Found): { size: number; changed: number } | null {
  try {
    const stat = statSync(path);
    return stat.isFile() ? { size: stat.size, changed: stat.mtimeMs } : null;
  } catch (error) {
    found.unread.push({ path, why: describe(error) });
    return null;
  }
}
