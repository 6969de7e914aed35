import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Insight, openInsight } from "../../src/insight/query.ts";
import { ARMED, ended } from "./core/folding.ts";
import { append, type Ground, journal, lines, newGround, STORY } from "./ground.ts";

let ground: Ground;
let root: string;
beforeEach(() => {
  ground = newGround();
  root = ground.project("app");
});
afterEach(() => ground.remove());

/** All there is to know, without what depends on the clock or on how often it was read. */
const everything = (insight: Insight) => {
  const { rows } = insight.runs({ limit: 500 });
  const runs = rows.map(({ project, id }) => insight.run(project, id)!);
  runs.sort((a, b) => (a.run.id < b.run.id ? -1 : 1));
  return {
    days: daysIn(ground.db),
    runs,
    stats: insight.stageStats({}),
    counts: insight.counts({}),
    trend: insight.trend({}, 3),
  };
};

function daysIn(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .query("SELECT days.*, root, 0 AS project FROM days JOIN projects ON id = project ORDER BY root, day, stage")
      .all();
  } finally {
    db.close();
  }
}

/** What a database that never saw anything else says. */
function fresh(): ReturnType<typeof everything> {
  rmSync(dirname(ground.db), { recursive: true });
  const anew = ground.open();
  anew.sync();
  return everything(anew);
}

describe("reading on", () => {
  test("only what is new, and nothing twice", () => {
    append(root, lines("cw-1"));
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ events: 12, skipped: 0, projects: 1, rebuilt: null, problems: [] });
    expect(insight.sync()).toMatchObject({ events: 0 });
    append(root, lines("cw-2").slice(0, 4));
    expect(insight.sync()).toMatchObject({ events: 4 });
    append(root, lines("cw-2").slice(4));
    insight.sync();
    expect(insight.counts({})).toMatchObject({ runs: 2, completed: 2, live: 0 });
    const before = everything(insight);
    expect(before).toEqual(fresh());
  });

  test("byte by byte is the same as at once", () => {
    const text = Buffer.from(lines("cw-1").concat(lines("cw-ü")).join("\n\n"));
    const insight = ground.open();
    for (let at = 0; at < text.length; at += 97) {
      appendFileSync(journal(root), text.subarray(at, at + 97));
      insight.sync();
    }
    appendFileSync(journal(root), "\n");
    insight.sync();
    expect(insight.counts({}).completed).toBe(2);
    const before = everything(insight);
    expect(before).toEqual(fresh());
  });

  test("a line without its end waits for it", () => {
    append(root, lines("cw-1").slice(0, 1));
    const last = lines("cw-1")[1]!;
    appendFileSync(journal(root), last.slice(0, 100));
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ events: 1, skipped: 0 });
    appendFileSync(journal(root), `${last.slice(100)}\n`);
    expect(insight.sync()).toMatchObject({ events: 1, skipped: 0 });
  });

  test("another process goes on where this one stopped", () => {
    append(root, lines("cw-1").slice(0, 6));
    ground.open().sync();
    append(root, lines("cw-1"));
    const insight = ground.open();
    expect(insight.sync().events).toBe(12);
    const before = everything(insight);
    expect(before).toEqual(fresh());
    expect(before.runs[0]!.run).toMatchObject({ claims: 3, gate_fails: 1, continues: 1, waited_ms: 30 * 60_000 });
  });

  const BROKEN = [
    lines("cw-1")[3]!.slice(0, 150),
    `${lines("cw-1")[3]!.slice(0, 150)}"`,
    `${lines("cw-1")[3]}}`,
    "[".repeat(100_000),
    '{"v":1,"at":',
    "\u0000",
    "\ufffd",
    '{"v":1,"__proto__":{"run":"cw-1"}}',
    `{"v":1,"at":"2026-02-30T10:00:00.000Z","run":"cw-1","seq":1,"i":9,"kind":"ended"}`,
    `{"v":1,"at":"2026-03-01T10:00:00.000Z","run":"cw-1","seq":1e99,"i":9,"kind":"ended"}`,
    `{"v":1,"at":"2026-03-01T10:00:00.000Z","run":["cw-1"],"seq":1,"i":9,"kind":"ended"}`,
  ];
  test.each(BROKEN)("a broken line among good ones is skipped alone: %#", (broken) => {
    const [good, more] = [lines("cw-1"), lines("cw-2")];
    append(root, [...good.slice(0, 5), broken, ...good.slice(5), ...more.slice(0, 3), broken, ...more.slice(3)]);
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ skipped: 2, problems: [] });
    const before = everything(insight);
    rmSync(journal(root));
    append(root, [...good, ...more]);
    expect(before).toEqual(fresh());
  });

  test("a line that is too long to matter", () => {
    append(root, lines("cw-1").slice(0, 2));
    appendFileSync(journal(root), `${"x".repeat(70 * 1024 * 1024)}\n`);
    append(root, lines("cw-1").slice(2));
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ events: 12, skipped: 1 });
    expect(insight.counts({}).completed).toBe(1);
  });
});

