/** What the client says a session costs, kept with its run. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCost } from "../../src/store/cost.ts";
import { type Armed, armed } from "../cli/hook/hostile.ts";
import { payload, removePlaces, runHook } from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { runOf } from "../harness/run-files.ts";
import { inHome } from "../harness/sealing.ts";
import { ask, FIRST, mine, runFolder, told } from "./status-line.ts";

afterAll(removePlaces);

describe("the cost of a run", () => {
  const costOf = ({ place }: Armed, id: string) => inHome(place.home, () => readCost(place.root, id));

  test("counts from where the run was first seen in its session", () => {
    const state = armed();
    const { id } = runOf(state.place.root, state.session.id)!;
    expect(costOf(state, id)).toBeNull();
    mine(state, { usd: 1.5, api: 1000, added: 10, used: 12 });
    expect(costOf(state, id)).toMatchObject({ usd: 0, api_ms: 0, added: 0, context: 12, sessions: 1 });
    mine(state, { usd: 2.25, api: 4000, added: 15, used: 20 });
    expect(costOf(state, id)).toMatchObject({
      usd: 0.75,
      api_ms: 3000,
      added: 5,
      removed: 0,
      context: 20,
      sessions: 1,
    });
  });

  test("a client that begins to count anew loses nothing", () => {
    const state = armed();
    const { id } = runOf(state.place.root, state.session.id)!;
    for (const usd of [1, 3, 0.5, 0.75]) mine(state, { usd, api: usd * 1000 });
    expect(costOf(state, id)).toMatchObject({ usd: 2.75, api_ms: 2750 });
  });

  test("is written only when a figure has changed", () => {
    const state = armed();
    mine(state, { usd: 1 });
    const file = join(runFolder(state), `cost-${state.session.id}.json`);
    const { ino, mtimeMs } = statSync(file);
    mine(state, { usd: 1 });
    expect(statSync(file)).toMatchObject({ ino, mtimeMs });
    mine(state, { usd: 2 });
    expect(statSync(file).ino).not.toBe(ino);
    expect(readdirSync(runFolder(state)).filter((name) => name.includes("tmp"))).toEqual([]);
    expect(runOf(state.place.root, state.session.id)).toMatchObject({ seq: 1 });
  });

  test("goes to the archive with its run, and stays as it was", () => {
    const state = armed();
    const { id } = runOf(state.place.root, state.session.id)!;
    for (const usd of [1, 2]) mine(state, { usd });
    runByPerson(state.place, ["runs", "abort"]);
    mine(state, { usd: 9 });
    expect(existsSync(join(state.place.root, ".pawl/archive", id))).toBe(true);
    expect(costOf(state, id)).toMatchObject({ usd: 1 });
  });

  test("two sessions of one run are added up, and what nobody sealed is not", () => {
    const state = armed();
    const { id } = runOf(state.place.root, state.session.id)!;
    for (const usd of [1, 2]) mine(state, { usd });
    const other = { ...state, session: { ...state.session, id: "22222222-0000-4000-8000-000000000000", turn: 1 } };
    runByPerson(state.place, ["runs", "adopt"]);
    runHook(state.place, payload(state.place, other.session, "UserPromptSubmit", { prompt: "/complete-work" }));
    for (const usd of [5, 9]) mine(other, { usd });
    expect(costOf(state, id)).toMatchObject({ usd: 5, sessions: 2 });
    const forged = readFileSync(join(runFolder(other), `cost-${other.session.id}.json`), "utf8");
    writeFileSync(join(runFolder(other), `cost-${other.session.id}.json`), forged.replace('"usd":9', '"usd":900'));
    writeFileSync(join(runFolder(other), "cost-third.json"), '{"v":1}');
    expect(costOf(state, id)).toMatchObject({ usd: 1, sessions: 1 });
  });

  test("a link in its place is not followed", () => {
    const state = armed();
    const outside = join(state.place.base, "outside");
    writeFileSync(outside, "theirs");
    symlinkSync(outside, join(runFolder(state), `cost-${state.session.id}.json`));
    expect(mine(state, { usd: 1 }).out).toBe(FIRST);
    expect(readFileSync(outside, "utf8")).toBe("theirs");
  });

  test("cost in words that are no figures costs nothing but the figures", () => {
    const state = armed();
    const input = {
      ...told(state.place, { session: state.session.id }),
      cost: { total_cost_usd: "1" },
      context_window: 3,
    };
    expect(ask(state.place, input).out).toBe(FIRST);
    expect(readdirSync(runFolder(state)).filter((name) => name.startsWith("cost-"))).toEqual([]);
  });
});
