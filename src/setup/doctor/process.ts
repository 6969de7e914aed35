/** Starts another program and always comes back: a deadline, and no more output than one screen could hold. */
import { after, within } from "../../store/processes/piped.ts";
import { signalGroup } from "../../store/processes/process.ts";

export interface ProgramEnd {
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
export async function runBounded(
  cmd: string[],
  { cwd, input = "", env = process.env, most = 5_000 }: HowToRun,
): Promise<ProgramEnd> {
  const began = performance.now();
  const child = Bun.spawn(cmd, { cwd, env, stdin: Buffer.from(input), stdout: "pipe", stderr: "pipe", detached: true });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const code = await Promise.race([child.exited, after<never>(most)]);
  const late = code === undefined;
  const ms = Math.round(performance.now() - began);
  if (late) child.kill("SIGKILL");
  else await within(GRACE_MS, Promise.all([out.done, err.done]));
  // Everything it started went into its own process group.
  signalGroup(child.pid, "SIGKILL");
  child.unref();
  return { code: late || child.signalCode !== null ? null : code, out: out.text(), err: err.text(), ms, late };
}

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
