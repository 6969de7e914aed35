import { leave, readStdin } from "../quick.ts";

export const summary = "one line for the client's status line: the session's run, or the next task";
export const usage = `usage: pawl statusline [--wrap COMMAND]

What Claude Code calls to fill its status line (statusLine in its settings), with its JSON on stdin. Prints one line of
at most 80 columns: the session's run with its stages and what it waits for; without a run the next task of session.md;
or nothing. The cost figures that the client hands over are kept with the run.

  --wrap         the status line you had before: it is run first (sh -c, the same stdin, two seconds at most), its
                 output is printed as it is, and Pawl's line below it

Always exits with 0. Switched off (\`pawl off\`, PAWL=0), it prints only what the wrapped command says.`;

/** Nothing but `quick` is loaded until it is clear that there may be something to say. */
export async function run(args: string[]): Promise<number> {
  const wrapped = wrappedBy(args);
  if (wrapped !== null) {
    await (await import("../statusline-wrap.ts")).runWrapped(wrapped, ourLine, say);
    return 0;
  }
  if (process.env.PAWL === "0") leave();
  const reading = readStdin();
  const input = "then" in reading ? await reading : reading;
  if ("value" in input && mayHaveLine(input.value)) await say(await ourLine(input.value));
  leave();
}

function wrappedBy(args: string[]): string | null {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--wrap") return args[at + 1] ?? null;
    if (arg.startsWith("--wrap=")) return arg.slice("--wrap=".length);
  }
  return null;
}

/** false only when certain: no run in this session, and nowhere above it a file that could hold or name tasks. */
function mayHaveLine(value: unknown): boolean {
  const { session_id: session, cwd, workspace } = (value ?? {}) as Record<string, unknown>;
  const { HOME } = process.env;
  if (typeof session !== "string" || !HOME || isFilled(`${HOME}/.local/state/pawl/sessions/claude-${session}`))
    return true;
  const folder = (workspace as Record<string, unknown> | undefined)?.project_dir ?? cwd;
  if (typeof folder !== "string" || !folder.startsWith("/")) return false;
  for (let dir = folder; ; dir = dir.slice(0, dir.lastIndexOf("/"))) {
    for (const name of ["session.md", "agents/session.md", "pawl.yaml"]) if (isFilled(`${dir}/${name}`)) return true;
    if (dir === "") return false;
  }
}

const isFilled = (path: string) => Bun.file(path).size > 0;

/** Whatever is wrong, the client's screen is no place to say so. */
async function ourLine(value: unknown): Promise<string> {
  try {
    const { statusLine } = await import("../statusline.ts");
    const line = await statusLine(value, new Date().toISOString());
    return line === "" ? "" : `${line}\n`;
  } catch (error) {
    const { logError } = await import("../store/errors.ts");
    logError(null, "statusline", error);
    return "";
  }
}

async function say(text: string | Uint8Array): Promise<void> {
  const { write } = await import("../store/disk.ts");
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += write(1, bytes, at, bytes.length - at);
  } catch {
    // the reader has closed it
  }
}
