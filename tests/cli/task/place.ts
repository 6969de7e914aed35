/** A project for `pawl task`, and the program in it. */
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePlace, type Place, type Ran, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";

export const HEAD = "## Pending Tasks\n";

export function placeWith(files: Record<string, string> = {}): Place {
  const place = makePlace();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.root, name)), { recursive: true });
    writeFileSync(join(place.root, name), text);
  }
  return place;
}

export const task = (place: Place, ...args: string[]) => runInProcess(place, ["task", ...args]);
export const session = ({ root }: Place) => textOf(join(root, "session.md"));
/** What it said; it did what it was asked. */
export const done = (ran: Ran) => {
  expect(ran).toMatchObject({ code: 0, err: "" });
  return ran.out;
};
/** As the system calls who runs this. */
export const USER = Bun.spawnSync(["/usr/bin/id", "-un"]).stdout.toString().trim();
