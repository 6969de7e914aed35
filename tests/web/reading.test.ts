/** A long history: the dashboard answers while it is being read, and says how far it is. */
import { afterAll, expect, test } from "bun:test";
import { makePlace, removePlaces } from "../harness/harness.ts";
import { writeLong } from "../insight/ground.ts";
import { enter, startDashboard, stopDashboards, until } from "./ground.ts";

const RUNS = 25_000;
const MOST_RUNS = 200_000;

afterAll(() => {
  stopDashboards();
  removePlaces();
});

async function open(runs: number) {
  const place = makePlace();
  writeLong(place.root, runs);
  const client = await enter(await startDashboard(place));
  const look = async () => {
    const answer = await client.get("/api/stats");
    const { counts } = (await answer.json()) as { counts: { runs: number; completed: number } };
    return { percent: answer.headers.get("x-pawl-reading"), ...counts };
  };
  return { client, look, first: await look(), runs };
}

/** Where all was read before we came to look, there was too little of it. */
async function openWhileReading(runs = RUNS): Promise<Awaited<ReturnType<typeof open>>> {
  const opened = await open(runs);
  return opened.first.percent === null && runs < MOST_RUNS ? openWhileReading(2 * runs) : opened;
}

test("figures grow while the journal is read, and every answer says how much of it they know", async () => {
  const { client, look, first, runs } = await openWhileReading();
  expect(first.percent).toMatch(/^\d\d?$/);
  expect(first.runs).toBeWithin(1, runs);
  // No one has to ask for it to go on.
  const last = await until(async () => ((await client.get("/api/now")).headers.has("x-pawl-reading") ? null : look()));
  expect(last).toMatchObject({ percent: null, runs, completed: runs });
}, 120_000);
