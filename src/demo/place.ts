/** The throw-away project: a folder with its own home, a real repository, and nothing left of it afterwards. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { endJob } from "../checks/jobs/job.ts";
import { UserError } from "../kernel/user-error.ts";

export interface Place {
  /** HOME of everything that is started; the search for a project's root ends here, whatever lies above */
  home: string;
  root: string;
  path: string;
}

/** Something went otherwise than the script says. */
export class DemoFailed extends Error {}

export interface Ran {
  code: number;
  out: string;
  err: string;
}

const PATIENCE_MS = 15_000;
const children = new Set<Bun.Subprocess>();

export function makePlace(): Place {
  const path = process.env.PATH || "/usr/local/bin:/usr/bin:/bin";
  for (const program of ["git", "mkfifo"]) {
    if (!Bun.which(program, { PATH: path }))
      throw new UserError(`the demo needs ${program}, and there is none in PATH`, `install ${program} and try again`);
  }
  const home = makeFolder();
  const root = join(home, "shop");
  for (const folder of [root, join(home, "bin"), join(home, "tmp")]) mkdirSync(folder);
  writeFileSync(join(home, "bin/bun"), RUNNER, { mode: 0o755 });
  return { home, root, path: `${join(home, "bin")}:${path}` };
}

/** Nobody needs to have a test runner for this: the program that Pawl is compiled with has one, and it is in here. */
const RUNNER = `#!/bin/sh\nBUN_BE_BUN=1 exec '${process.execPath.replaceAll("'", "'\\''")}' "$@"\n`;

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "pawl-demo-")));
  } catch (error) {
    throw new UserError(`no folder can be made in ${tmpdir()} (${(error as Error).message})`, "set TMPDIR to another");
  }
}

export function removePlace(place: Place): void {
  for (const child of children) child.kill("SIGKILL");
  endChecks(place.root);
  rmSync(place.home, { recursive: true, force: true, maxRetries: 5 });
}

/** A check outlives the hook that began it; it would go on writing here. */
function endChecks(root: string): void {
  try {
    for (const id of readdirSync(join(root, ".pawl/jobs"))) endJob(root, id);
  } catch {
    // there is none, or it cannot be ended: what it writes into goes away in any case
  }
}

export function put(place: Place, name: string, text: string): void {
  const path = join(place.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Nothing of the person's environment goes in, PAWL=0 and their git configuration included. */
export const cleanEnv = ({ path, home }: Place) => ({
  PATH: path,
  HOME: home,
  TMPDIR: join(home, "tmp"),
  LC_ALL: "C.UTF-8",
});

export function start(place: Place, cmd: string[], io: StartOptions): Bun.Subprocess<"ignore" | Blob, "pipe", "pipe">;
export function start(place: Place, cmd: string[], io: StartOptions & { stdout: number }): Bun.Subprocess;
export function start(place: Place, cmd: string[], io: StartOptions & { stdout?: number }): Bun.Subprocess {
  const child = Bun.spawn(cmd, {
    cwd: place.root,
    env: io.env ?? { ...cleanEnv(place), GIT_CONFIG_NOSYSTEM: "1" },
    stdin: io.input === undefined ? "ignore" : new Blob([io.input]),
    stdout: io.stdout ?? "pipe",
    stderr: "pipe",
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  children.add(child);
  child.exited.then(() => children.delete(child));
  return child;
}

export interface StartOptions {
  env?: Record<string, string>;
  input?: string;
}

export async function runToEnd(place: Place, cmd: string[], io: StartOptions = {}): Promise<Ran> {
  const child = start(place, cmd, io);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

export async function git(place: Place, ...args: string[]): Promise<string> {
  const ran = await runToEnd(place, ["git", ...args]);
  if (ran.code !== 0) throw new DemoFailed(`expected: git ${args[0]} works here. It said: ${ran.err.trim()}`);
  return ran.out.trim();
}
