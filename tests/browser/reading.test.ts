/** A long history: the page says how far reading it is, and shows all of it by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { makePlace, removePlaces } from "../harness.ts";
import { writeLong } from "../insight/ground.ts";
import { startDashboard, stopDashboards } from "../web/ground.ts";
import { openBrowser, openPage, visit } from "./browser.ts";

const RUNS = 60_000;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  stopDashboards();
  removePlaces();
});

test("how far it is, and then the figures of everything", async () => {
  const place = makePlace();
  writeLong(place.root, RUNS);
  const { page, faults, close } = await openPage(browser, await startDashboard(place));
  await visit(page, "/stages?since=all", "Stages");
  const reading = page.locator("#reading");
  expect(await reading.textContent()).toMatch(/^Reading the journal… \d{1,2} %/);
  await reading.waitFor({ state: "hidden" });
  expect(await page.locator("#view").textContent()).toContain(`Completed${RUNS}`);
  expect(faults).toEqual([]);
  await close();
});
