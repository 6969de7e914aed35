/** The whole dashboard by keyboard. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { removePlaces } from "../harness/harness.ts";
import type { World } from "../scenarios/scenario.ts";
import { type Running, startDashboard, stopDashboards } from "../web/ground.ts";
import { openBrowser, openPage, visit } from "./browser.ts";
import { in_, makeGround, runHash, runsOf, runWith, TITLES } from "./ground.ts";

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

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
const isTitled = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();

test("g and a letter go to each page; the title has the focus, so that reading goes on there", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  await page.keyboard.press("Tab");
  for (const [key, title] of Object.entries({
    r: "Runs",
    s: "Stages",
    t: "Tasks",
    l: "Loops",
    j: "Journal",
    n: "Now",
  })) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await isTitled(page, title);
    expect(await page.title()).toContain(title);
    expect(await focused(page)).toBe(title);
    expect(await page.locator("[aria-current=page]").textContent()).toContain(title);
  }
  expect(faults).toEqual([]);
  await close();
});

test("j and k walk through the runs, enter opens one", async () => {
  const { page, close } = await openPage(browser, dashboard);
  await visit(page, "#/runs", "Runs");
  const rows = await page.locator("#view tbody a").allTextContents();
  expect(rows.length).toBe(runsOf(world.place).length);
  const walk = ["j", "j", "k", "j"];
  const seen: string[] = [];
  for (const key of walk) {
    await page.keyboard.press(key);
    seen.push(await focused(page));
  }
  expect(seen).toEqual([rows[0]!, rows[1]!, rows[0]!, rows[1]!]);
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(ring).toBe("solid");
  const second = await page.locator("#view tbody a").nth(1).getAttribute("href");
  await page.keyboard.press("Enter");
  await page.locator(".crumbs").waitFor();
  expect(new URL(page.url()).hash).toBe(second!);
  await close();
});

test("? shows the list, escape closes it and the focus goes back", async () => {
  const { page, close } = await openPage(browser, dashboard);
  await visit(page, "#/runs", "Runs");
  await page.keyboard.press("j");
  const before = await focused(page);
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard" });
  await dialog.waitFor();
  expect(await dialog.textContent()).toContain("Next item");
  await page.keyboard.press("j");
  expect(await focused(page)).toBe("Close");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await focused(page)).toBe(before);
  await close();
});

test("the first stop of the tab key leads past the navigation", async () => {
  const { page, close } = await openPage(browser, dashboard);
  await page.goto(`${dashboard.origin}/#/stages`);
  await isTitled(page, "Stages");
  await page.reload();
  await isTitled(page, "Stages");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.querySelector("main")!.contains(document.activeElement))).toBe(true);
  expect(new URL(page.url()).hash).toBe("#/stages");
  await close();
});

test("/ is for searching; what is typed there is no shortcut, and the search keeps its focus", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  await page.keyboard.press("/");
  await isTitled(page, "Journal");
  await page.keyboard.press("/");
  await page.keyboard.type("grt");
  await page.getByText("No matching lines.").waitFor();
  expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("grt");
  for (const _ of "grt") await page.keyboard.press("Backspace");
  await page.keyboard.type("TESTED");
  await page.getByText("It claims TESTED").first().waitFor();
  const told = await page.locator(".moment .told").allTextContents();
  expect(told.filter((text) => !text.includes("TESTED"))).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

test("a long story: its newest moment is one press away; a short one has no such button", async () => {
  const short = runWith(world.place, "ship", "waiting");
  const long = runWith(world.place, "tricky", "active");
  in_(
    world,
    "tricky",
    Array.from({ length: 20 }, (_, nth) => ({ stop: `Not yet, ${nth}.` })),
  );
  const { page, faults, close } = await openPage(browser, dashboard);
  await page.locator(".need .meta").getByText(`ship ${short.id}`).waitFor();
  await visit(page, runHash(world.place, short), TITLES.ship!);
  expect(await page.getByRole("button", { name: "Jump to the newest" }).count()).toBe(0);
  await visit(page, runHash(world.place, long), TITLES.tricky!);
  await page.getByRole("button", { name: "Jump to the newest" }).press("Enter");
  expect(await focused(page)).toContain((await page.locator(".moment").last().textContent())!.trim());
  expect(await page.getByText("not shown").count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

test("of an endless story the newest 2000 moments, and where the others are", async () => {
  const about = { v: 1, run: "endless-1", i: 0, host: "claude", session: "s", workflow: "endless", stage: "build" };
  const lines = Array.from({ length: 2003 }, (_, seq) => {
    const at = new Date(Date.UTC(2020, 0, 1) + seq).toISOString();
    return JSON.stringify({ ...about, at, seq, kind: seq === 0 ? "armed" : "missing", plan: ["build"], why: `${seq}` });
  });
  writeFileSync(join(world.place.root, ".pawl/journal/2020-01.jsonl"), `${lines.join("\n")}\n`);
  const { page, faults, close } = await openPage(browser, dashboard);
  await visit(page, runHash(world.place, { id: "endless-1" }), "endless");
  expect(await page.locator(".moment").count()).toBe(2000);
  await page.getByText("3 earlier events not shown").getByRole("link").click();
  await isTitled(page, "Journal");
  await page.locator(".moment", { hasText: "2002" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});
