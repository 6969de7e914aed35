import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findDocuments, readNotes, readPlans } from "../../src/formal/find.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pawl-formal-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** `time` in seconds. */
function put(path: string, text: string | Uint8Array, time = 1000): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  writeFileSync(join(root, path), text);
  utimesSync(join(root, path), time, time);
}
function link(path: string, target: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  symlinkSync(target, join(root, path));
}
/** A folder of the project under another name. */
function linked(path: string, folder: string, file: string): void {
  put(file, "{}");
  link(path, join(root, folder));
}
function fifo(path: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  expect(Bun.spawnSync(["mkfifo", join(root, path)]).exitCode).toBe(0);
}
function large(path: string): void {
  put(path, "{");
  truncateSync(join(root, path), 50 << 20);
}

const STATE = "untracked/workflow-state";
const paths = (limit?: number) => findDocuments(root, limit).map(({ path }) => path);

describe("documents", () => {
  test("come with their text, the newest first", () => {
    put(`${STATE}/a/state-a-1.json`, '{"a":1}', 10);
    put(`${STATE}/b/by-hand.json`, '{"b":"ü"}', 30);
    put(`${STATE}/b/state-b-1.json`, "not JSON", 20);
    expect(findDocuments(root)).toEqual([
      { path: `${STATE}/b/by-hand.json`, text: '{"b":"ü"}' },
      { path: `${STATE}/b/state-b-1.json`, text: "not JSON" },
      { path: `${STATE}/a/state-a-1.json`, text: '{"a":1}' },
    ]);
    expect(paths(1)).toEqual([`${STATE}/b/by-hand.json`]);
    expect(paths(0)).toEqual([]);
  });

  const HOSTILE: [string, () => void][] = [
    ["no folder at all", () => {}],
    ["a file where the folder should be", () => put("untracked", "x")],
    ["a file among the folders", () => put(`${STATE}/state.json`, "{}")],
    ["the archive", () => put(`${STATE}/archive/state-x.json`, "{}")],
    ["folders further in", () => put(`${STATE}/a/b/state-x.json`, "{}")],
    ["quarantined and other files", () => put(`${STATE}/a/state-x.json.corrupt`, "{}")],
    ["hidden files", () => put(`${STATE}/a/.state.json`, "{}")],
    ["50 MB", () => large(`${STATE}/a/state-x.json`)],
    ["a byte more than 1 MB", () => put(`${STATE}/a/state-x.json`, "x".repeat((1 << 20) + 1))],
    ["bytes that are no text", () => put(`${STATE}/a/state-x.json`, new Uint8Array([0xff, 0xfe, 0, 1]))],
    ["a FIFO", () => fifo(`${STATE}/a/state-x.json`)],
    ["a FIFO as folder", () => fifo(`${STATE}/a`)],
    ["a folder with a file's name", () => mkdirSync(join(root, STATE, "a/state-x.json"), { recursive: true })],
    ["a link to itself", () => link(`${STATE}/a/state-x.json`, "state-x.json")],
    ["a folder that is its own parent", () => link(`${STATE}/a`, ".")],
    ["a link out of the project", () => link(`${STATE}/a/state-x.json`, "/etc/hostname")],
    ["a linked folder", () => linked(`${STATE}/a`, "other", "other/state-x.json")],
    ["a linked root of them", () => linked(STATE, "other", "other/a/state-x.json")],
    ["a linked untracked", () => linked("untracked", "o", "o/workflow-state/a/s.json")],
  ];

  test.each(HOSTILE)("%s: none, and no harm", (_, make) => {
    make();
    expect(findDocuments(root)).toEqual([]);
  });

  test("exactly 1 MB is read", () => {
    put(`${STATE}/a/state-x.json`, "x".repeat(1 << 20));
    expect(paths()).toHaveLength(1);
  });

  test("what is bad does not hide what is good", () => {
    large(`${STATE}/a/large.json`);
    put(`${STATE}/a/binary.json`, new Uint8Array([0xff, 0xfe]), 5000);
    fifo(`${STATE}/a/fifo.json`);
    fifo(`${STATE}/b`);
    link(`${STATE}/a/loop.json`, "loop.json");
    link(`${STATE}/c`, ".");
    put(`${STATE}/a/good.json`, "{}", 2);
    put(`${STATE}/d/good.json`, "{}", 1);
    expect(paths()).toEqual([`${STATE}/a/good.json`, `${STATE}/d/good.json`]);
    truncateSync(join(root, STATE, "a/binary.json"), 50 << 20);
    expect(paths(1)).toEqual([`${STATE}/a/good.json`]);
  });

  test("unreadable folders are passed over", () => {
    put(`${STATE}/a/state-a.json`, "{}");
    put(`${STATE}/b/state-b.json`, "{}");
    chmodSync(join(root, STATE, "a"), 0);
    const found = paths();
    chmodSync(join(root, STATE, "a"), 0o700);
    expect(found).toContain(`${STATE}/b/state-b.json`);
  });

  test("of 10,000 at most the limit is read, the newest", () => {
    put("one", "{}");
    for (let nth = 0; nth < 10_000; nth++) {
      if (nth % 100 === 0) mkdirSync(join(root, STATE, `w${nth / 100}`), { recursive: true });
      linkSync(join(root, "one"), join(root, STATE, `w${Math.floor(nth / 100)}`, `state-${nth}.json`));
    }
    put(`${STATE}/w7/state-new.json`, "{}", 4_000_000_000);
    expect(paths()).toHaveLength(200);
    expect(paths(3)[0]).toBe(`${STATE}/w7/state-new.json`);
  });
});

