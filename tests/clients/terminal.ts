/** The client as a person sees it: its interactive screen, on a real pseudo-terminal. */
import { claudeBinary } from "./install.ts";
import type { Model } from "./model.ts";
import type { Project } from "./project.ts";
import { makeScreen } from "./screen.ts";

const WIDTH = 140;
const HEIGHT = 60;
const TIMEOUT_MS = 60_000;
const TOOLS = ["Bash", "Read", "Agent"];

export async function terminal(project: Project, model: Model, args: string[] = [], allow = TOOLS) {
  const screen = makeScreen(WIDTH, HEIGHT);
  const decoder = new TextDecoder();
  const frames: string[] = [];
  let written = "";
  const watchers = new Set<() => void>();

  function draw(bytes: Uint8Array): void {
    const text = decoder.decode(bytes, { stream: true });
    written += text;
    screen.feed(text);
    const frame = screen.text();
    if (frame !== frames.at(-1)) frames.push(frame);
    for (const look of watchers) look();
  }

  // Newer clients start in auto mode, whose classifier a scripted model cannot answer.
  const mode = ["--permission-mode", "default"];
  const client = Bun.spawn([await claudeBinary(), ...mode, "--allowedTools", ...allow, ...args], {
    cwd: project.root,
    env: project.env(model.url),
    terminal: { cols: WIDTH, rows: HEIGHT, data: (_, bytes) => draw(bytes) },
  });

  function waitFor(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const give = () => reject(new Error(`${pattern} did not appear on the screen:\n${screen.text()}`));
      const timer = setTimeout(() => finish(give), TIMEOUT_MS);
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

  /** Answers a dialog. The client draws it before it listens: while it is there, the key is pressed again, as a person would. */
  async function choose(key: string, dialog: RegExp): Promise<void> {
    await waitFor(dialog);
    for (const end = Date.now() + TIMEOUT_MS; dialog.test(screen.text()) && Date.now() < end; ) {
      press(key);
      const soon = Date.now() + 1_000;
      while (dialog.test(screen.text()) && Date.now() < soon) await Bun.sleep(20);
    }
  }

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

  return {
    choose,
    press,
    submit,
    waitFor,
    screen: () => screen.text(),
    frames: () => frames,
    /** every byte, escapes too */
    written: () => written,
    pid: client.pid,
    close,
    [Symbol.asyncDispose]: close,
  };
}
