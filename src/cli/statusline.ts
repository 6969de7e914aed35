import { attempt } from "../kernel/attempt.ts";
import type { Input } from "../kernel/types/input.ts";
import { parseJson, writeAll } from "../store/files.ts";

export const usage = `usage: pawl statusline [--wrap COMMAND]

Claude Code runs this to fill its status line (statusLine in its settings), with its JSON on stdin. Prints one line of
at most 80 columns: the session's run with its stages and what it waits for; without a run, the next task of session.md;
or nothing. The cost figures that the client sends are saved with the run.

  --wrap         the status line you had before: it runs first (sh -c, the same stdin, at most two seconds), its output
                 is printed unchanged, and Pawl's line below it

Always exits with 0. With Pawl off (\`pawl off\`, PAWL=0), it prints only the output of the wrapped command.`;

const LIMIT_MS = 2_000;
const MOST_BYTES = 64 * 1024;

/** Only --help gets as far as the table of commands: main.ts calls `answer` for everything else. */
export const run = () => 0;

/** `read` is the fast way to get the client's JSON; a wrapped command needs the raw bytes instead. */
export async function answer(args: string[], read: () => Input | Promise<Input>): Promise<void> {
  if (args.length > 0) return runWrapped(args);
  if (process.env.PAWL === "0") return;
  const input = await read();
  if ("value" in input) print(await pawlLine(input.value));
}

/** An error must not appear on the client's screen: it is logged instead. */
async function pawlLine(value: unknown): Promise<Uint8Array> {
  if (process.env.PAWL === "0") return new Uint8Array();
  try {
    const { statusLine } = await import("../controls/status-line.ts");
    return new TextEncoder().encode(await statusLine(value, Date.now()));
  } catch (error) {
    const { logError } = await import("../store/errors.ts");
    logError(null, "statusline", error);
    return new Uint8Array();
  }
}

/** A reader that has closed the pipe has read enough. */
function print(text: Uint8Array): void {
  attempt(() => writeAll(1, text), undefined);
}

// ── The person's own status line ────────────────────────────────────────────

async function runWrapped(args: string[]): Promise<void> {
  const command = wrappedCommand(args);
  if (command === null) return;
  const input = await readAll();
  const theirs = runCommand(command, input);
  const ours = await pawlLine(parseJson(new TextDecoder().decode(input)));
  print(theirs);
  if (ours.length > 0 && theirs.length > 0 && theirs.at(-1) !== 10) print(new Uint8Array([10]));
  print(ours);
}

function wrappedCommand(args: string[]): string | null {
  for (const [at, arg] of args.entries()) {
    if (arg === "--wrap") return args[at + 1] ?? null;
    if (arg.startsWith("--wrap=")) return arg.slice("--wrap=".length);
  }
  return null;
}

/** Byte for byte, because the wrapped command may depend on it. A client that keeps the pipe open does not block us. */
async function readAll(): Promise<Uint8Array> {
  const reader = Bun.stdin.stream().getReader();
  const late = Bun.sleep(LIMIT_MS).then(() => null);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const next = await Promise.race([reader.read(), late]);
    if (next === null || next.done) return new Uint8Array(Bun.concatArrayBuffers(chunks));
    chunks.push(next.value);
  }
}

/** Processes that the command leaves running end with it. Its stderr is dropped: the client would not show it either. */
function runCommand(command: string, input: Uint8Array): Uint8Array {
  try {
    const { stdout, pid } = Bun.spawnSync({
      cmd: ["/bin/sh", "-c", command],
      stdin: input,
      stdout: "pipe",
      stderr: "ignore",
      timeout: LIMIT_MS,
      maxBuffer: MOST_BYTES,
      killSignal: "SIGKILL",
      detached: true,
    });
    // Usually no process is left in the group.
    attempt(() => process.kill(-pid, "SIGKILL"), undefined);
    return stdout;
  } catch {
    return new Uint8Array();
  }
}
