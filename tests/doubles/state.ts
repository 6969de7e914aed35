/** What both stand-ins need: a state that processes share, arguments, and ways to misbehave. */
import { Database } from "bun:sqlite";
import { appendFileSync, writeFileSync } from "node:fs";

/** One transaction; what `work` throws leaves the state as it was. */
export function transact<S, T>(path: string, empty: S, work: (state: S) => T): T {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 20000");
  db.run("BEGIN IMMEDIATE");
  try {
    db.run("CREATE TABLE IF NOT EXISTS doc (text TEXT)");
    const row = db.query("SELECT text FROM doc").get() as { text: string } | null;
    const state = row === null ? empty : (JSON.parse(row.text) as S);
    const result = work(state);
    db.run("DELETE FROM doc");
    db.run("INSERT INTO doc VALUES (?)", [JSON.stringify(state)]);
    db.run("COMMIT");
    return result;
  } finally {
    db.close();
  }
}

/** Ends the program as the real one would end. */
export class Exit extends Error {
  constructor(
    readonly status: number,
    readonly stdout: string,
    readonly stderr: string,
  ) {
    super("exit");
  }
}

export interface Args {
  words: string[];
  flags: Map<string, string[]>;
}

/** cobra's rules: `--name value`, `--name=value`, `--` ends the flags, an unknown one ends the program. */
export function parseArgs(argv: string[], withValue: string[], without: string[]): Args {
  const args: Args = { words: [], flags: new Map() };
  for (let at = 0; at < argv.length; at++) {
    const [, name, , value] = /^(--?[a-z][a-z-]*)(=([\s\S]*))?$/.exec(argv[at]!) ?? [];
    if (argv[at] === "--") args.words.push(...argv.splice(at + 1));
    else if (name === undefined) args.words.push(argv[at]!);
    else if (without.includes(name)) args.flags.set(name, []);
    else if (!withValue.includes(name)) throw new Exit(1, "", `Error: unknown flag: ${name}\nUsage: ...\n`);
    else args.flags.set(name, [...(args.flags.get(name) ?? []), value ?? argv[++at] ?? ""]);
  }
  return args;
}

/** `locked` for every command, `locked:show` for one. */
export function hasFault(faults: string, name: string, command: string): boolean {
  return faults.split(",").some((one) => one === name || one === `${name}:${command}`);
}

/** Never answers, and neither does its child, which holds the output open. */
export function hang(pids: string | undefined): never {
  const child = Bun.spawn(["sleep", "120"], { stdio: ["ignore", "inherit", "inherit"] });
  if (pids !== undefined) appendFileSync(pids, `${process.pid}\n${child.pid}\n`);
  Bun.sleepSync(120_000);
  process.exit(1);
}

export function run(work: () => string): void {
  try {
    print(1, work());
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    print(1, error.stdout);
    print(2, error.stderr);
    process.exitCode = error.status;
  }
}

/** `process.stdout` would take longer to load than all the rest of a stand-in. */
function print(fd: 1 | 2, text: string): void {
  try {
    if (text !== "") writeFileSync(fd, text);
  } catch (error) {
    // Whoever asked has stopped reading.
    if ((error as { code?: string }).code !== "EPIPE") throw error;
  }
}
