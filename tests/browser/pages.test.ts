/** Every page in a real browser: it opens, nothing goes wrong in it, everybody can read it, and nothing of it is believed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { COMMANDS } from "../../src/cli/index.ts";
import { findByArm } from "../../src/definitions/registry.ts";
import { makePlace, removePlaces } from "../harness/harness.ts";
import type { World } from "../scenarios/scenario.ts";
import { type Running, startDashboard, stopDashboards } from "../web/ground.ts";
import { leadingDots, openBrowser, openPage, overflow, violations, visit } from "./browser.ts";
import { HOSTILE, makeGround, runHash, runWith, TITLES } from "./ground.ts";

let browser: Browser;
let world: World;
let dashboard: Running;
let pages: [string, string][];

beforeAll(async () => {
  browser = await openBrowser();
  world = makeGround();
  dashboard = await startDashboard(world.place);
  const run = (workflow: string, status: string): [string, string] => [
    runHash(world.place, runWith(world.place, workflow, status)),
    TITLES[workflow]!,
  ];
  pages = [
    ["#/now", "Now"],
    ["#/runs", "Runs"],
    run("ship", "waiting"),
    run("tricky", "active"),
    run("tricky", "ended"),
    run("complete-work", "waiting"),
    ["#/stages?since=all", "Stages"],
    ["#/tasks", "Tasks"],
    ["#/loops", "Loops"],
    ["#/journal", "Journal"],
    ["#/journal?q=nothing-is-like-this", "Journal"],
  ];
});

afterAll(async () => {
  await browser?.close();
  stopDashboards();
  removePlaces();
});

describe("every page opens without a fault, fits, and is readable for all", () => {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 360])
      test(`${colorScheme}, ${width} pixels`, async () => {
        const { page, faults, close } = await openPage(browser, dashboard, {
          colorScheme,
          viewport: { width, height: 740 },
          // What moves has another colour for a moment.
          reducedMotion: "reduce",
        });
        const found: string[] = [];
        for (const [hash, title] of pages) {
          await visit(page, hash, title);
          await page.locator("#view details").evaluateAll((all) => {
            for (const fold of all) (fold as HTMLDetailsElement).open = true;
          });
          const wider = await overflow(page);
          if (wider > 0) found.push(`${hash} is ${wider} pixels too wide`);
          found.push(...(await leadingDots(page)).map((text) => `${hash} a line begins with a dot: ${text}`));
          found.push(...(await violations(page)).map((what) => `${hash} ${what}`));
        }
        expect(found).toEqual([]);
        expect(faults).toEqual([]);
        await close();
      }, 120_000);
});

test("script in titles, messages and tasks is shown as text and runs nothing", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  for (const [hash, title] of pages.filter(([name]) => /now|tasks|journal$/.test(name))) {
    await visit(page, hash, title);
    await page.getByText(HOSTILE).first().waitFor();
  }
  for (const [hash, title] of pages) await visit(page, hash, title);
  const strangers = await page.evaluate(
    () => document.querySelectorAll("#view img, #view script, #view iframe").length,
  );
  expect(strangers).toBe(0);
  expect(await page.evaluate(() => "pwned" in window)).toBe(false);
  expect(faults).toEqual([]);
  await close();
});

test("names in the picture of a workflow end within it, and those of stages within their box", async () => {
  const { page, close } = await openPage(browser, dashboard);
  const cut: string[] = [];
  for (const [hash, title] of pages.filter(([hash]) => hash.startsWith("#/run?"))) {
    await visit(page, hash, title);
    await page.locator("svg.graph").waitFor();
    cut.push(
      ...(await page.locator("svg.graph text").evaluateAll((all) =>
        all.flatMap((text) => {
          const { x, width } = (text as SVGTextElement).getBBox();
          const box = text.parentElement?.querySelector<SVGGraphicsElement>("rect")?.getBBox();
          const end = box ? box.x + box.width : (text as SVGTextElement).ownerSVGElement!.viewBox.baseVal.width;
          return x + width > end ? [text.textContent] : [];
        }),
      )),
    );
  }
  expect(cut).toEqual([]);
  await close();
});

test("an address without a page says so, and leads back", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  await visit(page, "#/nosuch", "There is no such page");
  expect(await page.title()).toBe("No such page · Pawl");
  await page.getByRole("link", { name: "Go to Now" }).click();
  await page.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

test("the journal hides deliveries until they are asked for", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  const kinds = () => page.locator(".told .meta span:last-child").allTextContents();
  await visit(page, "#/journal", "Journal");
  expect(await kinds()).not.toContain("owed");
  await page.getByRole("checkbox", { name: "Show deliveries and notices" }).check();
  await page.locator(".told .meta", { hasText: "owed" }).first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

test("a cost that nobody told is none, and not nothing", async () => {
  const { page, close } = await openPage(browser, dashboard);
  await visit(page, "#/loops", "Loops");
  expect(await page.locator("tbody td[data-label=Cost]").allTextContents()).toEqual(["–"]);
  await close();
});

test("every link leads to a page", async () => {
  const { page, faults, close } = await openPage(browser, dashboard);
  const links = new Set<string>();
  for (const [hash, title] of pages) {
    await visit(page, hash, title);
    const found = page.locator("a[href]").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    for (const link of await found) links.add(link);
  }
  expect(links.size).toBeGreaterThan(10);
  expect([...links].filter((link) => !link.startsWith(`${dashboard.origin}/`))).toEqual([]);
  for (const link of links) {
    await page.goto(link);
    await page.locator("#view h1").waitFor();
  }
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test("a run is called by what was asked for, with its workflow behind it", async () => {
  const { page, close } = await openPage(browser, dashboard);
  const title = TITLES["complete-work"]!;
  const need = page.locator(".need", { hasText: title });
  expect(await need.locator("h3").textContent()).toBe(title);
  expect(await need.locator(".meta").textContent()).toContain("complete-work");
  expect(await page.locator(".live", { hasText: title }).locator(".meta").textContent()).toContain("complete-work");
  await need.getByRole("link", { name: title }).click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  expect(await page.locator(".lead").textContent()).toContain("complete-work");
  expect(await page.title()).toStartWith(title);
  await close();
});

describe("the door", () => {
  const locked = (page: Page) => page.getByRole("heading", { level: 1, name: "This page is locked" }).waitFor();

  test("the token leaves the address, and serves this tab and its reloads; there is no cookie", async () => {
    const { page, close } = await openPage(browser, dashboard);
    expect(page.url()).toBe(`${dashboard.origin}/#/now`);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    await visit(page, "#/runs?status=ended", "Runs");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    expect(page.url()).toBe(`${dashboard.origin}/#/runs?status=ended`);
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.content()).not.toContain(dashboard.token);
    await close();
  });

  test("another tab says what to do; the link opens it without a reload, with what is live", async () => {
    const { page, close } = await openPage(browser, dashboard);
    const second = await page.context().newPage();
    await second.goto(`${dashboard.origin}/#/runs`);
    await locked(second);
    expect(await second.locator("#view").textContent()).toContain("every new tab needs it once");
    await second.evaluate((token) => {
      document.body.dataset.sameDocument = "yes";
      location.hash = `#token=${token}`;
    }, dashboard.token);
    await second.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    await second.getByText("Live", { exact: true }).waitFor();
    expect(second.url()).toBe(`${dashboard.origin}/#/now`);
    expect(await second.evaluate(() => document.body.dataset.sameDocument)).toBe("yes");
    await close();
  });

  test("a wrong link does not lock a tab that has the right token", async () => {
    const { page, close } = await openPage(browser, dashboard);
    await visit(page, "#/runs", "Runs");
    await visit(page, "#token=0123456789abcdef", "Now");
    expect(page.url()).toBe(`${dashboard.origin}/#/now`);
    await visit(page, "#/tasks", "Tasks");
    await close();
  });

  test("what other ports of this machine are sent holds no key", async () => {
    const { page, close } = await openPage(browser, dashboard);
    const heard: Headers[] = [];
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) => {
        heard.push(headers);
        return new Response("hello");
      },
    });
    await page.goto(`http://127.0.0.1:${other.port}/`);
    await other.stop(true);
    expect(heard.length).toBeGreaterThan(0);
    const sent = JSON.stringify(heard.map((headers) => [...headers]));
    expect(sent).not.toMatch(/cookie|authorization/i);
    expect(sent).not.toContain(dashboard.origin);
    await close();
  });

  for (const [what, hash] of [
    ["no token", ""],
    ["a wrong token", "#token=0123456789abcdef"],
  ] as const)
    test(`${what}: the page says how to get in, and shows nothing else`, async () => {
      const { page, close } = await openPage(browser, dashboard, {}, hash);
      await locked(page);
      expect(await page.locator("#view").textContent()).toContain("pawl dashboard");
      expect(await page.content()).not.toContain(runWith(world.place, "ship", "waiting").id);
      expect(await violations(page)).toEqual([]);
      await close();
    });
});

test("the theme is switched by a click and remembered", async () => {
  const { page, close } = await openPage(browser, dashboard, { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  const button = page.getByRole("button", { name: "Theme" });
  await button.click();
  expect(await button.textContent()).toContain("Light");
  await button.click();
  expect(await button.textContent()).toContain("Dark");
  expect(await ground()).not.toBe(light);
  await page.reload();
  await page.locator("#view h1").waitFor();
  expect(await button.textContent()).toContain("Dark");
  expect(await ground()).not.toBe(light);
  await close();
});

/** What a person is told to type does something. */
function isKnown(words: string): boolean {
  const [first = "", second = ""] = words.split(" ");
  return first === "pawl" ? Object.hasOwn(COMMANDS, second) : findByArm(first, world.place.root) !== null;
}

describe("where nothing happened yet, the page says what to do", () => {
  let nowhere: Running;
  beforeAll(async () => {
    nowhere = await startDashboard(makePlace());
  });
  test.each<[hash: string, title: string, says: string]>([
    ["#/now", "Now", "Type /complete-work in Claude Code, in a project that has Pawl."],
    ["#/runs", "Runs", "Type /complete-work in Claude Code to begin one."],
    ["#/stages?since=all", "Stages", "with the first run"],
    ["#/tasks", "Tasks", "pawl task add"],
    ["#/loops", "Loops", "pawl loop"],
    ["#/journal", "Journal", "/complete-work"],
  ])("%s", async (hash, title, says) => {
    const { page, faults, close } = await openPage(browser, nowhere);
    await visit(page, hash, title);
    expect(await page.locator(".empty").textContent()).toContain(says);
    const typed = await page.locator(".empty code").allTextContents();
    expect(typed.filter((words) => !isKnown(words))).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});
