import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import fc from "fast-check";
import type { Team } from "../../src/insight/mate.ts";
import { openInsight } from "../../src/insight/query.ts";
import { hostileJournal } from "../harness/hostile-runs.ts";
import { commit } from "./core/folding.ts";
import { append, type Ground, journal, lines, newGround } from "./ground.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");
const TEAM: Team = { own: 6000, mates: 20_000, long: 0, patience_ms: 20_000, entry: MAIN };

let ground: Ground;
let root: string;
beforeEach(() => {
  ground = newGround();
  root = ground.project("app");
});
afterEach(() => ground.remove());

const write = (text: string) => writeFileSync(journal(root), text);
const textOf = (all: string[]) => `${all.join("\n")}\n`;

/** One run after the other. */
const inTurn = (runs: number) => textOf(Array.from({ length: runs }, (_, n) => lines(`cw-${n}`)).flat());

/** Hostile lines, of runs of this number, among those of three good ones. */
function among(text: string, n: number): string {
  const hostile = text.replaceAll('"run":"cw-', `"run":"cw-${n}-`).split("\n");
  const good = [0, 1, 2].flatMap((k) => lines(`ok-${n}-${k}`));
  return textOf(good.flatMap((line, at) => [line, ...hostile.slice(at * 3, at * 3 + 3)]));
}

function everything() {
  const db = new Database(ground.db, { readonly: true });
  try {
    const columns = "id, workflow, stage, status, outcome, started, updated, cost, loops, state";
    return {
      runs: db.query(`SELECT ${columns} FROM runs ORDER BY id`).all(),
      days: db.query("SELECT * FROM days ORDER BY span, workflow, stage").all(),
    };
  } finally {
    db.close();
  }
}

/** From nothing; `ms`: in steps. */
function read(team: Team | null, ms?: number) {
  rmSync(dirname(ground.db), { recursive: true, force: true });
  const insight = openInsight({ path: ground.db, projects: [root], team });
  try {
    let synced = ms === undefined ? insight.sync() : insight.syncSome(ms);
    while (synced.share < 1) synced = insight.syncSome(ms!);
    const { events, skipped, helped, problems } = synced;
    return { found: { events, skipped, problems, ...everything() }, helped };
  } finally {
    insight.close();
  }
}

/**
 * Where a stage stands in a table comes from its run's plan, as far as that is known when the stay is written down. A
 * hostile journal may tell the plan after the stay, and then it matters when that was. Of good ones it is compared.
 */
const placeless = ({ days, ...rest }: ReturnType<typeof read>["found"]) => ({
  ...rest,
  days: (days as { place: number }[]).map(({ place: _, ...day }) => day),
});

describe("two threads find what one finds", () => {
  test("where runs follow each other, and the other does its share", () => {
    write(inTurn(60));
    const { found, helped } = read(TEAM);
    expect(helped).toBeGreaterThan(100);
    expect(helped).toBeLessThan(found.events);
    expect(found).toEqual(read(null).found);
    expect(read(null).helped).toBe(0);
  });

  test("in steps, and with what another process did in between", () => {
    write(inTurn(300));
    const alone = read(null).found;
    expect(read(TEAM, 0)).toMatchObject({ found: alone, helped: expect.any(Number) });
    rmSync(dirname(ground.db), { recursive: true });
    const [one, other] = [0, 1].map(() => openInsight({ path: ground.db, projects: [root], team: TEAM })) as [
      ReturnType<typeof openInsight>,
      ReturnType<typeof openInsight>,
    ];
    let [events, turns] = [0, 0];
    for (const share = [0, 0]; share.some((of) => of < 1); turns++) {
      const synced = (turns % 2 === 0 ? one : other).syncSome(0);
      expect(synced.problems).toEqual([]);
      if (synced.share === 1 && share[turns % 2] !== 1) events += synced.events;
      share[turns % 2] = synced.share;
    }
    one.close();
    other.close();
    expect(turns).toBeGreaterThan(10);
    expect(events).toBe(alone.events);
    expect(everything()).toEqual({ runs: alone.runs, days: alone.days });
  });

  test("in two files, of which the second goes on with the runs of the first", () => {
    const runs = Array.from({ length: 90 }, (_, n) => lines(`cw-${n}`));
    append(
      root,
      runs.flatMap((one) => one.slice(0, 6)),
      "2026-03.jsonl",
    );
    append(
      root,
      runs.flatMap((one) => one.slice(6)),
      "2026-04.jsonl",
    );
    const { found, helped } = read(TEAM);
    expect(helped).toBeGreaterThan(0);
    expect(found).toEqual(read(null).found);
  });

  test("whatever stands in the journal", () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    let helped = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(99), hostileJournal), { minLength: 4, maxLength: 12 }), (parts) => {
        write(parts.map(([n, text]) => among(text, n)).join(""));
        const together = read({ ...TEAM, own: 2000, mates: 12_000 });
        helped += together.helped;
        expect(placeless(together.found)).toEqual(placeless(read(null).found));
      }),
      { numRuns: Number(process.env.RUNS ?? 40), seed, endOnFailure: true },
    );
    expect(helped).toBeGreaterThan(500);
  }, 60_000);
});

