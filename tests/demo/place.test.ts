import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startJob } from "../../src/checks/jobs/job.ts";
import { makePlace, removePlace } from "../../src/demo/project.ts";
import { readJobFile } from "../../src/store/jobs.ts";
import { processState } from "../../src/store/processes/process.ts";

const before = { HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };
let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "pawl-demo-place-"));
  process.env.TMPDIR = scratch;
});
afterEach(() => {
  Object.assign(process.env, before);
  if (before.TMPDIR === undefined) delete process.env.TMPDIR;
  rmSync(scratch, { recursive: true, force: true });
});

test("a check that is under way ends with the place", async () => {
  const place = makePlace();
  process.env.HOME = place.home;
  const job = { root: place.root, id: "slow-check", start: 1 };
  startJob(job.root, job.id, { argv: ["sleep", "60"], cwd: "", env: {}, timeout_ms: 60_000, retries: 0 });
  const command = await identityOf(() => readJobFile(job, "group"));
  expect(processState(command)).toBe("there");
  removePlace(place);
  expect({ command: processState(command), folder: existsSync(place.home) }).toEqual({
    command: "gone",
    folder: false,
  });
}, 30_000);

async function identityOf(read: () => Record<string, unknown> | null) {
  const end = Date.now() + 20_000;
  for (let found = read(); Date.now() < end; found = read()) {
    if (found !== null) return found as unknown as Parameters<typeof processState>[0];
    await Bun.sleep(10);
  }
  throw new Error("the check never began");
}
