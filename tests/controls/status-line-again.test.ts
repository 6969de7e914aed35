/** What the status line said last is said again, as long as nothing it depends on has changed. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCost } from "../../src/store/cost.ts";
import { type Armed, armed, CLAIM, stop } from "../cli/hook/hostile.ts";
import { removePlaces, runHook, runPawl } from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import { inHome } from "../harness/sealing.ts";
import { FIRST, line, mine, NOTHING, runFolder } from "./status-line.ts";

afterAll(removePlaces);

const onLinux = process.platform === "linux";
const state = (armed: Armed, ...parts: string[]) => join(armed.place.home, ".local/state/pawl", ...parts);
const memoOf = (armed: Armed) => state(armed, "lines", `claude-${armed.session.id}`);
const idOf = ({ place, session }: Armed) => runOf(place.root, session.id)!.id;
const enteredAt = (one: Armed) => {
  const commit = JSON.parse(readFileSync(join(runFolder(one), "000001.json"), "utf8")) as {
    run: { entered_at: string };
  };
  return Date.parse(commit.run.entered_at);
};
const costOf = ({ place }: Armed, id: string) => inHome(place.home, () => readCost(place.root, id));

/** What was written a moment ago is not relied on. */
function aged(): Armed {
  const one = armed();
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(state(one, "sessions", `claude-${one.session.id}`), hourAgo, hourAgo);
  return one;
}

/** Another text under the memo: who prints it has not looked at the run. */
function mark(one: Armed, change: (memo: Record<string, unknown>) => object = () => ({})): void {
  const [head = ""] = readFileSync(memoOf(one), "utf8").split("\n");
  const memo = JSON.parse(head) as Record<string, unknown>;
  writeFileSync(memoOf(one), `${JSON.stringify({ ...memo, ...change(memo) })}\nremembered ●\n`);
}

