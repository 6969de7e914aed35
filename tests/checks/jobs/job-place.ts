/** A project with a home of its own, and processes that ask for jobs in it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { JobSpec } from "../../../src/checks/jobs/job.ts";
import type { Ran } from "../../../src/kernel/types/verdict.ts";

const JOB = resolve(import.meta.dir, "../../../src/checks/jobs/job.ts");
const LIMIT_MS = 30_000;

export interface JobGround {
  root: string;
  home: string;
}

const made: { base: string; root: string; home: string }[] = [];

export function makeGround(): JobGround {
  const base = mkdtempSync(join(tmpdir(), "pawl-job-test-"));
  const ground = { base, root: join(base, "project"), home: join(base, "home") };
  mkdirSync(ground.root);
  mkdirSync(ground.home);
  made.push(ground);
  return ground;
}

/** Nothing that a test started outlives it, also if it failed. */
export function removeGrounds(): void {
  for (const { base, root, home } of made.splice(0)) {
    for (const id of jobsOf(root)) ask({ root, home }, ["endJob", id]);
    rmSync(base, { recursive: true, force: true });
  }
}

function jobsOf(root: string): string[] {
  const folder = join(root, ".pawl/jobs");
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : [];
}

export const shell = (line: string, more: Partial<JobSpec> = {}): JobSpec => ({
  argv: ["/bin/sh", "-c", line],
  cwd: "",
  env: {},
  timeout_ms: LIMIT_MS,
  retries: 0,
  ...more,
});

export type Call = [name: string, id: string, ...args: unknown[]];
export interface Asked {
  env?: Record<string, string>;
  uid?: number;
  /** for a shell around it: what it sets first */
  first?: string;
}

/** The command line of a process that makes these calls and prints what each gave, one line of JSON for each. */
export function asking({ root }: JobGround, calls: Call[], { uid, first }: Asked = {}): string[] {
  const code = `${uid === undefined ? "" : `process.setuid(${uid});`}
    const job = await import(${JSON.stringify(JOB)});
    for (const [name, ...args] of ${JSON.stringify(calls)}) {
      let given;
      try { given = job[name](${JSON.stringify(root)}, ...args) ?? null; }
      catch (error) { given = { thrown: error.message, name: error.name }; }
      console.log(JSON.stringify(given));
    }`;
  const cmd = [process.execPath, "-e", code];
  return first === undefined ? cmd : ["/bin/sh", "-c", `${first}; exec "$@"`, "sh", ...cmd];
}

export const environment = ({ home }: JobGround, env: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? "",
  HOME: home,
  ...env,
});

// biome-ignore lint/suspicious/noExplicitAny: whatever the functions give
export function askAll(ground: JobGround, calls: Call[], how: Asked = {}): any[] {
  const env = environment(ground, how.env);
  const { stdout, stderr } = Bun.spawnSync(asking(ground, calls, how), { env, timeout: 2 * LIMIT_MS });
  const lines = stdout.toString().trim().split("\n");
  if (lines.length !== calls.length) throw new Error(`no answer: ${stderr}`);
  return lines.map((line) => JSON.parse(line));
}

export const ask = (ground: JobGround, call: Call, how: Asked = {}) => askAll(ground, [call], how)[0];

export function run(ground: JobGround, spec: JobSpec, how: Asked = {}): Ran {
  const [started, ran] = askAll(ground, [["startJob", "j", spec], ["awaitJob", "j", LIMIT_MS]], how); // biome-ignore format: one breath
  if (started !== null) throw new Error(`not started: ${JSON.stringify(started)}`);
  return ran;
}

export const wait = (ground: JobGround, id = "j"): Ran => ask(ground, ["awaitJob", id, LIMIT_MS]);

/** Polls; a test that waits in vain says for what. */
export async function until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const seen = look();
    if (seen) return seen;
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(5);
  }
}

export const jobFile = ({ root }: JobGround, name: string, start = 1, id = "j") =>
  join(root, ".pawl/jobs", id, String(start), name);

export function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

export const numbersIn = (path: string) => textOf(path).trim().split(/\s+/).filter(Boolean).map(Number);

export const runnerOf = (ground: JobGround, start = 1) =>
  Number(/"pid":(\d+)/.exec(textOf(jobFile(ground, "runner.json", start)))?.[1] ?? 0);

export function isAlive(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat !== "" && !/^\S+ \(.*\) [ZX]/s.test(stat);
}

export const childrenOf = (pid: number) => numbersIn(`/proc/${pid}/task/${pid}/children`);
