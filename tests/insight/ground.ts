/** Projects with journals, and a database of their own, in a folder that goes away. */
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Insight, openInsight } from "../../src/insight/query.ts";
import { ARMED, ended, gated, linesOf, SIGNALLED, type Story, to } from "./core/folding.ts";

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

/** Three stages, a failed check, half an hour of waiting: twelve lines. */
export const STORY: Story = [
  [0, "memory", ARMED],
  [5, "memory", SIGNALLED, gated("fail"), ["continued", {}]],
  [8, "memory", SIGNALLED, gated("pass"), to("memory", "review")],
  [20, "review", ["asked", { ask: "go on?" }]],
  [50, "review", ["decided", { choice: "yes" }], to("review", "commit")],
  [52, "commit", SIGNALLED, ended()],
];
export const lines = (run: string, story = STORY) => linesOf(story, { run });

/** So many runs of this story. */
export function writeLong(root: string, runs: number): void {
  const text = `${lines("cw-00000").join("\n")}\n`;
  const all = Array.from({ length: runs }, (_, n) => text.replaceAll("cw-00000", `cw-${n.toString(16)}`));
  mkdirSync(join(root, ".pawl/journal"), { recursive: true });
  writeFileSync(journal(root), all.join(""));
}
