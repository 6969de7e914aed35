/** Whether somebody may still write to a file, as the kernel tells it. */
import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exchange, isBeingWritten } from "../../src/trackers/kernel.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-kernel-"));
const path = join(folder, "file");
afterAll(() => rmSync(folder, { recursive: true }));

function ask(file: string): boolean | null {
  const fd = openSync(file, "r");
  try {
    return isBeingWritten(fd);
  } finally {
    closeSync(fd);
  }
}

describe.skipIf(process.platform !== "linux")("on Linux", () => {
  test.each([
    ["a", true],
    ["r+", true],
    ["r", false],
  ])("opened with %s", (flags, written) => {
    writeFileSync(path, "text");
    const fd = openSync(path, flags);
    expect(ask(path)).toBe(written);
    closeSync(fd);
    expect(ask(path)).toBe(false);
  });
  test("the lease is given back: nobody has to wait for it", () => {
    writeFileSync(path, "text");
    const fd = openSync(path, "r");
    expect(isBeingWritten(fd)).toBe(false);
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    closeSync(fd);
  });
  test("where a file system cannot tell, it is not known", () => {
    expect(ask("/proc/self/status")).toBe(null);
  });
  test("two files change places, or nothing happens", () => {
    writeFileSync(path, "one");
    writeFileSync(`${path}.2`, "two");
    expect(exchange(path, `${path}.2`)).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(exchange(path, `${path}.none`)).toBe(false);
  });
});
