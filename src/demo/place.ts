/** The throw-away project: a folder with its own home, a real repository, and nothing left of it afterwards. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { UserError } from "../cli/args.ts";

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
  mkdirSync(root);
  return { home, root, path };
}

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "pawl-demo-")));
  } catch (error) {
    throw new UserError(`no folder can be made in ${tmpdir()} (${(error as Error).message})`, "set TMPDIR to another");
  }
}

export function removePlace(place: Place): void {
  for (const child of children) child.kill("SIGKILL");
  rmSync(place.home, { recursive: true, force: true, maxRetries: 5 });
}

export function put(place: Place, name: string, text: string): void {
  const path = join(place.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Nothing of the person's environment goes in, PAWL=0 and their git configuration included. */
export const cleanEnv = (place: Place) => ({ PATH: place.path, HOME: place.home, LC_ALL: "C.UTF-8" });

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

// ── The project ─────────────────────────────────────────────────────────────

const BEFORE = "export const price = (list, name) => list[name];\n";
const AFTER = `export function price(list, name) {
  debugger;
  try {
    return list[name].price;
  } catch {
    return 0;
  }
}
`;
const PRE_COMMIT = `#!/bin/sh
found=$(git grep --cached -n "debugger;" -- src) || exit 0
echo "pre-commit: no debugger statements please" >&2
echo "$found" >&2
exit 1
`;

/** One commit, then a session's work that is not committed yet, with a mistake that the project's own hook will find. */
export async function fillPlace(place: Place): Promise<void> {
  await git(place, "-c", "init.defaultBranch=main", "init", "-q", "--template=");
  await git(place, "config", "user.name", "Demo");
  await git(place, "config", "user.email", "demo@example.invalid");
  put(place, "src/price.js", BEFORE);
  await git(place, "add", "src");
  await git(place, "commit", "-q", "-m", "Start");
  put(place, ".git/hooks/pre-commit", PRE_COMMIT);
  chmodSync(join(place.root, ".git/hooks/pre-commit"), 0o755);
  put(place, "src/price.js", AFTER);
}

export const mendMistake = (place: Place) => put(place, "src/price.js", AFTER.replace("  debugger;\n", ""));
