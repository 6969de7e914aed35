/**
 * A terminal window of its own, as a person has one: its processes are no one's children here, so that it does not matter
 * whether an agent runs the tests. Started as a program, this file is that window.
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastWords } from "./last-words.ts";

interface Work {
  cmd: string[];
  cwd: string;
  env: Record<string, string>;
  /** typed one by one, each when a question stands there */
  answers: string[];
  columns?: number;
  /** what is answered, where it is not a question */
  at?: string;
}

export interface Seen {
  code: number;
  screen: string;
}

/** What a person's session gives to all that is started in it. */
export const DESKTOP = { DISPLAY: ":0", TERM: "xterm" };

/** What every question ends with. */
const QUESTION = "\\[y/N\\]|\\[Y/n\\]|enter installs\\)";

const PATIENCE_MS = 30_000;

export async function inWindow(work: Work): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-window-"));
  try {
    writeFileSync(join(folder, "work"), JSON.stringify(work));
    // The shell ends at once: what it started belongs to no one.
    const orphan = [
      "/bin/sh",
      "-c",
      '"$@" </dev/null >/dev/null 2>&1 &',
      "sh",
      process.execPath,
      import.meta.path,
      folder,
    ];
    await Bun.spawn(orphan, { env: { PATH: work.env.PATH ?? "", ...DESKTOP } }).exited;
    return await seen(join(folder, "seen"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function seen(path: string): Promise<Seen> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await Bun.file(path).exists())) {
    if (Date.now() > end) throw new Error("the window did not close");
    await Bun.sleep(20);
  }
  return JSON.parse(readFileSync(path, "utf8"));
}

async function beWindow(folder: string): Promise<void> {
  const {
    cmd,
    cwd,
    env,
    answers,
    columns = 200,
    at = QUESTION,
  } = JSON.parse(readFileSync(join(folder, "work"), "utf8")) as Work;
  const decoder = new TextDecoder();
  let screen = "";
  let asked = 0;
  const words = lastWords();
  const child = Bun.spawn(cmd, {
    cwd,
    env: { ...DESKTOP, ...env },
    terminal: {
      exit: words.exit,
      cols: columns,
      rows: 50,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
        if (screen.split(new RegExp(at)).length - 1 > asked) terminal.write(`${answers[asked++] ?? ""}\r`);
      },
    },
  });
  const killer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const code = await child.exited;
  clearTimeout(killer);
  await words.heard();
  child.terminal?.close();
  writeFileSync(join(folder, "seen.new"), JSON.stringify({ code, screen }));
  renameSync(join(folder, "seen.new"), join(folder, "seen"));
}

if (import.meta.main) await beWindow(process.argv[2]!);
