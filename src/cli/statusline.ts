import { readStdin } from "../quick.ts";
import { statusLine } from "../statusline.ts";
import { write } from "../store/disk.ts";
import { logError } from "../store/errors.ts";

export const summary = "one line for the client's status line: the session's run, or the next task";
export const usage = `usage: pawl statusline [--wrap COMMAND]

What Claude Code calls to fill its status line (statusLine in its settings), with its JSON on stdin. Prints one line of
at most 80 columns: the session's run with its stages and what it waits for; without a run the next task of session.md;
or nothing. The cost figures that the client hands over are kept with the run.

  --wrap         the status line you had before: it is run first (sh -c, the same stdin, two seconds at most), its
                 output is printed as it is, and Pawl's line below it

Always exits with 0. Switched off (\`pawl off\`, PAWL=0), it prints only what the wrapped command says.`;

export async function run(args: string[]): Promise<number> {
  const wrapped = wrappedBy(args);
  if (wrapped !== null) {
    const { runWrapped } = await import("../statusline-wrap.ts");
    await runWrapped(wrapped, ourLine, say);
  } else if (process.env.PAWL !== "0") {
    const input = await readStdin();
    if ("value" in input) say(ourLine(input.value));
  }
  return 0;
}

function wrappedBy(args: string[]): string | null {
  const at = args.indexOf("--wrap");
  const inline = args.find((arg) => arg.startsWith("--wrap="));
  return inline?.slice("--wrap=".length) ?? (at < 0 ? null : (args[at + 1] ?? null));
}

/** Whatever is wrong, the client's screen is no place to say so. */
function ourLine(value: unknown): string {
  try {
    const line = statusLine(value, new Date().toISOString());
    return line === "" ? "" : `${line}\n`;
  } catch (error) {
    logError(null, "statusline", error);
    return "";
  }
}

function say(text: string | Uint8Array): void {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += write(1, bytes, at, bytes.length - at);
  } catch {
    // the reader has closed it
  }
}
