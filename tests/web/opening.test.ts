/** At a person's terminal the browser is opened, with a key that is worth nothing to whoever sees it later. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, PAWL, removePlaces, textOf } from "../harness/harness.ts";
import { inWindow } from "../harness/terminal-window.ts";

afterAll(removePlaces);

const PROGRAM = process.platform === "darwin" ? "open" : "xdg-open";

/** A browser that enters twice with the key it was opened with, and then presses Ctrl+C in the terminal. */
const BROWSER = `#!${process.execPath}
const { origin, hash } = new URL(process.argv[2]);
const headers = { origin, "content-type": "application/json", "x-pawl": "1" };
const body = JSON.stringify({ token: hash.replace("#token=", "") });
const enter = async () => (await fetch(origin + "/session", { method: "POST", headers, body })).status;
const entered = [await enter(), await enter()];
await Bun.write(process.env.SEEN, JSON.stringify({ url: process.argv[2], entered }));
process.kill(process.ppid, "SIGINT");
`;

test("once, by a ticket that is not the printed token", async () => {
  const place = makePlace();
  const bin = join(place.base, "bin");
  const seen = join(place.base, "seen");
  mkdirSync(bin);
  writeFileSync(join(bin, PROGRAM), BROWSER);
  chmodSync(join(bin, PROGRAM), 0o755);
  const env = { ...place.env, PATH: `${bin}:${place.env.PATH}`, SEEN: seen };
  const { code, screen } = await inWindow({ cmd: [PAWL, "dashboard"], cwd: place.root, env, answers: [] });
  expect(code).toBe(0);
  const printed = /Dashboard: (http:\/\/127\.0\.0\.1:\d+\/)#token=([0-9a-f]{64})\s/.exec(screen)!;
  const { url, entered } = JSON.parse(textOf(seen)!);
  expect(url).toStartWith(`${printed[1]}#token=`);
  expect(url).not.toContain(printed[2]!);
  expect(entered).toEqual([200, 401]);
  expect(screen).toContain("Ctrl+C ends it.");
});
