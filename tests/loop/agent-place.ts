/** A folder of its own for each test, and agents that run in it. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type AgentEnd, type AgentRun, runAgent } from "../../src/loop/process.ts";
import { isAlive, numbersIn } from "../checks/jobs/job-place.ts";

export const FAKE = resolve(import.meta.dir, "fake-agent.ts");

let place = "";
const usualTmp = process.env.TMPDIR;

/** What is put aside for a moment goes into its `tmp`. */
export function makePlace(): string {
  place = mkdtempSync(join(tmpdir(), "pawl-agent-test-"));
  mkdirSync(file("tmp"));
  process.env.TMPDIR = file("tmp");
  return place;
}

/** Whoever is still alive of those a test's agent started is ended, also if the test failed. */
export function removePlace(): void {
  if (usualTmp === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usualTmp;
  for (const pid of pids().filter(isAlive)) process.kill(pid, "SIGKILL");
  rmSync(place, { recursive: true, force: true });
}

export const file = (name: string) => join(place, name);
/** of all that a test's agent started */
export const pids = () => numbersIn(file("pids"));

export const runOf = (argv: string[], more: Partial<AgentRun> = {}): AgentRun => ({
  argv,
  cwd: place,
  env: { PATH: process.env.PATH, HOME: place },
  stdin: "the prompt\n",
  timeout_ms: 45_000,
  buffer: 1 << 20,
  ...more,
});

type Now = () => number;
export const fake = (steps: string, more: Partial<AgentRun> = {}, now?: Now) =>
  runAgent(runOf([process.execPath, FAKE, ...steps.split(" ")], more), now);
export const shell = (line: string, more: Partial<AgentRun> = {}, now?: Now) =>
  runAgent(runOf(["/bin/sh", "-c", line], more), now);
/** A clock on which no time passes before the agent has come as far as the test needs it, and then too much. */
export const lateOnce =
  (isReady: () => boolean): Now =>
  () =>
    isReady() ? 20e9 : 0;
export const said = ({ tail }: AgentEnd) => new TextDecoder().decode(tail);
