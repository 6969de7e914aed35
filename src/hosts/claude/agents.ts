/** The files of a session's sub-agents. */

import { type Found, namesOf, stat as statOf } from "../../native/disk.ts";
import { join } from "../../store/names.ts";

const MOST_AGENTS = 200;

interface AgentFile {
  path: string;
  agent: string;
  size: number;
  changed: number;
}

/** The sub-agents' own transcripts next to the main one, newest first; none is the ordinary case. */
export function agentFiles(path: string, since: number): AgentFile[] {
  const folder = join(path.replace(/\.jsonl$/, ""), "subagents");
  const files = listNames(folder).flatMap((name) => agentFile(folder, name));
  const recent = files.filter((file) => file.changed >= since);
  return recent.sort((a, b) => b.changed - a.changed).slice(0, MOST_AGENTS);
}

function listNames(folder: string): string[] {
  try {
    return namesOf(folder).filter((name) => name.startsWith("agent-") && name.endsWith(".jsonl"));
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

function statIfThere(path: string): Found | null {
  try {
    return statOf(path);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
}

function agentFile(folder: string, name: string): AgentFile[] {
  const path = join(folder, name);
  const stat = statIfThere(path);
  if (!stat?.isFile()) return [];
  const agent = name.replace(/\.jsonl$/, "").slice("agent-".length);
  return [{ path, agent, size: stat.size, changed: stat.mtimeMs }];
}
