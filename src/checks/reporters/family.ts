/** What each family of test runners brings: files of ours, variables that load them, and how it reports. */
import { lstatSync, readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import type { ProcessReport, TestLine } from "../core/named.ts";

export interface ReportPlace {
  /** the project, as the command sees it */
  root: string;
  /** where `hooks` were written */
  hooks: string;
  /** PAWL_REPORT_DIR: each runner appends to a file of its own, `<runner>-<pid>-<microseconds>.ndjson` */
  reports: string;
  /** when the command was about to start, in ms; what is older on disk is not its report */
  began: number;
  /** what came through the pipe in `reports` */
  piped(): string;
}

export interface Family {
  /** by name below `place.hooks`; what begins with "#!" is made executable */
  hooks: Record<string, string>;
  /** variables to add; `env` has those of the families before it */
  env(place: ReportPlace, env: Record<string, string>): Record<string, string>;
  /** for runners that leave files of their own: each as if it had been a process with a reporter */
  read?(place: ReportPlace): ProcessReport[];
  /** what is printed where these hooks keep a command from running: it runs once more without any */
  broken?: RegExp;
}

// ── For all families ────────────────────────────────────────────────────────

/** Variables that hold several words leave no way to quote one. */
export const isPlain = (path: string) => /^[\w./+-]+$/.test(path);

/** A temporary folder may forbid programs: the command would fail. */
export const canRun = (script: string) =>
  isPlain(script) && attempt(() => Bun.spawnSync([script, "/bin/sh", "-c", "exit 0"]).exitCode === 0, false);

/** Clocks of file systems are a step behind. */
const CLOCK_MS = 20;
const LARGEST = 64 << 20;

/** A file that was written since the command began. The time of its last change is not for the project to set. */
export function readFresh({ began }: ReportPlace, path: string): string | null {
  const stat = attempt(() => lstatSync(path), null);
  if (!stat?.isFile() || stat.ctimeMs < began - CLOCK_MS || stat.size > LARGEST) return null;
  return readFileSync(path, "utf8");
}

export const toReport = (runner: string, cwd: string, { tests, whole }: Part): ProcessReport => ({
  lines: [{ ev: "start", runner, cwd }, ...tests, ...(whole ? [{ ev: "end" as const }] : [])],
});

interface Part {
  tests: TestLine[];
  whole: boolean;
}
