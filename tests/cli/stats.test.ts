/** `pawl stats` over journals that real hooks wrote, weeks ago and today. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StatsView } from "../../src/insight/types.ts";
import { type Clock, makeClock } from "../harness/clock.ts";
import { besides, make, openShop, promise, sentBack, ship } from "../harness/evening.ts";
import { PAWL, removePlaces, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { atTerminal } from "../harness/last-words.ts";
import { ARMED, at, linesOf, to } from "../insight/core/folding.ts";
import type { World } from "../scenarios/scenario.ts";

setDefaultTimeout(30_000);
afterAll(removePlaces);

const stats = (world: World, ...args: string[]) => runInProcess(world.place, ["stats", ...args]);
const view = (world: World, ...args: string[]): StatsView => JSON.parse(stats(world, "--json", ...args).out);
const stageOf = ({ stages }: StatsView, name: string) => stages.find(({ stage }) => stage === name);

const DAY = 24 * 3_600_000;

function openTimed(): World & { clock: Clock } {
  const world = openShop();
  const clock = makeClock(world.place.base);
  return { ...world, place: { ...world.place, env: { ...world.place.env, ...clock.env } }, clock };
}

test("a project without any run says so", () => {
  const { code, out, err } = stats(openShop());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("No run in this time: there is nothing to count yet.");
  expect(out).not.toContain("p50");
});

describe("two months of work", () => {
  let world: World & { clock: Clock };
  const minutes = (count: number) => world.clock.step(count * 60_000);

  /** So many minutes in each stage. */
  function work(session: string, [build, look, send]: [number, number, number]): void {
    const [first, built, looked, ...rest] = ship(session);
    make(world, first!);
    minutes(build);
    make(world, built!);
    minutes(look);
    make(world, looked!);
    minutes(send);
    make(world, ...rest);
  }

  beforeAll(() => {
    world = openTimed();
    world.clock.step(-45 * DAY);
    for (const nth of [1, 2, 3, 4, 5]) work(`o${nth}`, [10, 1, 2]);
    world.clock.step(40 * DAY);
    for (const nth of [1, 2, 3, 4, 5, 6]) work(`n${nth}`, [30, 1, 2]);
    make(world, ...sentBack("bad"), { remove: "broken" }, { session: "ask", prompt: "/sign" });
    make(world, { stop: promise("SIGNED") });
    minutes(90);
    make(world, { prompt: "/pawl:approve" });
    world.clock.step(-world.clock.off);
  }, 120_000);

  test("counts what happened since, and the same time before", () => {
    const { runs, runs_before } = view(world);
    expect(runs).toMatchObject({ runs: 8, completed: 7, failed: 0, aborted: 0, live: 1 });
    expect(runs_before).toMatchObject({ runs: 5, completed: 5, live: 0 });
  });

  test("per stage: how long, how often, what failed, what waited for the person", () => {
    const found = view(world);
    const build = stageOf(found, "build")!;
    expect(build).toMatchObject({ workflow: "ship", runs: 6, attempts: 6, success_rate: 1, approximate: false });
    expect(build.p50_ms! / 60_000).toBeCloseTo(30, 0);
    const sign = stageOf(found, "sign")!;
    expect(sign.waited_ms / 60_000).toBeCloseTo(90, 0);
    expect(stageOf(found, "look")!.gate_fails).toBe(0);
  });

  test("against the time before: the figures of both, and an arrow", () => {
    const { stages_before } = view(world);
    expect(stages_before.find(({ stage }) => stage === "build")!.p50_ms! / 60_000).toBeCloseTo(10, 0);
    expect(stats(world).out).toMatch(/ {2}build +p50 10 min → 30 min ↑ {3}success 100 % → 100 % = {3}tries 5 → 6 ↑\n/);
  });

  test("the bottleneck, with its evidence", () => {
    const { bottleneck } = view(world);
    expect(bottleneck!.sentence).toContain("build (ship)");
    const { out } = stats(world);
    expect(out).toContain(`\nBottleneck: ${bottleneck!.sentence}\n  6 attempts in 6 runs; p50 30 min`);
    expect(out).toMatch(/Where the time goes\n {2}build +█{24} /);
  });

  test("fits the screen, and is the same in a pipe", () => {
    const { out } = stats(world);
    expect(out.split("\n").filter((line) => Bun.stringWidth(line) > 100)).toEqual([]);
    expect(out).not.toContain("\u001b");
  });

  test("a terminal of 80 columns gets lines of 80 columns", async () => {
    const { root: cwd, env } = world.place;
    const { code, screen } = await atTerminal([PAWL, "stats"], { cwd, env }, 80);
    expect(code).toBe(0);
    expect(screen).toMatch(/ tries 5 → 6 ↑\r\n *send .*\r\n/);
    const lines = screen.split(/\r\n?/);
    expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
  });

  test("only one workflow, only some time", () => {
    expect(view(world, "--workflow", "sign").stages.map(({ stage }) => stage)).toEqual(["sign"]);
    expect(view(world, "--since", "1h").runs.runs).toBeLessThan(8);
    expect(view(world, "--since", "90d").runs.runs).toBe(13);
    expect(stats(world, "--workflow", "sign", "--since", "0m").out).toContain("No run in this time");
  });

  test("of a workflow without any run that is said, with those that have some; programs get nothing", () => {
    const { code, out } = stats(world, "--workflow", "nope");
    expect({ code, out: out.split("\n")[2] }).toEqual({
      ...{ code: 0, out: "No runs of nope here. Known workflows: ship, sign." },
    });
    expect(view(world, "--workflow", "nope")).toMatchObject({ runs: { runs: 0 }, stages: [], bottleneck: null });
    expect(stats(world, "--workflow", "nope", "--csv").out).toMatch(/^workflow,[^\r\n]+\r\n$/);
  });

  test("CSV has a line for each stage", () => {
    const lines = stats(world, "--csv").out.split("\r\n");
    expect(lines[0]).toStartWith("workflow,stage,runs,");
    expect(lines.filter((line) => line.startsWith("ship,build,6,6,"))).toHaveLength(1);
    expect(lines.at(-1)).toBe("");
  });

  test("a database that is gone or broken is made anew, with the same figures", () => {
    const before = view(world).stages;
    const folder = join(world.place.home, ".local/state/pawl");
    for (const name of readdirSync(folder).filter((one) => one.startsWith("insight.db"))) rmSync(join(folder, name));
    expect(view(world).stages).toEqual(before);
  });

  test("where the disk is full, the figures are the same", () => {
    const before = view(world).stages;
    const folder = join(world.place.home, ".local/state/pawl");
    for (const name of readdirSync(folder).filter((one) => one.startsWith("insight.db"))) rmSync(join(folder, name));
    const { code, out, err } = shell(world.place, `trap '' XFSZ; ulimit -f 64; '${PAWL}' stats --json`);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out).stages).toEqual(before);
  });
});

