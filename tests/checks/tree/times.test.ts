/** Times that were set back, in projects whose tools build by time. */
import { expect, test } from "bun:test";
import { chmodSync, lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTrueTimes } from "../../../src/checks/tree/times.ts";
import { freshProjects, put, root } from "./tree-place.ts";

freshProjects();

const OLD = new Date("2020-01-01");
const timeOf = (path: string) => lstatSync(join(root, path)).mtimeMs;

function old(path: string): void {
  put(path);
  utimesSync(join(root, path), OLD, OLD);
}

test("a file whose time was set back gets the time of now, once", () => {
  const files = ["crate/Cargo.toml", "crate/src/lib.rs", "web/a.js"];
  for (const path of files) old(path);
  setTrueTimes(root, [...files, "crate/src/gone.rs"]);
  const [cargo, code, web] = files.map(timeOf);
  expect([cargo! > OLD.getTime(), code! > OLD.getTime(), web]).toEqual([true, true, OLD.getTime()]);
  setTrueTimes(root, files);
  expect(files.map(timeOf)).toEqual([cargo!, code!, web!]);
});

test("a file that was just written keeps its time", () => {
  put("Makefile");
  put("a.c");
  const before = timeOf("a.c");
  setTrueTimes(root, ["Makefile", "a.c"]);
  expect(timeOf("a.c")).toBe(before);
});

test("without a tool that builds by time nothing is touched", () => {
  old("package.json");
  chmodSync(join(root, "package.json"), 0o755);
  setTrueTimes(root, ["package.json"]);
  expect(timeOf("package.json")).toBe(OLD.getTime());
});
