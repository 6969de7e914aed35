/** Projects with journals, and a database of their own, in a folder that goes away. */
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Insight, openInsight } from "../../src/insight/query.ts";
import type { Told } from "../core/folding.ts";

export interface Ground {
  folder: string;
  db: string;
  project: (name: string) => string;
  /** all that were made so far */
  open: () => Insight;
  remove: () => void;
}

export function newGround(): Ground {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-insight-")));
  const roots = new Set<string>();
  const opened: Insight[] = [];
  const db = join(folder, "state", "insight.db");
  const project = (name: string) => {
    const root = join(folder, name);
    mkdirSync(join(root, ".pawl/journal"), { recursive: true });
    roots.add(root);
    return root;
  };
  const open = () => {
    const insight = openInsight({ path: db, projects: [...roots] });
    opened.push(insight);
    return insight;
  };
  const remove = () => {
    for (const one of opened) one.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, db, project, open, remove };
}

export const journal = (root: string, name = "2026-03.jsonl") => join(root, ".pawl/journal", name);

export const append = (root: string, lines: string[], name?: string) =>
  appendFileSync(journal(root, name), lines.map((line) => `${line}\n`).join(""));

// ── What stories are made of ────────────────────────────────────────────────

export const PLAN = ["memory", "review", "commit"];
export const ARMED: Told = ["armed", { plan: PLAN, by: "prompt", beside: [] }];
export const SIGNALLED: Told = ["signalled", { signal: "DONE", trailing: false }];
export const to = (from: string, stage: string): Told => ["advanced", { stage, from, to: stage, signal: "DONE" }];
export const ended = (outcome = "completed"): Told => ["ended", { outcome, signal: "DONE", by: "agent", commit: null }];
export const gated = (verdict: string): Told => [
  "gated",
  { signal: "DONE", gate: "npm test", id: "g1", verdict, why: `it is ${verdict}`, tree: "abc", command: "npm test" },
];
