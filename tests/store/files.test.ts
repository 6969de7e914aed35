import { afterEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import {
  appendLine,
  ensureDir,
  hashOf,
  insideRoot,
  PathError,
  quarantine,
  readTail,
  readText,
  writeAtomic,
} from "../../src/store/files.ts";
import { removeTemps, tempRoot } from "./samples.ts";

afterEach(removeTemps);

/** One of everything that may lie in a file's place. */
function oddities(): string {
  const root = tempRoot();
  writeFileSync(join(root, "file"), "text");
  writeFileSync(join(root, "日本語"), "日本語");
  writeFileSync(join(root, "latin"), Buffer.from([0x67, 0xfc, 0x74]));
  writeFileSync(join(root, "large"), "x".repeat(101));
  mkdirSync(join(root, "folder"));
  symlinkSync("file", join(root, "link"));
  symlinkSync("/dev/zero", join(root, "zero"));
  symlinkSync("folder", join(root, "linked-folder"));
  execFileSync("mkfifo", [join(root, "fifo")]);
  return root;
}

describe("readText", () => {
  const cases: [string, unknown][] = [
    ["file", { ok: true, text: "text", hash: hashOf("text") }],
    ["日本語", { ok: true, text: "日本語", hash: hashOf("日本語") }],
    ["nothing", { ok: false, why: "missing" }],
    ["file/below", { ok: false, why: "missing" }],
    ["folder", { ok: false, why: "not a regular file" }],
    ["link", { ok: false, why: "not a regular file" }],
    ["zero", { ok: false, why: "not a regular file" }],
    ["fifo", { ok: false, why: "not a regular file" }],
    ["large", { ok: false, why: "too large" }],
    ["latin", { ok: false, why: "unreadable", detail: "not UTF-8" }],
    ["n".repeat(300), { ok: false, why: "unreadable", detail: "ENAMETOOLONG" }],
    ["nul\0", { ok: false, why: "unreadable", detail: "ERR_INVALID_ARG_VALUE" }],
  ];
  for (const [name, expected] of cases) {
    test(JSON.stringify(name.slice(0, 20)), () => {
      expect(readText(join(oddities(), name), 100)).toEqual(expected as never);
    });
  }
  test("files that do not tell their size", () => {
    expect(readText("/proc/self/stat")).toMatchObject({ ok: true });
    expect(readText("/proc/self/stat", 10)).toEqual({ ok: false, why: "too large" });
  });
});

describe("writeAtomic", () => {
  test("what was written is read, with its mode, and nothing lies beside it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 5000 }), (text) => {
        const root = tempRoot();
        writeAtomic(join(root, "a"), text);
        expect(readText(join(root, "a"))).toEqual({ ok: true, text, hash: hashOf(text) });
        expect(statSync(join(root, "a")).mode & 0o777).toBe(0o600);
        expect(readdirSync(root)).toEqual(["a"]);
      }),
      { numRuns: 20 },
    );
  });
  test("a link is replaced, not followed", () => {
    const root = oddities();
    writeAtomic(join(root, "link"), "new");
    expect(readFileSync(join(root, "file"), "utf8")).toBe("text");
    expect(readFileSync(join(root, "link"), "utf8")).toBe("new");
  });
  test("onto a folder, or into none: throws, and leaves nothing", () => {
    const root = oddities();
    const before = readdirSync(root).sort();
    expect(() => writeAtomic(join(root, "folder"), "x")).toThrow("EISDIR");
    expect(() => writeAtomic(join(root, "no/file"), "x")).toThrow("ENOENT");
    expect(readdirSync(root).sort()).toEqual(before);
  });
});

describe("appendLine", () => {
  test("lines follow each other, and a torn one is left behind", () => {
    const path = join(tempRoot(), "log");
    appendLine(path, "one");
    appendLine(path, "two\n");
    writeFileSync(path, "torn", { flag: "a" });
    appendLine(path, "three");
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\ntorn\nthree\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readTail(path, 6)).toEqual({ text: "three\n", whole: false });
  });
  for (const name of ["folder", "link", "fifo", "nul\0", "n".repeat(300)]) {
    test(`refuses ${JSON.stringify(name.slice(0, 20))}`, () => {
      const root = oddities();
      expect(() => appendLine(join(root, name), "x")).toThrow();
      expect(readFileSync(join(root, "file"), "utf8")).toBe("text");
    });
  }
});

describe("insideRoot and ensureDir", () => {
  const refused = ["", ".", "/", "/etc", "..", "a/../b", "../x", "a\0b", "n".repeat(256), "ü".repeat(128), "link/x"];
  refused.push(
    "linked-folder/x",
    "file/x",
    "fifo/x",
    "linked-folder",
    ".git/config",
    "a/.GIT/hooks/x",
    "a/".repeat(3000),
  );
  for (const relative of refused) {
    test(`refuses ${JSON.stringify(relative.slice(0, 20))}`, () => {
      const root = oddities();
      expect(() => ensureDir(root, relative)).toThrow(PathError);
      expect(() => insideRoot(root, relative)).toThrow(PathError);
    });
  }
  test("refuses a root that is no absolute path", () => {
    expect(() => insideRoot("here", "a")).toThrow(PathError);
  });
  for (const relative of ["file", "fifo", "folder/new", "日本語", "./a//b/", "...", "n".repeat(255), "a\\..\\b"]) {
    test(`allows ${JSON.stringify(relative.slice(0, 20))}`, () => {
      const root = oddities();
      expect(insideRoot(root, relative)).toBe(join(root, relative).replace(/\/$/, ""));
    });
  }
  test("folders are ours alone", () => {
    const root = tempRoot();
    expect(ensureDir(root, "a/日本語")).toBe(join(root, "a/日本語"));
    expect(ensureDir(root, "a/日本語")).toBe(join(root, "a/日本語"));
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
  });
  test("whatever the name, it stays inside or is refused", () => {
    const part = fc.oneof(fc.string(), fc.constantFrom("..", ".", "", "a", "link", "linked-folder", "\0"));
    const root = oddities();
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        try {
          expect(insideRoot(root, parts.join("/")).startsWith(`${root}/`)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(PathError);
        }
      }),
    );
  });
});

describe("quarantine", () => {
  for (const name of ["file", "folder", "link", "fifo"]) {
    test(`${name} goes aside, never over another`, () => {
      const root = oddities();
      writeFileSync(join(root, `${name}.corrupt`), "older");
      const aside = quarantine(join(root, name));
      expect(aside).toBe(join(root, `${name}.corrupt-2`));
      expect(readdirSync(root)).not.toContain(name);
      expect(readFileSync(join(root, `${name}.corrupt`), "utf8")).toBe("older");
    });
  }
});
