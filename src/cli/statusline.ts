import type { Quick } from "../controls/status-line.ts";
import type { Input } from "../fast-path.ts";

export const summary = "one line for the client's status line: the session's run, or the next task";
export const usage = `usage: pawl statusline [--wrap COMMAND]

What Claude Code calls to fill its status line (statusLine in its settings), with its JSON on stdin. Prints one line of
at most 80 columns: the session's run with its stages and what it waits for; without a run the next task of session.md;
or nothing. The cost figures that the client hands over are kept with the run.

  --wrap         the status line you had before: it is run first (sh -c, the same stdin, two seconds at most), its
                 output is printed as it is, and Pawl's line below it

Always exits with 0. Switched off (\`pawl off\`, PAWL=0), it prints only what the wrapped command says.`;

/** Only --help gets as far as the table of commands: main.ts answers everything else. */
export const run = () => 0;

/** `input`: what the client wrote, where main.ts has read it already and has no line for it. */
export async function answer(args: string[], input: Input | null, quick: Quick): Promise<void> {
  const wrapped = wrappedBy(args);
  if (input !== null) {
    if ("value" in input) await say(await madeAnew(input.value, quick), quick);
  } else if (wrapped !== null) {
    const ours = async (value: unknown) => quick.lineAgain(value) ?? (await madeAnew(value, quick));
    await (await import("../controls/status-line-wrap.ts")).runWrapped(wrapped, ours, (text) => say(text, quick));
  }
}

function wrappedBy(args: string[]): string | null {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--wrap") return args[at + 1] ?? null;
    if (arg.startsWith("--wrap=")) return arg.slice("--wrap=".length);
  }
  return null;
}

/** Whatever is wrong, the client's screen is no place to say so. */
async function madeAnew(value: unknown, quick: Quick): Promise<Uint8Array> {
  try {
    const { statusLine } = await import("../controls/status-line.ts");
    return new TextEncoder().encode(await statusLine(value, Date.now(), quick));
  } catch (error) {
    const { logError } = await import("../store/errors.ts");
    logError(null, "statusline", error);
    return new Uint8Array();
  }
}

async function say(text: Uint8Array, quick: Quick): Promise<void> {
  if (quick.sayLine(text)) return;
  const { write } = await import("../native/disk.ts");
  try {
    for (let at = 0; at < text.length; ) at += write(1, text, at, text.length - at);
  } catch {
    // the reader has closed it
  }
}
