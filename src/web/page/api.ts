/// <reference lib="dom" />
/** What the server says, and how it is asked. */
import type { Counts, GateRow, RunRow, StageRow, StageStat, TrendPoint } from "../../insight/types.ts";

export type { Counts, GateRow, RunRow, StageRow, StageStat };
export type Point = TrendPoint;

export interface Need {
  project: string;
  run: string;
  workflow: string;
  what: string;
  how: string;
  since: string;
  kind: string;
  question: Question | null;
  canApprove: boolean;
  /** when the claim was made that can be approved */
  claimed: string | null;
}

export type StageState = "done" | "now" | "open";

export interface StageMark {
  id: string;
  title: string;
  state: StageState;
}

export interface LiveRun {
  project: string;
  run: string;
  workflow: string;
  title: string | null;
  task: string | null;
  stages: StageMark[];
  stage: string;
  since: string;
  doing: string;
  waits: string | null;
  session: string | null;
  host: string | null;
  cost_usd: number | null;
}

export interface Project {
  root: string;
  name: string;
  runs: number;
  live: number;
  updated_at: string;
}

export interface Now {
  at: string;
  needs: Need[];
  live: LiveRun[];
  projects: Project[];
  readOnly?: boolean;
}

export interface Moment {
  at: string;
  seq: number;
  kind: string;
  text: string;
  detail: unknown;
  project?: string;
  run?: string;
}

export interface GraphData {
  stages: StageMark[];
  edges: { from: string; to: string; label: string }[];
}

export interface Question {
  text: string;
  /** when it was put: an answer names it, so that it is none to a later question */
  asked?: string;
  choices: { name: string; label: string }[];
}

export interface RunDetail {
  run: RunRow;
  stages: StageRow[];
  gates: GateRow[];
  timeline: Moment[];
  /** how many moments before those are left out */
  older: number;
  graph: GraphData;
  question: Question | null;
  canApprove: boolean;
  /** when the claim was made that can be approved */
  claimed: string | null;
  paused?: boolean;
}

export interface Stats {
  counts: Counts;
  stages: StageStat[];
  trend: { workflow: string; stage: string; points: Point[] }[];
  bottleneck: { sentence: string; evidence: string } | null;
}

export interface LoopRow {
  project: string;
  id: string;
  /** "" where it has none */
  run: string;
  procedure: string;
  iterations: number;
  failures: number;
  cost_usd: number | null;
  outcome: string | null;
  why: string;
  started_at: string;
  updated_at: string;
  /** an iteration did not say what it cost */
  approximate: boolean;
  /** somebody drives it */
  running: boolean;
  waiting: { until: string; why: string } | null;
  lines: { iteration: number; verdict: string; why: string; elapsed_ms: number }[];
}

export interface Task {
  project: string;
  id: string;
  title: string;
  status: string;
  next: boolean;
  assignee: string | null;
  command: string | null;
  model: string | null;
  after: string[];
}

export interface Page<Row> {
  rows: Row[];
  next: string | null;
}

export type ActionName = "answer" | "approve" | "pause" | "resume" | "abort" | "adopt";

export interface Act {
  project: string;
  run: string;
  action: ActionName;
  choice?: string;
  asked?: string;
  why?: string;
}

export interface Acted {
  ok: boolean;
  message: string;
  waits?: string;
}

/** How much of the journals the last answer knew, in percent; null: all of it. */
let percentRead: number | null = null;
export const readSoFar = () => percentRead;

/** The server does not know this browser. */
export class Locked extends Error {}

export async function ask<T>(path: string, query: Record<string, string | null | undefined> = {}): Promise<T> {
  const said = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(said).toString();
  const answer = await fetch(`/api/${path}${search === "" ? "" : `?${search}`}`, {
    headers: { accept: "application/json" },
  });
  if (answer.status === 401) throw new Locked();
  if (!answer.ok) throw new Error(await reason(answer));
  const percent = answer.headers.get("x-pawl-reading");
  percentRead = percent === null ? null : Number(percent);
  return (await answer.json()) as T;
}

export async function act(wish: Act): Promise<Acted> {
  const answer = await post("/api/act", wish);
  if (answer.status === 401) throw new Locked();
  const said = await answer.json().catch(() => null);
  if (said && typeof said.message === "string") return { ok: answer.ok && said.ok !== false, ...said };
  return { ok: answer.ok, message: answer.ok ? "Done." : `The server answers ${answer.status}.` };
}

/** The key that `pawl dashboard` printed becomes a cookie, and leaves the address. */
export async function enter(token: string): Promise<boolean> {
  return (await post("/session", { token })).ok;
}

function post(path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json", "x-pawl": "1" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function reason(answer: Response): Promise<string> {
  const said = await answer.json().catch(() => null);
  const text = said?.message ?? said?.error;
  return typeof text === "string" ? text : `The server answers ${answer.status}.`;
}
