/** A long history: the dashboard answers while it is being read, and says how far it is. */
import { afterAll, expect, test } from "bun:test";
import { makePlace, removePlaces } from "../harness.ts";
import { writeLong } from "../insight/ground.ts";
import { enter, startDashboard, stopDashboards, until } from "./ground.ts";

const RUNS = 25_000;

afterAll(() => {
  stopDashboards();
  removePlaces();
});

test("figures grow while the journal is read, and every answer says how much of it they know", async () => {
  const place = makePlace();
  writeLong(place.root, RUNS);
  const client = await enter(await startDashboard(place));
  const look = async () => {
    const answer = await client.get("/api/stats");
    const { counts } = (await answer.json()) as { counts: { runs: number; completed: number } };
    return { percent: answer.headers.get("x-pawl-reading"), ...counts };
  };
  const first = await look();
  expect(first.percent).toMatch(/^\d\d?$/);
  expect(first.runs).toBeWithin(1, RUNS);
  // Nobody has to ask for it to go on.
  const last = await until(async () => ((await client.get("/api/now")).headers.has("x-pawl-reading") ? null : look()));
  expect(last).toMatchObject({ percent: null, runs: RUNS, completed: RUNS });
});
