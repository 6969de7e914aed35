/** A real chromium, and a page in it that is watched: whatever goes wrong in it is kept. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { Running } from "../web/ground.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findChromium(): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const all = process.env.CHROMIUM
    ? [process.env.CHROMIUM]
    : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = all.find(isProgram);
  if (found) return found;
  const where = process.env.CHROMIUM ? `CHROMIUM=${process.env.CHROMIUM} is no program` : "none is in PATH";
  throw new Error(`these tests need a chromium, and ${where}: apt-get install chromium, or CHROMIUM=/path/to/it`);
}

/** Without its sandbox, which root and most containers cannot have: it only opens pages of ours. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });

export interface Watched {
  page: Page;
  /** errors on the console, exceptions, requests that failed, were refused or went elsewhere */
  faults: string[];
  close(): Promise<void>;
}

export async function openPage(
  browser: Browser,
  { origin, token }: Running,
  options: BrowserContextOptions = {},
  hash = `#token=${token}`,
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on("requestfailed", (request) => faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`elsewhere: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`refused: ${response.url()} ${response.status()}`);
  });
  await prepare(page);
  await page.goto(`${origin}/${hash}`);
  await page.locator("#view h1").waitFor();
  const close = async () => {
    page.removeAllListeners();
    await context.close();
  };
  return { page, faults, close };
}

/** Goes to one of its pages, and waits until that is what is shown. */
export async function visit(page: Page, hash: string, title: string | RegExp): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

/** What a screen reader, a keyboard or weak eyes would stumble over, one line each. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

/** How many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth);

/** What stands behind a dot that is the first to be seen in its line. */
export const leadingDots = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const item of document.querySelectorAll<HTMLElement>("#view .meta > *")) {
      item.scrollIntoView({ block: "center", behavior: "instant" });
      const { left, top } = item.getBoundingClientRect();
      const before = item.previousElementSibling?.getBoundingClientRect();
      const hasDot = getComputedStyle(item, "::before").content.includes("·");
      const isFirst = before === undefined || top >= before.bottom;
      if (hasDot && isFirst && item.contains(document.elementFromPoint(left + 9, top + 9)))
        found.push(item.textContent ?? "");
    }
    const top = (node: Node, at: number) => {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect().top;
    };
    const texts = document.createTreeWalker(document.querySelector("#view")!, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
      for (const { index, 0: dot } of (node.textContent ?? "").matchAll(/\S\s+·/g))
        if (top(node, index + dot.length - 1) > top(node, index)) found.push(node.textContent ?? "");
    return found;
  });
