/** The client as a person sees it: its interactive screen, on a real pseudo-terminal. */
import { claudeBinary } from "./install.ts";
import type { Model } from "./model.ts";
import type { Project } from "./project.ts";
import { makeScreen } from "./screen.ts";

const WIDTH = 140;
const HEIGHT = 60;
const PATIENCE_MS = 60_000;
const TOOLS = ["Bash", "Read", "Agent"];

export async function terminal(project: Project, model: Model, args: string[] = [], allow = TOOLS) {
  const screen = makeScreen(WIDTH, HEIGHT);
  const decoder = new TextDecoder();
  const frames: string[] = [];
  const watchers = new Set<() => void>();

  function draw(bytes: Uint8Array): void {
    screen.feed(decoder.decode(bytes, { stream: true }));
    const frame = screen.text();
    if (frame !== frames.at(-1)) frames.push(frame);
    for (const look of watchers) look();
  }

  const client = Bun.spawn([await claudeBinary(), "--allowedTools", ...allow, ...args], {
    cwd: project.root,
    env: project.env(model.url),
    terminal: { cols: WIDTH, rows: HEIGHT, data: (_, bytes) => draw(bytes) },
  });

  function waitFor(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const give = () => reject(new Error(`${pattern} did not appear on the screen:\n${screen.text()}`));
      const timer = setTimeout(() => finish(give), PATIENCE_MS);
      const look = () => pattern.test(screen.text()) && finish(() => resolve(screen.text()));
      function finish(settle: () => void): void {
        clearTimeout(timer);
        watchers.delete(look);
        settle();
      }
      watchers.add(look);
      look();
    });
  }

  const press = (keys: string) => void client.terminal?.write(keys);

  /** Types a prompt as a person does: the text, a look at it, then Enter. */
  async function submit(text: string): Promise<void> {
    press(text);
    await waitFor(new RegExp(`❯\\s*${RegExp.escape(text)}`));
    press("\r");
  }

  async function close(): Promise<void> {
    client.kill("SIGTERM");
    const killer = setTimeout(() => client.kill("SIGKILL"), 3000);
    await client.exited;
    clearTimeout(killer);
    client.terminal?.close();
  }

  return { press, submit, waitFor, screen: () => screen.text(), frames: () => frames, pid: client.pid, close };
}
