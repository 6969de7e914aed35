/**
 * A command of Pawl in this process: same arguments, environment, output and exit code, without a 117 MB binary to map.
 * For tests of what a command prints and changes. Tests of a process (hooks, signals, a terminal, kills, attacks) run one.
 */
import { expect } from "bun:test";
import { main } from "../../src/cli/index.ts";
import { withEnvironment } from "./environment.ts";
import { PAWL, type Place, type Ran, type RunOptions, runPawl } from "./harness.ts";

/** They write to the terminal themselves, or end by a signal. */
const PROCESSES = ["hook", "rewake", "job", "statusline", "demo", "loop", "dashboard", "history"];
/** They may read stdin, which is the runner's here. */
const READERS = ["detect", "helper", "notify"];

export function runInProcess(place: Place, args: string[], options: RunOptions = {}): Ran {
  const [name = "", ...rest] = args;
  const env = { ...place.env, ...options.env };
  const readsStdin = options.input !== undefined || READERS.includes(name);
  // BUN_OPTIONS loads a file before the program, such as another clock.
  if (readsStdin || PROCESSES.includes(name) || env.BUN_OPTIONS) return runPawl(place, args, options);
  const printed = { out: "", err: "" };
  const print = (to: "out" | "err") => (text: string) => {
    printed[to] += text;
  };
  const io = { out: print("out"), err: print("err"), cwd: options.cwd ?? place.root, isTTY: false };
  const code = withEnvironment(env, () => asBinary(() => waitFor(main(name, rest, io))));
  return { code, ...printed };
}

const COMPILED_MAIN = "/$bunfs/root/pawl";

/** The command takes this process for the binary: what it starts or installs is that. */
function asBinary<T>(work: () => T): T {
  const before = { main: Bun.main, execPath: process.execPath };
  become(COMPILED_MAIN, PAWL);
  try {
    return work();
  } finally {
    become(before.main, before.execPath);
  }
}

function become(entry: string, execPath: string): void {
  Object.assign(Bun, { main: entry });
  Object.assign(process, { execPath });
}

/** Bun's `resolves` turns the event loop until the promise is settled, so tests stay as simple as with a process. */
export function waitFor<T>(promise: Promise<T>): T {
  const settled: T[] = [];
  expect(promise.then((value) => void settled.push(value))).resolves.toBeUndefined();
  if (settled.length === 0) throw new Error("bun:test did not wait for the command");
  return settled[0]!;
}
