/** A long history: the page says how far reading it is, and shows all of it by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { makePlace, removePlaces } from "../harness/harness.ts";
import { writeLong } from "../insight/ground.ts";
import { startDashboard, stopDashboards } from "../web/ground.ts";
import { openBrowser, openPage, visit, type Watched } from "./browser.ts";

const RUNS = 60_000;
const MOST_RUNS = 240_000;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  stopDashboards();
  removePlaces();
});

const HOW_FAR = /^Reading the journal… \d{1,2} %/;

/** Where all was read before the page was there, there was too little of it. */
async function openWhileReading(runs = RUNS): Promise<Watched & { said: string; runs: number }> {
  const place = makePlace();
  writeLong(place.root, runs);
  const watched = await openPage(browser, await startDashboard(place));
  await visit(watched.page, "/stages?since=all", "Stages");
  const said = (await watched.page.locator("#reading").textContent()) ?? "";
  if (HOW_FAR.test(said) || runs >= MOST_RUNS) return { ...watched, said, runs };
  await watched.close();
  return openWhileReading(2 * runs);
}

test("how far it is, and then the figures of everything", async () => {
  const { page, faults, close, said, runs } = await openWhileReading();
  const reading = page.locator("#reading");
  expect(said).toMatch(HOW_FAR);
  await reading.waitFor({ state: "hidden" });
  expect(await page.locator("#view").textContent()).toContain(`Completed${runs}`);
  // A search stops before it takes too long, which is not the journal's end.
  await visit(page, "/journal?q=no-such-words", "Journal");
  await page.getByText("No match so far.").waitFor();
  await page.getByRole("link", { name: "Older" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

test("a journal that cannot be read is named", async () => {
  const place = makePlace();
  mkdirSync(join(place.root, ".pawl"));
  symlinkSync(place.base, join(place.root, ".pawl/journal"));
  const { page, faults, close } = await openPage(browser, await startDashboard(place));
  await visit(page, "/journal", "Journal");
  await page.locator(".notice").getByText("Not readable").waitFor();
  expect(faults).toEqual([]);
  await close();
});
