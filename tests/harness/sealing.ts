/** What a test writes in Pawl's name bears the seal of the home it is for. */
import { afterAll } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitContext } from "../../src/store/commits.ts";
import { seal } from "../../src/store/seal.ts";

/** To be called at the top of a test file that uses the store in this process: the key must not be the developer's. */
export function ownHome(): string {
  const before = process.env.HOME;
  const home = realpathSync(mkdtempSync(join(tmpdir(), "pawl-home-")));
  process.env.HOME = home;
  afterAll(() => {
    process.env.HOME = before;
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

/** The same for a place whose hooks are processes of their own. */
export function inHome<T>(home: string, work: () => T): T {
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    return work();
  } finally {
    process.env.HOME = before;
  }
}

export const sealedCommit = (id: string, seq: number, commit: object) =>
  seal(commitContext(id, seq), JSON.stringify(withoutSeal(commit)));

/** As it was before it was sealed. */
const withoutSeal = (value: object) => Object.fromEntries(Object.entries(value).filter(([key]) => key !== "seal"));
