/** The person's own status line, run as before, with ours below it. */

const LIMIT_MS = 2_000;
const MOST_BYTES = 64 * 1024;
const STDIN_MS = 2_000;

/** `ours` gets what the client wrote; undefined if it is no JSON. */
export async function runWrapped(
  command: string,
  ours: (value: unknown) => Promise<Uint8Array>,
  say: (text: Uint8Array) => Promise<void>,
): Promise<void> {
  const input = await readAll();
  const theirs = runTheirs(command, input);
  const below = process.env.PAWL === "0" ? new Uint8Array() : await ours(parsed(input));
  await say(theirs);
  if (below.length > 0 && theirs.length > 0 && theirs.at(-1) !== 10) await say(new Uint8Array([10]));
  await say(below);
}

function parsed(input: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(input));
  } catch {
    return undefined;
  }
}

/** Byte for byte, as theirs may be particular. A client that keeps the pipe open is not waited for. */
async function readAll(): Promise<Uint8Array> {
  const reader = Bun.stdin.stream().getReader();
  const late = Bun.sleep(STDIN_MS).then(() => null);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const next = await Promise.race([reader.read(), late]);
    if (next === null || next.done) return new Uint8Array(Bun.concatArrayBuffers(chunks));
    chunks.push(next.value);
  }
}

/** What it started and left behind is ended with it. Its complaints go nowhere, as the client would not show them. */
function runTheirs(command: string, input: Uint8Array): Uint8Array {
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
    endGroup(pid);
    return stdout;
  } catch {
    return new Uint8Array();
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // nobody left
  }
}
