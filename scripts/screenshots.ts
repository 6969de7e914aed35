/** Takes the README's pictures of the dashboard into docs/images: `npm run build`, then `node scripts/bun.mjs scripts/screenshots.ts`. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, visit } from "../tests/browser/browser.ts";
import { runHash, runWith } from "../tests/browser/ground.ts";
import { removePlaces } from "../tests/harness/harness.ts";
import { startDashboard, stopDashboards } from "../tests/web/ground.ts";
import { ASKED, type Story, tellStory } from "./screenshots/story.ts";

const FOLDER = process.argv[2] ?? join(import.meta.dir, "../docs/images");
const LARGEST = 200 * 1024;

async function takeAll({ shop }: Story): Promise<void> {
  const dashboard = await startDashboard(shop);
  const browser = await openBrowser();
  const look = { colorScheme: "light", reducedMotion: "reduce", locale: "en-GB" } as const;
  const { page, faults, close } = await openPage(browser, dashboard, look);
  const run = runHash(shop, runWith(shop, "feature", "waiting"));
  for (const [name, hash, title] of [
    ["now", "#/now", "Now"],
    ["run", run, ASKED],
    ["stages", "#/stages?workflow=feature", "Stages"],
  ] as const) {
    await visit(page, hash, title);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("Reading the journal").waitFor({ state: "hidden" });
    const path = join(FOLDER, `dashboard-${name}.png`);
    await page.screenshot({ path });
    console.log(`${path}: ${Math.round(statSync(path).size / 1024)} KB`);
    if (statSync(path).size > LARGEST) throw new Error(`${path} is too large`);
  }
  await close();
  await browser.close();
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

mkdirSync(FOLDER, { recursive: true });
try {
  await takeAll(tellStory());
} finally {
  stopDashboards();
  removePlaces();
}