describe("runs that are not as new as they look", () => {
  test("one that begins again in the other's part is folded once", () => {
    const again = lines("cw-3");
    const all = Array.from({ length: 40 }, (_, n) => lines(`cw-${n}`)).flat();
    write(textOf([...all.slice(0, 200), ...again, ...all.slice(200)]));
    expect(read({ ...TEAM, own: 30_000, mates: 40_000 }).found).toEqual(read(null).found);
  });

  test("one that was there before this sync", () => {
    const insight = openInsight({ path: ground.db, projects: [root], team: TEAM });
    write(textOf(lines("cw-7").slice(0, 3)));
    insight.sync();
    append(root, inTurn(30).trimEnd().split("\n"));
    const { events } = insight.sync();
    insight.close();
    const found = everything();
    expect(events).toBe(30 * lines("cw-0").length);
    const { runs, days } = read(null).found;
    expect(found).toEqual({ runs, days });
  });

  test("one of which the other sees only that it is alive", () => {
    const [first = ""] = commit(1, 9000, "memory", [["stopped", { said: "" }]], { run: "cw-2" });
    const all = inTurn(40).split("\n");
    write([...all.slice(0, 200), first, ...all.slice(200)].join("\n"));
    const { found, helped } = read({ ...TEAM, own: 30_000, mates: 40_000 });
    expect(helped).toBeGreaterThan(0);
    expect(found).toEqual(read(null).found);
  });

  test("one endless run: the other is not asked for long", () => {
    const endless = Array.from({ length: 400 }, (_, n) => commit(n + 1, n, "code", [["signalled", {}]])).flat();
    write(textOf(endless) + inTurn(100));
    const { found, helped } = read(TEAM);
    expect(helped).toBe(0);
    expect(found).toEqual(read(null).found);
  });
});

describe("a thread that is of no use", () => {
  const bad: Record<string, string> = {
    "that is not there": "",
    "that falls over": "throw new Error('no');",
    "that ends": "process.exit(1);",
    "that never answers": "setInterval(() => {}, 1000);",
    "that says it cannot": `const { workerData: { port, answers } } = require("node:worker_threads");
      port.on("message", () => { port.postMessage(null); Atomics.add(answers, 0, 1); Atomics.notify(answers, 0); });`,
  };
  for (const [name, text] of Object.entries(bad))
    test(`${name}: its share is folded here`, () => {
      const entry = join(ground.folder, "thread.js");
      if (text !== "") writeFileSync(entry, text);
      write(inTurn(20));
      const { found, helped } = read({ ...TEAM, entry, patience_ms: 300 });
      expect(helped).toBe(0);
      expect(found).toEqual(read(null).found);
    });

  test("that cannot be started", () => {
    write(inTurn(20));
    const { found, helped } = read({ ...TEAM, entry: 7 as unknown as string });
    expect(helped).toBe(0);
    expect(found).toEqual(read(null).found);
  });

  test("the process ends although it is at work", () => {
    write(inTurn(2000));
    const script = `import { openInsight } from ${JSON.stringify(resolve(import.meta.dir, "../../src/insight/query.ts"))};
      const insight = openInsight({ path: ${JSON.stringify(ground.db)}, projects: [${JSON.stringify(root)}],
        team: ${JSON.stringify(TEAM)} });
      console.log(insight.syncSome(0).helped);`;
    const { exitCode, stdout } = Bun.spawnSync([process.execPath, "-e", script], { timeout: 20_000 });
    expect(Number(stdout.toString())).toBeGreaterThan(0);
    expect(exitCode).toBe(0);
  });
});
