import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removePlaces, shell } from "../../harness/harness.ts";
import { apply, archive, placeWith, plan, planned, put, snapshot } from "./archive-place.ts";

afterAll(removePlaces);

const RULES = ".claude/cleanup-patterns.local.md";

describe("helper archive plan", () => {
  const leftovers = [
    "server.log",
    "deep/er/npm.log",
    "server.log.1",
    "a.tmp",
    "notes.md~",
    "config.bak",
    "merge.c.orig",
    "x.rej",
    "db.dump",
    "core.4711",
    "scratch/anything.rs",
    "lib/scratch/x",
    "debug.py",
    "tmp_try.sh",
    "scratch-2.ts",
    "name with spaces.log",
    "nëw\nline.bak",
    "-rf.log",
    "*.log",
    "[x]{y}!.tmp",
    '"quoted".log',
  ];
  const stay = [
    "src/main.ts",
    "src/debugger.ts",
    "src/temperature.ts",
    "logs.md",
    "catalog",
    "node_modules/x/debug.log",
    "dist/a.log",
    ".claude/logs/a.log",
    ".claude/x.bak",
    ".pawl/workflows/x.bak",
    ".archive/2020-01-01-00-00/x.log",
    "MANIFEST.md",
    "pawl.yaml",
  ];

  test.each([true, false])("by name, git: %p", (git) => {
    const place = placeWith(Object.fromEntries([...leftovers, ...stay].map((name) => [name, name])), { git });
    const before = snapshot(place);
    expect(planned(place)).toEqual(leftovers.toSorted());
    expect(snapshot(place)).toEqual(before);
  });

  test("by age and size, only what git neither tracks nor ignores", () => {
    const place = placeWith({ ".gitignore": "ignored*\nwhole/\n" });
    for (const name of ["old.csv", "ignored.csv", "whole/old.csv", "committed.csv"]) put(place, name, "x", 200);
    put(place, "young.csv", "x", 179);
    put(place, ".env.local", "x", 400);
    for (const name of ["big.bin", "ignored.bin"]) {
      put(place, name, "");
      truncateSync(join(place.root, name), 50 * 1024 * 1024 + 1);
    }
    put(place, "ignored.log", "x");
    put(place, "whole/x.log", "x");
    shell(place, "git add committed.csv .gitignore && git commit -qm more");
    const { files } = plan(place);
    expect(files.map(({ path, reason }) => [path, reason])).toEqual([
      ["big.bin", "larger than 50 MB"],
      ["ignored.log", "log"],
      ["old.csv", "not changed for 200 days"],
    ]);
  });

  test("without git only names count, and it says so", () => {
    const place = placeWith({ "a.log": "x" }, { git: false });
    put(place, "old.csv", "x", 400);
    expect(planned(place)).toEqual(["a.log"]);
    expect(archive(place, "plan").out).toContain("No git here");
  });

  test("tracked files only on request, and marked", () => {
    const place = placeWith({ "kept.log": "x", "a.log": "y" });
    shell(place, "git add -f kept.log && git commit -qm more");
    expect(planned(place)).toEqual(["a.log"]);
    expect(plan(place, "--tracked").files.map(({ path, tracked }) => [path, tracked])).toEqual([
      ["a.log", false],
      ["kept.log", true],
    ]);
    expect(archive(place, "plan", "--tracked").out).toMatch(/kept\.log {2}\(log; TRACKED by git/);
  });

  test("neither links nor what lies behind them, nor other repositories", () => {
    for (const git of [true, false]) {
      const place = placeWith({ "real.log": "x", "other/x.log": "x" }, { git });
      mkdirSync(join(place.base, "outside"));
      writeFileSync(join(place.base, "outside/secret.log"), "x");
      symlinkSync(join(place.base, "outside"), join(place.root, "linked"));
      symlinkSync(join(place.base, "outside/secret.log"), join(place.root, "linked.log"));
      shell(place, "git init -q other; mkfifo pipe.log");
      expect(planned(place)).toEqual(["real.log"]);
    }
  });

  test("a name that is not UTF-8 is left alone, the others are not", () => {
    for (const git of [true, false]) {
      const place = placeWith({ "real.log": "x" }, { git });
      shell(place, `touch "$(printf 'b\\377d.log')"`);
      expect(planned(place)).toEqual(["real.log"]);
      expect(apply(place, plan(place).id)).toMatchObject({ code: 0, archived: [{ from: "real.log" }] });
      expect(shell(place, "ls | grep -c log").out).toBe("1\n");
    }
  });

  test("the project's own rules", () => {
    const front =
      'archive_always: ["data/", "*.xyz", "src/gen/**"]\nnever_archive: ["keep*.log", "/top.tmp"]\narchive_if_old_days: 10\narchive_if_larger_mb: 1\nother: 1\n';
    const place = placeWith({
      [RULES]: `---\n${front}---\nnotes of mine\n`,
      "data/a/b.csv": "1",
      "q.xyz": "1",
      "src/gen/a.ts": "1",
      "src/main.ts": "1",
      "keep-me.log": "1",
      "top.tmp": "1",
      "sub/top.tmp": "1",
      "large.bin": "x".repeat(1024 * 1024 + 1),
    });
    put(place, "old.csv", "x", 11);
    const wanted = ["data/a/b.csv", "large.bin", "old.csv", "q.xyz", "src/gen/a.ts", "sub/top.tmp"];
    expect(planned(place)).toEqual(wanted);
  });

  test("a tracked file that the rules name is in the plan, and still needs --tracked", () => {
    const place = placeWith({ [RULES]: "---\narchive_always: [old-docs/]\n---\n", "old-docs/a.md": "1" });
    shell(place, "git add old-docs && git commit -qm docs");
    const { id, files } = plan(place);
    expect(files).toMatchObject([{ path: "old-docs/a.md", tracked: true }]);
    expect(apply(place, id)).toMatchObject({ code: 1, archived: [], left: [{ path: "old-docs/a.md" }] });
    expect(apply(place, id, "--tracked")).toMatchObject({
      code: 0,
      archived: [{ from: "old-docs/a.md", tracked: true }],
    });
  });

  test.each([
    ["---\narchive_always: *.log\n---\n", 'needs quotes: "*.log"'],
    ["---\narchive_always:\n  - *.log\n---\n", 'needs quotes: "*.log"'],
    ["---\narchive_always: text\n---\n", "archive_always must be a list"],
    ["---\nnever_archive: [1]\n---\n", "never_archive must be a list"],
    ["---\narchive_if_old_days: soon\n---\n", "archive_if_old_days must be a number"],
    ["---\n- a\n---\n", "front matter"],
  ])("mistakes in the rules stop everything: %j", (text, said) => {
    const { code, out, err } = archive(placeWith({ [RULES]: text, "a.log": "" }), "plan");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(said);
  });

  test("the same files have the same plan, changed ones another", () => {
    const place = placeWith({ "a.log": "x", "b.log": "y" });
    const { id } = plan(place);
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(plan(place).id).toBe(id);
    put(place, "b.log", "z");
    expect(plan(place).id).not.toBe(id);
  });

  test("a clean project has nothing to archive, and leaves no trace of the question", () => {
    const place = placeWith({});
    expect(archive(place, "plan")).toEqual({ code: 0, out: "Nothing to archive.\n", err: "" });
    expect(shell(place, "ls -A; git status --porcelain").out).toBe(".git\nREADME.md\n");
  });

  test("odd names cannot disturb the table, and a long one is cut", () => {
    const many = Object.fromEntries(Array.from({ length: 70 }, (_one, at) => [`${at}.log`, "x"]));
    const place = placeWith({ ...many, "line\nbreak\u202e.log": "xx" });
    const { out } = archive(place, "plan");
    expect(out).toContain('   1       2 B  "line\\nbreak\\u202e.log"  (log)\n');
    expect(out).toContain("… and 11 more");
    expect(archive(place, "plan", "--all").out.split("\n")).toHaveLength(71 + 3);
    expect(shell(place, "git status --porcelain -uall | grep -c pawl").out).toBe("0\n");
  });

  test("a broken repository is an error, not an empty project", () => {
    const place = placeWith({ "a.log": "x" });
    shell(place, "printf garbage > .git/index");
    const { code, err } = archive(place, "plan");
    expect(code).toBe(1);
    expect(err).toContain("git ls-files");
  });
});
