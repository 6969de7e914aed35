/** What the person does on the page reaches the run, as if it were said in a terminal. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { removePlaces } from "../harness/harness.ts";
import type { World } from "../scenarios/scenario.ts";
import { play, type Running, startDashboard, stopDashboards, until } from "../web/ground.ts";
import { openBrowser, openPage, violations, visit } from "./browser.ts";
import { type KnownRun, makeGround, runHash, runsOf, runWith, TITLES } from "./ground.ts";

let browser: Browser;
let world: World;
let dashboard: Running;

beforeAll(async () => {
  browser = await openBrowser();
});

beforeEach(async () => {
  world = makeGround();
  dashboard = await startDashboard(world.place);
});

afterAll(async () => {
  await browser?.close();
  stopDashboards();
  removePlaces();
});

const now = ({ id }: KnownRun) => runsOf(world.place).find((run) => run.id === id)!;
const focusIsIn = (page: Page, selector: string) =>
  page.evaluate((where) => document.querySelector(where)?.contains(document.activeElement) ?? false, selector);

test("an answer reaches the run that waits; where it waits is said; the focus stays in the dialog and comes back", async () => {
  const asked = runWith(world.place, "complete-work", "waiting");
  const { page, faults, close } = await openPage(browser, dashboard);
  await page.getByRole("button", { name: "Continue anyway" }).click();
  const dialog = page.getByRole("dialog", { name: "Give this answer?" });
  await dialog.waitFor();
  expect(await violations(page)).toEqual([]);
  expect(now(asked).status).toBe("waiting");
  for (let tab = 0; tab < 6; tab++) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => document.activeElement?.tagName);
    expect(where === "BODY" || (await focusIsIn(page, "dialog"))).toBe(true);
  }
  await dialog.getByRole("button", { name: "Answer" }).click();
  await dialog.getByText("✓ Done.").waitFor();
  expect(await dialog.textContent()).toContain("next prompt in its session");
  expect(await violations(page)).toEqual([]);
  expect(now(asked)).toMatchObject({ status: "active", stage: "cleanup" });
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Continue anyway" }).waitFor({ state: "detached" });
  expect(await focusIsIn(page, "main")).toBe(true);
  expect(faults).toEqual([]);
  await close();
});

test("cancel and escape do nothing, and the focus is where it was", async () => {
  const asked = runWith(world.place, "complete-work", "waiting");
  const { page, close } = await openPage(browser, dashboard);
  const button = page.getByRole("button", { name: "Abort and fix" });
  for (const leave of [
    () => page.keyboard.press("Escape"),
    () => page.getByRole("button", { name: "Cancel" }).click(),
  ]) {
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await leave();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Abort and fix");
  }
  expect(now(asked).status).toBe("waiting");
  await close();
});

test("an approval ends the run, and stands in its story", async () => {
  const asked = runWith(world.place, "ship", "waiting");
  const { page, faults, close } = await openPage(browser, dashboard);
  await visit(page, runHash(world.place, asked), TITLES.ship!);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByLabel("Why").fill("I read every line");
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await page.getByRole("dialog").getByText("✓ Done.").waitFor();
  expect(now(asked)).toMatchObject({ status: "ended", outcome: "completed" });
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.locator(".lead").getByText("Completed").waitFor();
  await page.locator(".moment").getByText("approves Have you looked at the diff?").waitFor();
  expect(await page.getByRole("button", { name: "Abort" }).count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

test("pause, resume, free and abort, each after a question", async () => {
  const run = runWith(world.place, "tricky", "active");
  const { page, faults, close } = await openPage(browser, dashboard);
  await visit(page, runHash(world.place, run), TITLES.tricky!);
  const say = async (open: string, yes: string) => {
    await page.getByRole("button", { name: open }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: yes }).click();
    await dialog.getByText("✓ Done.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
  };
  await say("Pause…", "Pause");
  expect(now(run).paused).toBeDefined();
  await page.locator(".lead").getByText("Paused").waitFor();
  await visit(page, "#/now", "Now");
  await say("Resume…", "Resume");
  expect(now(run).paused).toBeUndefined();
  await visit(page, runHash(world.place, run), TITLES.tricky!);
  await say("Free it…", "Free it");
  await say("Abort…", "Abort run");
  expect(now(run)).toMatchObject({ status: "ended", outcome: "aborted" });
  expect(faults).toEqual([]);
  await close();
});

test("what is refused, and what cannot be sent, is told as not done", async () => {
  const asked = runWith(world.place, "ship", "waiting");
  const { page, close } = await openPage(browser, dashboard);
  const approve = async () => {
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByText("✕ Not done.").waitFor();
    const said = await page.getByRole("dialog").textContent();
    await page.keyboard.press("Escape");
    return said;
  };
  play(world, [{ write: { "changed.txt": "after the check" } }]);
  expect(await approve()).toContain("files changed since the check");
  process.kill(dashboard.pid, "SIGTERM");
  await until(async () => (await fetch(dashboard.origin).catch(() => null)) === null || undefined);
  expect(await approve()).toContain("The dashboard does not answer");
  expect(now(asked).status).toBe("waiting");
  await close();
});

test("read-only: it says so, and there is nothing to press", async () => {
  const looking = await startDashboard(world.place, ["--read-only"]);
  const { page, faults, close } = await openPage(browser, looking);
  await page.getByText("Read-only").waitFor();
  const places = ["#/now", runHash(world.place, runWith(world.place, "complete-work", "waiting"))];
  for (const hash of places) {
    await visit(page, hash, hash === "#/now" ? "Now" : TITLES["complete-work"]!);
    await page.getByText("Critical Issues").first().waitFor();
    await page.locator("#view button").first().waitFor({ state: "detached" });
  }
  expect(faults).toEqual([]);
  await close();
});