describe("files that are not what they were", () => {
  const other = () =>
    lines("cw-9", [
      [0, "memory", ARMED],
      [4, "memory", ended("aborted")],
    ]);

  const replace = (text: string[]) => {
    unlinkSync(journal(root));
    append(root, text);
  };

  test.each([
    ["cut", () => truncateSync(journal(root), 900)],
    ["replaced", () => replace([...other(), ...lines("cw-2"), ...lines("cw-3")])],
    [
      "another file in its place",
      () => {
        append(root, [...other(), ...lines("cw-2"), ...lines("cw-3")], "new");
        renameSync(journal(root, "new"), journal(root));
      },
    ],
    [
      "overwritten in place",
      () => writeFileSync(journal(root), `${[...other(), ...lines("cw-2"), ...lines("cw-3")].join("\n")}\n`),
    ],
  ])("%s: the project is folded anew", (_, change) => {
    append(root, lines("cw-1"));
    const untouched = ground.project("other");
    append(untouched, lines("cw-7"));
    const insight = ground.open();
    insight.sync();
    change();
    insight.sync();
    const before = everything(insight);
    expect(before).toEqual(fresh());
    expect(before.runs.some(({ run }) => run.project === untouched)).toBe(true);
  });

  test("rotated: the same file under another name is not read again", () => {
    append(root, lines("cw-1"));
    const insight = ground.open();
    insight.sync();
    renameSync(journal(root), journal(root, "2026-03.1.jsonl"));
    append(root, lines("cw-2"));
    expect(insight.sync().events).toBe(12);
    expect(insight.counts({}).completed).toBe(2);
    expect(insight.sync().events).toBe(0);
  });

  test("taken away: what it told stays", () => {
    append(root, lines("cw-1"));
    const insight = ground.open();
    insight.sync();
    unlinkSync(journal(root));
    append(root, lines("cw-2"), "2026-04.jsonl");
    insight.sync();
    expect(insight.counts({}).completed).toBe(2);
  });

  test("what cannot be read is told, and the rest is read", () => {
    append(root, lines("cw-1"));
    symlinkSync(journal(root), journal(root, "2026-04.jsonl"));
    mkdirSync(journal(root, "2026-05.jsonl"));
    const linked = ground.project("linked");
    rmSync(join(linked, ".pawl"), { recursive: true });
    symlinkSync(join(root, ".pawl"), join(linked, ".pawl"));
    const insight = ground.open();
    const { events, problems } = insight.sync();
    expect(events).toBe(12);
    expect(problems.map((one) => one.replace(ground.folder, "")).sort()).toEqual([
      "/app/.pawl/journal/2026-04.jsonl: not a regular file",
      "/app/.pawl/journal/2026-05.jsonl: not a regular file",
      expect.stringContaining("/linked: .pawl/journal"),
    ]);
  });

  test.skipIf(process.getuid?.() === 0)("no right to read it", () => {
    append(root, lines("cw-1"));
    chmodSync(journal(root), 0);
    expect(ground.open().sync().problems.length).toBe(1);
  });

  test("a project that is gone is history", () => {
    append(root, lines("cw-1"));
    const insight = ground.open();
    insight.sync();
    rmSync(root, { recursive: true });
    insight.sync();
    expect(insight.projects()).toMatchObject([{ root, name: "app", runs: 1, live: 0, gone: true }]);
    expect(insight.counts({}).completed).toBe(1);
  });

  test.each([
    ["its folder", ""],
    ["Pawl's folder in it", ".pawl"],
  ])("without %s no run of a project is open, and with it again each is as it was", (_, folder) => {
    append(root, lines("cw-1"));
    append(root, lines("cw-2", STORY.slice(0, 4)));
    append(root, [JSON.stringify({ ...JSON.parse(lines("cw-3")[0]!), kind: "looped", procedure: "plain" })]);
    const insight = ground.open();
    const look = () => {
      insight.sync();
      const { live, completed, other } = insight.counts({});
      const { run, stages } = insight.run(root, "cw-2")!;
      return {
        counts: { live, completed, other, projects: insight.projects().map((one) => one.live) },
        listed: ["live", "waiting", "ended", "gone"].map((status) => insight.runs({ status }).rows.length),
        open: insight.stageStats({}).reduce((sum, one) => sum + one.open, 0),
        run: [run.status, run.outcome, run.ended_at === null, run.waited_ms === 0, stages.at(-1)!.how],
        loop: insight.loops({}).map(({ outcome }) => outcome),
      };
    };
    const before = look();
    expect(before).toEqual({
      counts: { live: 2, completed: 1, other: 0, projects: [2] },
      ...{ listed: [2, 1, 1, 0], open: 2, run: ["waiting", null, true, false, "open"], loop: [null] },
    });
    renameSync(join(root, folder), join(ground.folder, "unmounted"));
    expect(look()).toEqual({
      counts: { live: 0, completed: 1, other: 2, projects: [0] },
      ...{ listed: [0, 0, 3, 2], open: 0, run: ["ended", "gone", false, true, "ended"], loop: ["gone"] },
    });
    renameSync(join(ground.folder, "unmounted"), join(root, folder));
    expect(look()).toEqual(before);
  });

  test("all projects that Pawl has heard of, if none are named", () => {
    append(root, lines("cw-1"));
    const greeted = join(ground.folder, ".local/state/pawl/greeted");
    mkdirSync(greeted, { recursive: true });
    writeFileSync(join(greeted, "app"), `${root}\n`);
    const home = process.env.HOME;
    process.env.HOME = ground.folder;
    const insight = openInsight();
    try {
      expect(insight.sync()).toMatchObject({ events: 12, projects: 1 });
      expect(existsSync(join(ground.folder, ".local/state/pawl/insight.db"))).toBe(true);
      const later = ground.project("later");
      append(later, lines("cw-1"));
      writeFileSync(join(greeted, "later"), `${later}\n`);
      expect(insight.sync()).toMatchObject({ events: 12, projects: 2 });
    } finally {
      insight.close();
      process.env.HOME = home;
    }
  });

  test("worktrees are projects of their own, told apart", () => {
    const [one, two] = [ground.project("a/app"), ground.project("b/app")];
    append(one, lines("cw-1"));
    append(two, lines("cw-1", STORY.slice(0, 2)));
    const insight = ground.open();
    insight.sync();
    const names = insight.projects().map(({ name, runs, live }) => [name, runs, live]);
    expect(names).toContainEqual(["a/app", 1, 0]);
    expect(names).toContainEqual(["b/app", 1, 1]);
  });
});