describe("notes and plans", () => {
  test("are read", () => {
    put("CLAUDE.local.md", "Workflow: x");
    put("CLAUDE/Plan/001-a/PLAN.md", "one", 10);
    put("CLAUDE/Plan/002-b/PLAN.md", "two", 20);
    put("CLAUDE/Plan/PLAN.md", "not in a folder");
    put("CLAUDE/Plan/003-c/NOTES.md", "no plan");
    expect(readNotes(root)).toBe("Workflow: x");
    expect(readPlans(root)).toEqual([
      { path: "CLAUDE/Plan/002-b/PLAN.md", text: "two" },
      { path: "CLAUDE/Plan/001-a/PLAN.md", text: "one" },
    ]);
    expect(readPlans(root, 1)).toHaveLength(1);
  });

  const BAD: [string, (path: string) => void][] = [
    ["missing", () => {}],
    ["50 MB", large],
    ["binary", (path) => put(path, new Uint8Array([0xc3, 0x28]))],
    ["a FIFO", fifo],
    ["a link to itself", (path) => link(path, path.slice(path.lastIndexOf("/") + 1))],
    ["a link out", (path) => link(path, "/etc/hostname")],
    ["a folder", (path) => void mkdirSync(join(root, path), { recursive: true })],
  ];
  test.each(BAD)("%s: none, and no harm", (_, make) => {
    make("CLAUDE.local.md");
    make("CLAUDE/Plan/001-a/PLAN.md");
    expect(readNotes(root)).toBeNull();
    expect(readPlans(root)).toEqual([]);
  });

  test("a plan folder that is a loop of links is passed over", () => {
    put("CLAUDE/Plan/001-a/PLAN.md", "one");
    link("CLAUDE/Plan/002-loop", "../Plan");
    link("CLAUDE/Plan/003-loop", "003-loop");
    link("CLAUDE/Plan/001-a/again", "..");
    expect(readPlans(root).map(({ path }) => path)).toEqual(["CLAUDE/Plan/001-a/PLAN.md"]);
  });

  test.each(["", "relative", "/does/not/exist", "/dev/null", "/\0"])("a root %j that is none has nothing", (none) => {
    expect(findDocuments(none)).toEqual([]);
    expect(readNotes(none)).toBeNull();
    expect(readPlans(none)).toEqual([]);
  });
});
