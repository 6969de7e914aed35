import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ARMED } from "./core/folding.ts";
import { append, type Ground, lines, newGround } from "./ground.ts";

let ground: Ground;
let root: string;
beforeEach(() => {
  ground = newGround();
  root = ground.project("app");
});
afterEach(() => ground.remove());

describe("the database", () => {
  const RUIN: Record<string, [change: () => void, why: RegExp]> = {
    "no database at all": [
      () => writeFileSync(ground.db, "this is no database, whatever it is called\n".repeat(200)),
      /damaged/,
    ],
    "of another version": [() => version(ground.db, 99), /version 99/],
    "damaged in the middle": [() => scribble(ground.db), /damaged/],
    "only half of it": [() => truncateSync(ground.db, 8192), /damaged/],
  };
  test.each(Object.entries(RUIN))("%s: made anew, and said so", (_, [change, why]) => {
    append(root, lines("cw-1"));
    const first = ground.open();
    first.sync();
    first.close();
    expect(existsSync(`${ground.db}-wal`)).toBe(false);
    change();
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ events: 12, rebuilt: expect.stringMatching(why) });
    expect(insight.counts({}).completed).toBe(1);
    expect(insight.sync()).toMatchObject({ events: 0, rebuilt: null });
  });

  const NO_PLACE: Record<string, () => void> = {
    "a folder in its place": () => mkdirSync(ground.db, { recursive: true }),
    "a file in its folder's place": () => writeFileSync(dirname(ground.db), ""),
  };
  test.each(Object.entries(NO_PLACE))("%s: made in memory, and said so", (_, change) => {
    append(root, lines("cw-1"));
    change();
    const insight = ground.open();
    expect(insight.sync()).toMatchObject({ events: 12, rebuilt: expect.stringMatching(/cannot be kept/) });
    expect(insight.counts({}).completed).toBe(1);
    expect(insight.sync()).toMatchObject({ events: 0, rebuilt: null });
  });

  test("a question that meets damage reads everything anew by itself", () => {
    append(root, lines("cw-1"));
    const first = ground.open();
    first.sync();
    first.close();
    scribble(ground.db);
    expect(ground.open().runs({}).rows.length).toBe(1);
  });

  test("is the person's alone", () => {
    ground.open().sync();
    expect(statSync(ground.db).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(ground.db)).mode & 0o777).toBe(0o700);
  });

  test("no text of agents or people is in it", () => {
    append(
      root,
      lines("cw-1", [
        [
          0,
          "memory",
          ARMED,
          ["stopped", { said: "a long secret" }],
          ["prompted", { said: "another", injected: false }],
        ],
      ]),
    );
    const insight = ground.open();
    insight.sync();
    insight.close();
    const bytes = [ground.db, `${ground.db}-wal`].map((path) => readIfThere(path)).join("");
    expect(["cw-1", "secret", "another"].map((text) => bytes.includes(text))).toEqual([true, false, false]);
  });

  test("while another process writes for long, the old figures stay and it is said", () => {
    append(root, lines("cw-1"));
    const insight = ground.open();
    insight.sync();
    append(root, lines("cw-2"));
    const other = new Database(ground.db);
    other.run("BEGIN IMMEDIATE");
    expect(insight.sync()).toMatchObject({ events: 0, problems: [expect.stringContaining("another process")] });
    expect(insight.counts({}).runs).toBe(1);
    other.run("ROLLBACK");
    other.close();
    expect(insight.sync()).toMatchObject({ events: 12, problems: [] });
    expect(insight.counts({}).runs).toBe(2);
  });

  test("four processes at once: all read, nothing twice", async () => {
    for (let n = 0; n < 300; n++) append(root, lines(`cw-${n}`));
    const program = join(import.meta.dir, "sync-once.ts");
    const children = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, program, ground.db, root], { stdout: "pipe", stderr: "inherit" }),
    );
    const said = await Promise.all(children.map((child) => new Response(child.stdout).json()));
    expect(said.map(({ problems }) => problems)).toEqual([[], [], [], []]);
    expect(said.reduce((sum, { events }) => sum + events, 0)).toBe(300 * 12);
    const insight = ground.open();
    expect(insight.counts({})).toMatchObject({ runs: 300, completed: 300 });
    expect(insight.stageStats({})[0]).toMatchObject({ stage: "memory", attempts: 300, gate_fails: 300 });
  });
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function version(path: string, number: number): void {
  const db = new Database(path);
  db.run(`PRAGMA user_version = ${number}`);
  db.close();
}

/** Behind the first page, which says what kind of file it is. */
function scribble(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 16_384);
  writeFileSync(path, bytes);
}
