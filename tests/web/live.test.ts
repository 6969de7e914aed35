/** What happens in a project is told to open pages within a second. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, removePlaces } from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import type { World } from "../scenarios/scenario.ts";
import { enter, newWorld, play, type Running, startDashboard, stopDashboards, until } from "./ground.ts";

let place: Place;
let world: World;
let dashboard: Running;
let authorization: string;

beforeAll(async () => {
  place = makePlace();
  world = newWorld(place);
  dashboard = await startDashboard(place);
  ({ authorization } = await enter(dashboard));
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

interface Told {
  project: string;
  run: string;
  kind: string;
  heard: number;
}

async function listen(from = dashboard, key = authorization) {
  const abort = new AbortController();
  const stream = await fetch(`${from.origin}/api/live`, { headers: { authorization: key }, signal: abort.signal });
  const told: Told[] = [];
  let text = "";
  const reading = (async () => {
    for await (const bytes of stream.body!) {
      text += new TextDecoder().decode(bytes);
      const events = text.split("\n\n");
      text = events.pop()!;
      for (const event of events) {
        const data = /^event: change\ndata: (.*)$/.exec(event)?.[1];
        if (data) told.push({ ...JSON.parse(data), heard: Date.now() });
      }
    }
  })().catch(() => {});
  const stop = () => {
    abort.abort();
    return reading;
  };
  return { told, stream, stop };
}

describe("an open page", () => {
  test("is a stream of events", async () => {
    const { stream, stop } = await listen();
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("cache-control")).toBe("no-store");
    await stop();
  });

  test("hears of the first run of a project, and of each event, within a second", async () => {
    const { told, stop } = await listen();
    const steps = [
      { prompt: "/complete-work" },
      { stop: "<promise>MEMORY_UPDATED</promise>" },
      { notice: "permission_prompt" },
    ];
    const took: number[] = [];
    for (const [at, kind] of ["armed", "advanced", "noticed"].entries()) {
      const began = Date.now();
      play(world, [steps[at]!]);
      const done = Date.now();
      const change = await until(
        () => told.find((one) => one.kind === kind),
        () => JSON.stringify(told),
      );
      expect(change).toMatchObject({ project: place.root, run: runOf(place.root, "")!.id });
      took.push(change.heard - done);
      expect(change.heard).toBeGreaterThanOrEqual(began);
    }
    // The machine may stand still for one of them, hardly for two.
    expect(took.sort((a, b) => a - b)[1]).toBeLessThan(1_000);
    await stop();
  });

  test("hears the same as the others, and each thing once", async () => {
    const pages = await Promise.all([listen(), listen()]);
    play(world, [{ stop: "no signal at all" }]);
    for (const { told } of pages)
      await until(
        () => told.find((one) => one.kind === "missing"),
        () => JSON.stringify(told),
      );
    for (const { told } of pages) expect(told.filter((one) => one.kind === "missing").length).toBe(1);
    for (const { stop } of pages) await stop();
  });

  test("shows that the agent asked for a permission", async () => {
    play(world, [{ prompt: "something else" }, { notice: "permission_prompt" }]);
    const { needs } = await (await enter(dashboard)).data("/api/now");
    expect(needs).toMatchObject([
      { kind: "permission", what: "the agent asks for a permission", how: "answer in its session" },
    ]);
    play(world, [{ stop: "done with it" }]);
    const { needs: later } = await (await enter(dashboard)).data("/api/now");
    expect(later).toMatchObject([{ kind: "paused", what: "paused for your own prompt" }]);
  });
});

test("what lies outside is not told, wherever a project's folders lead", async () => {
  const other = makePlace();
  const outside = join(other.base, "outside");
  mkdirSync(outside);
  mkdirSync(join(other.root, ".pawl"));
  symlinkSync(outside, join(other.root, ".pawl/journal"));
  const own = await startDashboard(other);
  const page = await enter(own);
  const { told, stop } = await listen(own, page.authorization);
  const line = { v: 1, at: new Date().toISOString(), run: "secret", seq: 1, i: 0, kind: "stopped", said: "secret" };
  appendFileSync(join(outside, "2026-01.jsonl"), `${JSON.stringify(line)}\n`);
  mkdirSync(join(other.root, ".pawl/runs/after"), { recursive: true });
  await until(() => told.find(({ run }) => run === "after") ?? undefined);
  expect(JSON.stringify(told)).not.toContain("secret");
  expect(await page.data("/api/journal")).toEqual({ rows: [], next: null, partial: false, unread: [other.root] });
  for (const path of ["now", "runs", "stats", "loops", "tasks"]) {
    const heard = await page.get(`/api/${path}`);
    expect(heard.status).toBe(200);
    expect(await heard.text()).not.toContain("secret");
  }
  await stop();
});
