import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Insight } from "../../src/insight/query.ts";
import { commit } from "./core/folding.ts";
import { append, type Ground, journal, newGround, STORY } from "./ground.ts";

const LONG = "x".repeat(12_000);
const RUNS = 150;

let ground: Ground;
let root: string;
beforeEach(() => {
  ground = newGround();
  root = ground.project("app");
  append(root, sideBySide());
});
afterEach(() => ground.remove());

/** Some megabytes: half of the runs side by side, then the others, so that no step sees many from beginning to end. */
function sideBySide(): string[] {
  const runs = Array.from({ length: RUNS }, (_, n) => `cw-${n}`);
  return [runs.slice(0, RUNS / 2), runs.slice(RUNS / 2)].flatMap((half) =>
    STORY.flatMap(([minutes, stage, ...told], at) =>
      half.flatMap((run) => commit(at + 1, minutes, stage, [...told, ["stopped", { said: LONG }]], { run })),
    ),
  );
}

const everything = (insight: Insight) => {
  const rows = insight.runs({ limit: 500 }).rows.map(({ project, id }) => insight.run(project, id)!);
  return { rows: rows.toSorted((a, b) => a.run.id.localeCompare(b.run.id)), days: days(), counts: insight.counts({}) };
};

function days(): unknown[] {
  const db = new Database(ground.db, { readonly: true });
  try {
    return db.query("SELECT * FROM days ORDER BY day, workflow, stage").all();
  } finally {
    db.close();
  }
}

function atOnce(): ReturnType<typeof everything> {
  const insight = ground.open();
  insight.sync();
  const all = everything(insight);
  insight.close();
  rmSync(dirname(ground.db), { recursive: true });
  return all;
}

const LINES = RUNS * STORY.reduce((sum, [, , ...told]) => sum + told.length + 1, 0);

describe("step by step", () => {
  test("is the same as at once, and tells how far it is", () => {
    const wanted = atOnce();
    const insight = ground.open();
    const shares: number[] = [];
    let last = insight.syncSome(0);
    for (; last.share < 1; last = insight.syncSome(0)) shares.push(last.share);
    expect(shares.length).toBeGreaterThan(1);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[0]).toBeGreaterThan(0);
    expect(last).toMatchObject({ events: LINES, skipped: 0, problems: [] });
    expect(everything(insight)).toEqual(wanted);
  });

  test("whoever asks in between gets what has been read", () => {
    const insight = ground.open();
    insight.syncSome(0);
    expect(insight.counts({}).runs).toBeGreaterThan(0);
    expect(insight.counts({}).completed).toBe(0);
  });

  test("two at once share the work, and nothing is counted twice", () => {
    const wanted = atOnce();
    const [one, other] = [ground.open(), ground.open()];
    const shares = [0, 0];
    let events = 0;
    for (let n = 0; shares.some((share) => share < 1); n++) {
      const synced = (n % 2 === 0 ? one : other).syncSome(0);
      if (synced.share === 1) events += synced.events;
      shares[n % 2] = synced.share;
    }
    expect(events).toBe(LINES);
    expect(everything(other)).toEqual(wanted);
  });

  test("an interrupted one is gone on with by the next process", () => {
    const wanted = atOnce();
    const first = ground.open();
    const { events } = first.syncSome(0);
    first.close();
    const second = ground.open();
    expect(second.sync().events).toBe(LINES - events);
    expect(everything(second)).toEqual(wanted);
  });

  test("a file that is replaced meanwhile is read anew", () => {
    const insight = ground.open();
    insight.syncSome(0);
    rmSync(journal(root));
    append(root, sideBySide().slice(RUNS));
    const told: number[] = [];
    insight.sync((share) => told.push(share));
    expect(told.at(-1)).toBe(1);
    expect(told.every((share) => share > 0 && share <= 1)).toBe(true);
    const found = everything(insight);
    insight.close();
    rmSync(dirname(ground.db), { recursive: true });
    expect(found).toEqual(atOnce());
  });
});
