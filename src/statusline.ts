/**
 * The one line below the client's prompt: the session's run, or the next task. The client asks for it after every message,
 * so a session without a run loads little, and no other program is asked.
 */
import { lookAt } from "./store/files.ts";
import { statePath } from "./store/home.ts";
import { isPlainName } from "./store/names.ts";

const WIDTH = 80;

/** "": nothing to say. `value` is what the client wrote. */
export async function statusLine(value: unknown, at: string): Promise<string> {
  if (typeof value !== "object" || value === null) return "";
  const { session_id: session, cwd, workspace } = value as Record<string, unknown>;
  const isKnown = typeof session === "string" && isPlainName(session);
  if (isKnown && lookAt(statePath("sessions", `claude-${session}`)) !== undefined) {
    const { sessionRun } = await import("./statusline-run.ts");
    const said = sessionRun(session, value, at);
    if (said !== null) return said === "off" ? "" : fitting(said);
  }
  const folder = (workspace as Record<string, unknown> | null | undefined)?.project_dir ?? cwd;
  if (typeof folder !== "string" || !folder.startsWith("/")) return "";
  const { nextTask } = await import("./statusline-task.ts");
  const next = await nextTask(folder, Date.parse(at));
  return next === "" ? "" : fitting([`Next: ${next}`]);
}

/** The first that fits, else the last, cut. */
function fitting(lines: string[]): string {
  for (const line of lines) if (Bun.stringWidth(line) <= WIDTH) return line;
  let line = "";
  for (const sign of lines.at(-1) ?? "") {
    if (Bun.stringWidth(`${line}${sign}…`) > WIDTH) break;
    line += sign;
  }
  return `${line}…`;
}
