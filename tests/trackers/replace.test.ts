/** A file that a person may be editing is replaced: nothing they write meanwhile is lost. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bringOverLateLines,
  hasLateLines,
  publish,
  renameOver,
  replaceFile,
  tradeBack,
} from "../../src/trackers/replace.ts";

let root: string;
let path: string;
const text = () => readFileSync(path, "utf8");
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pawl-replace-"));
  path = join(root, "session.md");
});
afterEach(() => rmSync(root, { recursive: true }));

const temp = () => join(root, ".temp");
const folder = () => join(root, ".pawl/tracker/replaced");
const file = () => ({ path, folder: folder() });
const kept = () =>
  readdirSync(root)
    .filter((name) => name.includes(".kept-"))
    .map((name) => readFileSync(join(root, name), "utf8"));

test("a file that no longer holds what was read is left", () => {
  writeFileSync(path, "theirs");
  expect(replaceFile(file(), "old", "oldours")).toBe(false);
  expect(text()).toBe("theirs");
});
test("a file that holds what was read is replaced, and its mode is kept", () => {
  writeFileSync(path, "old");
  chmodSync(path, 0o640);
  expect(replaceFile(file(), "old", "oldours")).toBe(true);
  expect(text()).toBe("oldours");
  expect(statSync(path).mode & 0o777).toBe(0o640);
});
test.each([
  ["another file", "old\n", "theirs", false, "theirs"],
  ["lines below", "old\n", "old\nmore\n", true, "ours\nmore\n"],
  ["lines in an empty file", "", "more\n", true, "ours\nmore\n"],
  ["a longer last line", "old", "older", false, "older"],
])("written since: %s", (_what, old, theirs, done, left) => {
  writeFileSync(path, theirs);
  writeFileSync(temp(), "ours\n");
  expect(publish(file(), temp(), old, "ours\n")).toBe(done);
  expect(text()).toBe(left);
  expect(kept()).toEqual([]);
});

test("lines written to a replaced file reach the new one, each once", () => {
  writeFileSync(path, "old\n");
  const fd = openSync(path, "a");
  expect(replaceFile(file(), "old\n", "ours\n")).toBe(true);
  expect(hasLateLines(file())).toBe(false);
  for (const note of ["one\n", "twö\n"]) {
    writeSync(fd, note);
    expect(hasLateLines(file())).toBe(true);
    bringOverLateLines(file(), Date.now());
    bringOverLateLines(file(), Date.now());
  }
  closeSync(fd);
  expect(text()).toBe("ours\none\ntwö\n");
  expect(kept()).toEqual([]);
});
test("lines written to our file while it goes back reach the person's", () => {
  writeFileSync(path, "theirs\n");
  writeFileSync(temp(), "ours\n");
  const fd = openSync(temp(), "a");
  expect(publish(file(), temp(), "old\n", "ours\n")).toBe(false);
  writeSync(fd, "more\n");
  closeSync(fd);
  bringOverLateLines(file(), Date.now());
  expect(text()).toBe("theirs\nmore\n");
});
test("trading back never undoes a person's save: what was found is kept next to it", () => {
  writeFileSync(path, "ours\n");
  const { ino } = statSync(path);
  writeFileSync(`${path}.new`, "saved\n");
  renameSync(`${path}.new`, path);
  writeFileSync(temp(), "theirs\n");
  tradeBack(file(), temp(), ino, "ours\n");
  expect(text()).toBe("saved\n");
  expect(kept()).toEqual(["theirs\n"]);
});
test("where files cannot trade places, the old one is compared, then renamed over", () => {
  writeFileSync(path, "old\n");
  writeFileSync(temp(), "ours\n");
  expect(renameOver(file(), temp(), "other\n")).toBe(false);
  const fd = openSync(path, "a");
  expect(renameOver(file(), temp(), "old\n")).toBe(true);
  writeSync(fd, "late\n");
  closeSync(fd);
  bringOverLateLines(file(), Date.now());
  expect(text()).toBe("ours\nlate\n");
});
test("a replaced file that was changed otherwise is kept next to the new one", () => {
  writeFileSync(path, "old\n");
  const fd = openSync(path, "r+");
  expect(replaceFile(file(), "old\n", "ours\n")).toBe(true);
  writeSync(fd, "another text\n");
  closeSync(fd);
  bringOverLateLines(file(), Date.now());
  expect(text()).toBe("ours\n");
  expect(kept()).toEqual(["another text\n"]);
});
test("replaced files are removed after a minute, and not before they were looked at", () => {
  writeFileSync(path, "old\n");
  const fd = openSync(path, "r+");
  expect(replaceFile(file(), "old\n", "ours\n")).toBe(true);
  writeSync(fd, "abc\n"); // as long as before
  closeSync(fd);
  bringOverLateLines(file(), Date.now());
  expect([readdirSync(folder()).length, kept()]).toEqual([1, []]);
  bringOverLateLines(file(), Date.now() + 61_000);
  expect(kept()).toEqual(["abc\n"]);
  bringOverLateLines(file(), Date.now() + 200_000);
  expect([readdirSync(folder()), kept()]).toEqual([[], ["abc\n"]]);
});
test("files of other names in that folder are nobody's business", () => {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), "note"), "- [ ] **Planted**\n");
  expect(hasLateLines(file())).toBe(false);
  bringOverLateLines(file(), Date.now());
  expect(readdirSync(folder())).toEqual(["note"]);
});
