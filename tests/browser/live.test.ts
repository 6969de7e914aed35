/** What happens in a project is on the page within a second, without a reload. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { isAlive } from "../checks/jobs/job-place.ts";
import { removePlaces } from "../harness/harness.ts";
import type { World } from "../scenarios/scenario.ts";
import { type Running, startDashboard, stopDashboards, until } from "../web/ground.ts";
import { openBrowser, openPage, visit } from "./browser.ts";
import { in_, makeGround, runHash, runWith, TITLES } from "./ground.ts";

let browser: Browser;
let world: World;
let dashboard: Running;

beforeAll(async () => {
  browser = await openBrowser();
  world = makeGround();
  dashboard = await startDashboard(world.place);
});

afterAll(async () => {
  await browser?.close();
  stopDashboards();
  removePlaces();
});

const took: number[] = [];

async function appears(locator: Locator): Promise<void> {
  const began = performance.now();
  await locator.waitFor();
  took.push(performance.now() - began);
}

/** It is connected, and the page was not loaded again since this was called. */
async function isLive(page: Page): Promise<() => Promise<boolean>> {
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(() => {
    document.body.dataset.sameDocument = "yes";
  });
  return () => page.evaluate(() => document.body.dataset.sameDocument === "yes");
}

/** How many cards were ever marked as new since this was called: what is drawn next has no mark any more. */
async function countMarked(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const marked = new Set<string>();
    const look = () => {
      for (const card of document.querySelectorAll<HTMLElement>(".live.fresh")) marked.add(card.dataset.key!);
      document.body.dataset.marked = String(marked.size);
    };
    new MutationObserver(look).observe(document.getElementById("view")!, { childList: true, subtree: true });
    look();
  });
  return () => page.evaluate(() => Number(document.body.dataset.marked));
}

test("a run that begins is on Now, and marked for a moment", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  const isSame = await isLive(page);
  const before = await page.locator(".live").count();
  const marked = await countMarked(page);
  in_(world, "new", [{ prompt: "/complete-work cleanup" }]);
  await appears(page.locator(".live").nth(before));
  expect(await marked()).toBe(1);
  expect(await isSame()).toBe(true);
  expect(faults).toEqual([]);
  await close();
});

test("a step of a run is on its page; what was unfolded and focused stays so", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  const run = runWith(world.place, "ship", "waiting");
  await visit(page, runHash(world.place, run), TITLES.ship!);
  const isSame = await isLive(page);
  const fold = page.locator("#view details").first();
  await fold.locator("summary").click();
  await page.getByRole("button", { name: "Pause" }).focus();
  in_(world, "approves", [{ prompt: "What does the second test do?" }]);
  await appears(page.getByText("What does the second test do?"));
  expect(await fold.getAttribute("open")).not.toBeNull();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/Pause|Resume/);
  expect(await isSame()).toBe(true);
  expect(faults).toEqual([]);
  await close();
});

test("new lines are in the journal and figures in the tables, too", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  await visit(page, "#/journal", "Journal");
  await isLive(page);
  in_(world, "tricky", [{ stop: "It is nearly finished, says the agent." }]);
  await appears(page.getByText("It is nearly finished, says the agent.").first());
  await visit(page, "#/runs?status=ended", "Runs");
  const before = await page.locator("tbody tr").count();
  in_(world, "tricky", [{ stop: "<promise>ONE</promise>" }, { stop: "<promise>TWO</promise>" }]);
  await appears(page.locator("tbody tr").nth(before));
  expect(faults).toEqual([]);
  await close();
});

test("all of that within a second, but for one moment in which the machine may have stood still", () => {
  expect(took.length).toBe(4);
  expect(took.sort((a, b) => a - b)[2]).toBeLessThan(1_000);
});

test("clocks run", async () => {
  const { page, close } = await openPage(browser, dashboard);
  const clock = page.locator(".live .clock time").first();
  const before = await clock.textContent();
  await page.waitForFunction((text) => document.querySelector(".live .clock time")?.textContent !== text, before);
  await close();
});

test("offline is said, and it comes back by itself with what was missed", async () => {
  const { page, close } = await openPage(browser, dashboard, {}, `#token=${dashboard.token}`, (fresh) =>
    fresh.route("**/api/live", (route) => route.abort()),
  );
  await page.getByText("What you see may be old.").waitFor();
  expect(await page.locator("#connection-text").textContent()).toContain("Offline");
  const before = await page.locator(".live").count();
  await page.unroute("**/api/live");
  in_(world, "missed", [{ prompt: "/complete-work memory" }]);
  await isLive(page);
  await page.locator(".live").nth(before).waitFor();
  expect(await page.getByText("What you see may be old.").isVisible()).toBe(false);
  await close();
});

test("when the dashboard ends, what was there stays; another start has another key", async () => {
  const { page, close } = await openPage(browser, dashboard);
  await isLive(page);
  process.kill(dashboard.pid, "SIGTERM");
  await page.getByText("What you see may be old.").waitFor();
  expect(await page.locator(".live").count()).toBeGreaterThan(0);
  // Its port is free when it is gone.
  await until(() => !isAlive(dashboard.pid));
  dashboard = await startDashboard(world.place, ["--port", String(dashboard.port)]);
  await page.getByRole("heading", { level: 1, name: "This page is locked" }).waitFor();
  await close();
});
