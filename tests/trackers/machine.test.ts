/** The machine's name stands in claims that others wrote: it must be the one that node would give it. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { hashOf } from "../../src/store/files.ts";
import { machineName } from "../../src/trackers/machine.ts";

const { HOME } = process.env;
afterEach(() => {
  process.env.HOME = HOME;
});

function expected(home: string): string {
  const { ino, birthtimeMs } = statSync(home);
  return hashOf(`${hostname()}\n${ino} ${Math.round(birthtimeMs)}`).slice(0, 4);
}

test("the name is made of the host's, the home's number and its birth", () => {
  expect(machineName()).toEndWith(`-${expected(homedir())}`);
  expect(machineName()).toMatch(/^[A-Za-z0-9-]{1,20}-[0-9a-f]{4}$/);
});

test("another home is another machine; none at all is told, too", () => {
  const home = mkdtempSync(join(tmpdir(), "pawl-home-"));
  try {
    process.env.HOME = home;
    expect(machineName()).toEndWith(`-${expected(home)}`);
    process.env.HOME = join(home, "none");
    expect(machineName()).toEndWith(`-${hashOf(`${hostname()}\n`).slice(0, 4)}`);
  } finally {
    rmSync(home, { recursive: true });
  }
});
