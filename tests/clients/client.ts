/** Drives the real client without a screen: one prompt per process, or a conversation in one process. */
import { claudeBinary } from "./install.ts";
import type { Model } from "./model.ts";
import type { Project } from "./project.ts";

/** One line of the client's stream; only what tests look at is named. */
export interface StreamEvent {
  type: string;
  subtype?: string;
  session_id?: string;
  result?: string;
  key?: string;
  hook_event?: string;
  stdout?: string;
  [key: string]: unknown;
}

export interface HookOutput {
  event: string;
  stdout: string;
  stderr: string;
  code: number;
}

export interface Heard {
  events: StreamEvent[];
  /** what the person reads at the end */
  result: string;
  session: string;
  hookOutputs: HookOutput[];
}

export interface Printed extends Heard {
  code: number;
  stderr: string;
}

export interface PrintOptions {
  resume?: string;
  allow?: string[];
  args?: string[];
  env?: Record<string, string>;
}

const STREAM = ["--output-format", "stream-json", "--verbose", "--include-hook-events"];
const TOOLS = ["Bash", "Read", "Agent"];

function flags({ resume, allow = TOOLS, args = [] }: PrintOptions): string[] {
  return [...STREAM, "--allowedTools", ...allow, ...(resume === undefined ? [] : ["--resume", resume]), ...args];
}

export async function print(
  project: Project,
  model: Model,
  prompt: string,
  options: PrintOptions = {},
): Promise<Printed> {
  const client = Bun.spawn([await claudeBinary(), "-p", prompt, ...flags(options)], {
    cwd: project.root,
    env: { ...project.env(model.url), ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, stderr] = await Promise.all([new Response(client.stdout).text(), new Response(client.stderr).text()]);
  return { ...heard(out.split("\n").flatMap(parse)), code: await client.exited, stderr };
}

/** Several prompts in one process and one session. */
export async function conversation(project: Project, model: Model, options: PrintOptions = {}) {
  const input = ["-p", "--input-format", "stream-json"];
  const client = Bun.spawn([await claudeBinary(), ...input, ...flags(options)], {
    cwd: project.root,
    env: { ...project.env(model.url), ...options.env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const events = linesOf(client.stdout);

  async function ask(content: string): Promise<Heard> {
    client.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    await client.stdin.flush();
    const turn: StreamEvent[] = [];
    do {
      const { value, done } = await events.next();
      if (done) throw new Error(`the client ended before it answered "${content}"`);
      turn.push(value);
    } while (!isAnswered(turn));
    return heard(turn);
  }

  async function close(): Promise<number> {
    if (!client.killed) await client.stdin.end();
    return client.exited;
  }

  /** As a crash or a reboot does it: no hook hears of it. */
  const kill = () => client.kill("SIGKILL");

  return { ask, close, kill };
}

/** Each part of a turn begins with `init` and ends with `result`; while a sub-agent runs in the background, another follows. */
function isAnswered(turn: StreamEvent[]): boolean {
  const count = (holds: (event: StreamEvent) => boolean) => turn.filter(holds).length;
  const tasks = turn.findLast(({ subtype }) => subtype === "background_tasks_changed")?.tasks;
  if (turn.at(-1)!.type !== "result" || (Array.isArray(tasks) && tasks.length > 0)) return false;
  return count(({ type }) => type === "result") >= count(({ subtype }) => subtype === "init");
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield* parse(line);
  }
}

function parse(line: string): StreamEvent[] {
  return line.trim() === "" ? [] : [JSON.parse(line) as StreamEvent];
}

function heard(events: StreamEvent[]): Heard {
  const result = events.findLast((event) => event.type === "result");
  return {
    events,
    result: result?.result ?? "",
    session: result?.session_id ?? "",
    hookOutputs: events.filter((event) => event.subtype === "hook_response").map(hookOutput),
  };
}

function hookOutput(event: StreamEvent): HookOutput {
  return {
    event: event.hook_event ?? "",
    stdout: event.stdout ?? "",
    stderr: String(event.stderr ?? ""),
    code: Number(event.exit_code ?? 0),
  };
}

/** What a person would call an error of a hook, anywhere in the stream. */
export function complaints(events: StreamEvent[]): string[] {
  const visible = events.filter((event) => event.subtype !== "hook_response" && event.type !== "user");
  return visible
    .filter((event) => event.key === "stop-hook-error" || /stop hook error/i.test(JSON.stringify(event)))
    .map((event) => JSON.stringify(event));
}
