import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Commit, Effect, JournalRecord, Run, Workflow } from "../../src/kernel/types/run.ts";

export const ID = "run-1";
export const AT = "2025-03-04T05:06:07.000Z";
const BUN = join(import.meta.dir, "../../node_modules/.bin/bun");

export const workflow: Workflow = {
  v: 1,
  name: "complete-work",
  title: "Complete work",
  source: "builtin",
  signals: "promise",
  arm: ["/complete-work"],
  intro: "",
  stages: [{ id: "memory", title: "Memory", say: "go", on: {} }],
  asks: {},
  anywhere: {},
  limits: { idle: 6, rounds: 6, laps: 5 },
};

export function sampleRun(seq: number, more: Partial<Run> = {}): Run {
  return {
    v: 2,
    id: ID,
    seq,
    workflow: "complete-work",
    plan: ["memory"],
    stage: "memory",
    entered_at: AT,
    status: "active",
    owner: { host: "claude", session: "test-session" },
    done: {},
    reports: [],
    ledger: { idle: seq, unbroken: 0, turn: "", since: AT, told: [] },
    recent: [],
    work: {},
    checks: { base: null },
    commit_hash: null,
    last_signal: null,
    document: { path: "", written: false, extra: {}, body: "", seen: [] },
    created_at: AT,
    moved_at: AT,
    updated_at: AT,
    ...more,
  };
}

export function sampleCommit(seq: number, more: { run?: Partial<Run>; effects?: Effect[]; at?: string } = {}): Commit {
  const records: JournalRecord[] = [
    { kind: "stopped", n: seq },
    { kind: "continued", n: seq },
  ];
  const event = { id: `e${seq}`, at: more.at ?? AT, host: "claude", session: "s", via: "project", kind: "stop" };
  return { run: sampleRun(seq, more.run), event, records, effects: more.effects ?? [] };
}

const made: string[] = [];

export function tempRoot(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "pawl-store-")));
  made.push(dir);
  return dir;
}

export function removeTemps(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
}

export function commandFor(script: string, args: string[], faults = false): string[] {
  const preload = faults ? ["--preload", join(import.meta.dir, "faults.ts")] : [];
  return [BUN, ...preload, join(import.meta.dir, script), ...args];
}

/** A child's home is never the home of whoever runs the tests. */
export function childEnv(home: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, TZ: "UTC", ...more };
}