test("what begins, or ends, at the very moment of --since is not of the time before", () => {
  const world = openShop();
  const folder = join(world.place.root, ".pawl/journal");
  mkdirSync(folder, { recursive: true });
  const stories = [
    linesOf([[0, "memory", ARMED]], { run: "cw-1" }),
    linesOf(
      [
        [-5, "memory", ARMED],
        [0, "memory", to("memory", "review")],
      ],
      { run: "cw-2" },
    ),
  ];
  writeFileSync(join(folder, "2026-03.jsonl"), `${stories.flat().join("\n")}\n`);
  const { runs, runs_before, stages, stages_before } = view(world, "--since", new Date(at(0)).toISOString());
  expect({ now: runs.runs, before: runs_before.runs }).toEqual({ now: 2, before: 1 });
  expect(stages.map(({ attempts }) => attempts)).toEqual([1, 0]);
  expect(stages_before.filter(({ attempts }) => attempts > 0)).toEqual([]);
});

test("other projects: by name, all together; an unknown one is refused with those that are known", () => {
  const shop = openShop();
  make(shop, ...ship("A"));
  const site = besides(shop, "site");
  make(site, { session: "F", prompt: "/complete-work" }, { stop: promise("MEMORY_UPDATED") });
  const workflows = (...args: string[]) => [...new Set(view(shop, ...args).stages.map(({ workflow }) => workflow))];
  expect(workflows()).toEqual(["ship"]);
  expect(workflows("--project", "site")).toEqual(["complete-work"]);
  expect(workflows("--project", site.place.root)).toEqual(["complete-work"]);
  expect(workflows("--all")).toEqual(["complete-work", "ship"]);
  stats(besides(shop, "unused"));
  expect(stats(shop, "--all").out).toStartWith("Statistics in 2 projects, ");
  const { code, err } = stats(shop, "--project", "nope");
  expect(code).toBe(2);
  expect(err).toContain("unknown project nope");
  expect(err).toContain("site");
});

test("stages of hostile names, in a journal that somebody wrote into", () => {
  const world = openShop();
  make(world, ...ship("A"));
  const folder = join(world.place.root, ".pawl/journal");
  const [name] = readdirSync(folder);
  const at = new Date().toISOString();
  const line = (seq: number, kind: string, stage: string, more = {}) =>
    JSON.stringify({
      v: 1,
      at,
      run: "x-1",
      seq,
      i: 0,
      kind,
      host: "claude",
      session: "s",
      workflow: "=cmd()",
      stage,
      ...more,
    });
  const stage = '=HYPERLINK("http://x")\u001b[31m';
  appendFileSync(
    join(folder, name!),
    `${line(1, "armed", stage, { plan: [stage, "b"] })}\n{torn\n${line(2, "advanced", "b", { from: stage, to: "b" })}\n`,
  );
  const csv = stats(world, "--csv").out;
  expect(csv).toContain(`"'=cmd()","'=HYPERLINK(""http://x"")"`);
  expect(stats(world).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
});

test.each<[string[], string]>([
  [["--since", "soon"], "not a time"],
  [["--json", "--csv"], "cannot be used together"],
  [["--all", "--project", "x"], "cannot be used together"],
  [["all"], "unknown argument all"],
])("wrong use: %j", (args, said) => {
  const { code, out, err } = stats(openShop(), ...args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(said);
});
