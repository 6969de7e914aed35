/** Starts another program and always comes back: a deadline, and no more output than one screen could hold. */

export interface Ended {
  /** null: ended by a signal, or not in time */
  code: number | null;
  out: string;
  err: string;
  ms: number;
  late: boolean;
}

export interface HowToRun {
  cwd: string;
  input?: string;
  env?: Record<string, string | undefined>;
  most?: number;
}

const LARGEST_OUTPUT = 256 * 1024;
/** What it left running may hold its pipes open. */
const GRACE_MS = 200;

/** Throws where there is no such program. */
export async function runBounded(cmd: string[], { cwd, input = "", env = process.env, most = 5_000 }: HowToRun) {
  const began = performance.now();
  const child = Bun.spawn(cmd, { cwd, env, stdin: Buffer.from(input), stdout: "pipe", stderr: "pipe", detached: true });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const code = await Promise.race([child.exited, after(most)]);
  const ms = Math.round(performance.now() - began);
  if (code !== "late") await Promise.race([Promise.all([out.done, err.done]), after(GRACE_MS)]);
  else child.kill("SIGKILL");
  endGroup(child.pid);
  child.unref();
  const ended: Ended = {
    code: code === "late" || child.signalCode !== null ? null : code,
    out: out.text(),
    err: err.text(),
    ms,
    late: code === "late",
  };
  return ended;
}

const after = (ms: number) => new Promise<"late">((resolve) => setTimeout(() => resolve("late"), ms));

function collect(stream: ReadableStream<Uint8Array>): { done: Promise<void>; text: () => string } {
  const chunks: Uint8Array[] = [];
  const read = async () => {
    let size = 0;
    for await (const chunk of stream) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LARGEST_OUTPUT) return;
    }
  };
  return { done: read().catch(() => {}), text: () => Buffer.concat(chunks).toString("utf8", 0, LARGEST_OUTPUT) };
}

/** Everything it started went into its own process group. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // no one is left
  }
}
