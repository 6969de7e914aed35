/** A project in which a test command runs twice: with our reporters, and as the person would run it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openReports } from "../../../src/checks/reporters/reporters.ts";
import type { NamedReport } from "../../../src/kernel/types/verdict.ts";
import { cleanEnvironment } from "../../../src/store/processes/command.ts";

export interface Went {
  exit: number | null;
  /** without what differs from run to run: times and temporary names */
  output: string;
  named: NamedReport | null;
}

export interface RunnerProject {
  root: string;
  write(name: string, text: string): void;
  /** makes a folder's contents appear here, as an installation would */
  link(name: string, target: string): void;
  /** with our reporters */
  run(line: string, cwd?: string): Went;
  /** without */
  plain(line: string, cwd?: string): Went;
}

const made: string[] = [];

export function makeRunnerProject(): RunnerProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "pawl-runner-test-")));
  made.push(base);
  const root = join(base, "project");
  mkdirSync(join(base, "home"));
  mkdirSync(root);
  const inside = (name: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    return join(root, name);
  };
  const env = { ...cleanEnvironment(process.env), ...PLAIN, HOME: join(base, "home") };
  delete (env as Record<string, string>).NODE_ENV;
  return {
    root,
    write: (name, text) => writeFileSync(inside(name), text),
    link: (name, target) => symlinkSync(target, inside(name)),
    run(line, cwd = "") {
      const reports = openReports(root, env);
      try {
        const went = start(line, join(root, cwd), { ...env, ...reports.env });
        return { ...went, named: reports.read() };
      } finally {
        reports.close();
      }
    },
    plain: (line, cwd = "") => start(line, join(root, cwd), env),
  };
}

export function removeProjects(): void {
  for (const base of made.splice(0)) rmSync(base, { recursive: true, force: true });
}

/** As in store/processes/command.ts. */
const PLAIN = { NO_COLOR: "1", FORCE_COLOR: "0", TERM: "dumb" };

function start(line: string, cwd: string, env: Record<string, string>): Went {
  const { exitCode, stdout } = Bun.spawnSync(["/bin/sh", "-c", `{ ${line}\n} 2>&1`], { cwd, env, stdin: "ignore" });
  return { exit: exitCode, output: steady(stdout.toString()), named: null };
}

const steady = (text: string) =>
  Bun.stripANSI(text)
    .replace(/\d+(\.\d+)? ?m?s\b/g, "T")
    .replace(/(duration(_ms)?:?) \S+/g, "$1 T")
    .replace(/\d\d:\d\d:\d\d/g, "T");