describe.if(onLinux)("said again", () => {
  test("the same bytes, without a look at the run", () => {
    const one = aged();
    expect(mine(one)).toEqual({ code: 0, out: FIRST, err: "" });
    expect(mine(one)).toEqual({ code: 0, out: FIRST, err: "" });
    mark(one);
    expect(mine(one)).toEqual({ code: 0, out: "remembered ●\n", err: "" });
  });

  test("not when the run has moved", () => {
    const one = aged();
    mine(one);
    mark(one);
    runHook(one.place, stop(one, CLAIM));
    expect(mine(one).out).toBe("complete-work  ● ◉ ○ ○  REVIEW  2 of 4, 0 min\n");
  });

  test.each([
    ["switched off in the project", ["off"]],
    ["paused", ["runs", "pause"]],
    ["ended", ["runs", "abort"]],
  ])("not when it was %s", (_name, command) => {
    const one = aged();
    mine(one);
    mark(one);
    expect(runPawl(one.place, command).code).toBe(0);
    expect(mine(one).out).not.toContain("remembered");
  });

  test("not when the session was switched off", () => {
    const one = aged();
    mine(one);
    mark(one);
    runPawl(one.place, ["off", "--session", one.session.id]);
    expect(mine(one)).toEqual(NOTHING);
  });

  test("not from another folder", () => {
    const one = aged();
    mine(one);
    mark(one);
    expect(mine(one, { folder: one.place.home }).out).toBe(FIRST);
  });

  test.each([
    ["its time is over", () => ({ until: Date.now() - 1 })],
    ["the clock was set back", () => ({ at: Date.now() + 60_000, until: Date.now() + 120_000 })],
    ["another version wrote it", () => ({ v: 2 })],
    ["something is missing in it", () => ({ seen: undefined })],
    [
      "a file is another",
      (memo: Record<string, unknown>) => ({ seen: (memo.seen as [string, string][]).map(([path]) => [path, "1 2 3"]) }),
    ],
  ])("not when %s", (_name, change) => {
    const one = aged();
    mine(one);
    mark(one, change);
    expect(mine(one).out).toBe(FIRST);
    expect(mine(one).out).toBe(FIRST);
  });

  test.each([
    ["empty", ""],
    ["no JSON", "{{{\nremembered\n"],
    ["without a line", '{"v":1'],
    ["a list", "[]\nremembered\n"],
    ["null", "null\nremembered\n"],
    ["too large", `${" ".repeat(70_000)}\nremembered\n`],
  ])("a memo that is %s is made anew", (_name, text) => {
    const one = aged();
    mine(one);
    writeFileSync(memoOf(one), text);
    expect(mine(one)).toEqual({ code: 0, out: FIRST, err: "" });
    expect(readFileSync(memoOf(one), "utf8")).toEndWith(`\n${FIRST}`);
  });

  test("a minute later it says so", () => {
    const one = aged();
    mine(one);
    const { until } = JSON.parse(readFileSync(memoOf(one), "utf8").split("\n")[0]!) as { until: number };
    expect(until - enteredAt(one)).toBe(60_000);
  });

  test("a session without a run keeps its next task, another session has none of it", () => {
    const one = armed();
    const file = join(one.place.root, "session.md");
    writeFileSync(file, "## Tasks\n- [ ] Here\n");
    utimesSync(file, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
    expect(line(one.place, { session: "other" }).out).toBe("Next: Here\n");
    const memo = state(one, "lines", "claude-other");
    writeFileSync(memo, readFileSync(memo, "utf8").replace("\nNext: Here", "\nremembered"));
    expect(line(one.place, { session: "other" }).out).toBe("remembered\n");
    expect(line(one.place, { session: "third" }).out).toBe("Next: Here\n");
  });
});

describe.if(onLinux)("what it costs", () => {
  test("is told from the memo at once, and goes to the run with the next line that is made", () => {
    const one = aged();
    mine(one, { usd: 1, api: 10 });
    const file = join(runFolder(one), `cost-${one.session.id}.json`);
    const { ino, mtimeMs } = statSync(file);
    for (const usd of [2, 3, 3.5]) mine(one, { usd, api: usd * 10, used: usd });
    expect(statSync(file)).toMatchObject({ ino, mtimeMs });
    expect(costOf(one, idOf(one))).toMatchObject({ usd: 2.5, api_ms: 25, context: 3.5, sessions: 1 });
    mark(one, () => ({ until: 0 }));
    mine(one, { usd: 4, api: 40, used: 4 });
    unlinkSync(memoOf(one));
    expect(costOf(one, idOf(one))).toMatchObject({ usd: 3, api_ms: 30, context: 4 });
    expect(readdirSync(state(one, "lines"))).toEqual([]);
  });

  test("is the memo's last word for a run that has ended, also when the session has another", () => {
    const one = aged();
    const id = idOf(one);
    for (const usd of [1, 2]) mine(one, { usd });
    runPawl(one.place, ["runs", "abort"]);
    expect(costOf(one, id)).toMatchObject({ usd: 1 });
    mine(one, { usd: 9 });
    expect(existsSync(join(one.place.root, ".pawl/archive", id, `cost-${one.session.id}.json`))).toBe(true);
    expect(costOf(one, id)).toMatchObject({ usd: 1 });
  });

  test("a client that begins to count anew loses nothing", () => {
    const one = aged();
    for (const usd of [1, 3, 0.5, 0.75]) mine(one, { usd, api: usd * 1000 });
    expect(costOf(one, idOf(one))).toMatchObject({ usd: 2.75, api_ms: 2750 });
  });

  test("of sessions that nobody hears of any more goes to their runs, and the memo goes", () => {
    const one = aged();
    for (const usd of [1, 2]) mine(one, { usd });
    const old = Date.now() / 1000 - 8 * 24 * 3600;
    utimesSync(memoOf(one), old, old);
    writeFileSync(join(one.place.root, "session.md"), "## Tasks\n- [ ] Here\n");
    utimesSync(join(one.place.root, "session.md"), old, old);
    line(one.place, { session: "other" });
    expect(readdirSync(state(one, "lines"))).toEqual(["claude-other"]);
    expect(costOf(one, idOf(one))).toMatchObject({ usd: 1 });
  });
});
