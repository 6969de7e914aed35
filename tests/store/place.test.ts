import { afterEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { excludeOurs, findRoot, isOff, isOwned, OWNED, PlaceError, setOff } from "../../src/store/place.ts";
import { ownHome } from "../harness/sealing.ts";
import { childEnv, commandFor, removeTemps, sampleCommit, tempRoot } from "./samples.ts";

ownHome();
afterEach(removeTemps);

function call(home: string, calls: unknown[][], uid: string[] = []): unknown[] {
  const done = Bun.spawnSync(commandFor("call.ts", [JSON.stringify(calls), ...uid]), { env: childEnv(home) });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  return JSON.parse(done.stdout.toString());
}

function put(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    if (path.endsWith("/")) mkdirSync(join(root, path), { recursive: true });
    else writeFileSync(join(root, path), "");
  }
}

const git = (dir: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: dir, stdio: "pipe" }).toString();

describe("findRoot", () => {
  const cases: { what: string; has: string[]; start: string; root: string }[] = [
    { what: "nothing anywhere", has: ["a/b/"], start: "a/b", root: "a/b" },
    { what: "git's top", has: ["a/.git/", "a/b/"], start: "a/b", root: "a" },
    { what: "pawl.yaml at git's top", has: ["a/.git/", "a/pawl.yaml", "a/b/c/"], start: "a/b/c", root: "a" },
    {
      what: "pawl.yaml below it",
      has: ["a/.git/", "a/.pawl/", "a/b/pawl.yaml", "a/b/c/"],
      start: "a/b/c",
      root: "a/b",
    },
    { what: ".pawl below it", has: ["a/.git/", "a/pawl.yaml", "a/b/.pawl/", "a/b/c/"], start: "a/b/c", root: "a/b" },
    { what: "a stray .pawl above git", has: ["a/.pawl/", "a/b/.git/", "a/b/c/"], start: "a/b/c", root: "a/b" },
    { what: "a stray pawl.yaml above git", has: ["a/pawl.yaml", "a/b/.git/"], start: "a/b", root: "a/b" },
    { what: "a repository in a repository", has: ["a/.git/", "a/.pawl/", "a/b/.git/"], start: "a/b", root: "a/b" },
    { what: "no git, .pawl here", has: ["a/.pawl/", "a/b/.pawl/"], start: "a/b", root: "a/b" },
    { what: "no git, .pawl above", has: ["a/.pawl/", "a/b/c/"], start: "a/b/c", root: "a" },
    { what: "no git, pawl.yaml here", has: ["a/.pawl/", "a/b/pawl.yaml"], start: "a/b", root: "a/b" },
    { what: "no git, pawl.yaml above", has: ["a/pawl.yaml", "a/b/"], start: "a/b", root: "a/b" },
    { what: ".pawl as a file is nothing", has: ["a/.pawl", "a/b/"], start: "a/b", root: "a/b" },
    { what: "never by .claude", has: ["a/.claude/", "a/b/"], start: "a/b", root: "a/b" },
    { what: "a stray .pawl at home", has: [".pawl/", "a/b/"], start: "a/b", root: "a/b" },
    { what: "a stray .git at home", has: [".git/", "pawl.yaml", "a/b/"], start: "a/b", root: "a/b" },
    { what: "a .git at home, .pawl below", has: [".git/", "a/.pawl/", "a/b/"], start: "a/b", root: "a" },
    { what: "a stray .pawl at home, git below", has: [".pawl/", "a/.git/", "a/b/"], start: "a/b", root: "a" },
    { what: "home itself", has: [".git/", ".pawl/"], start: "", root: "" },
    { what: "日本語", has: ["日本語/.git/", "日本語/b/"], start: "日本語/b", root: "日本語" },
  ];
  for (const { what, has, start, root } of cases) {
    test(what, () => {
      const home = tempRoot();
      put(home, ...has);
      expect(call(home, [["findRoot", join(home, start)]])).toEqual([join(home, root)]);
    });
  }
  test("no git: a folder that anyone may write to, or another user's, captures nothing", () => {
    const spoil: ((folder: string) => void)[] = [
      (folder) => chmodSync(folder, 0o777),
      (folder) => chmodSync(folder, 0o1777),
      (folder) => chmodSync(join(folder, ".pawl"), 0o777),
    ];
    if (process.getuid?.() === 0) {
      spoil.push((folder) => chownSync(folder, 65534, 65534));
      spoil.push((folder) => chownSync(join(folder, ".pawl"), 65534, 65534));
    }
    for (const change of spoil) {
      const base = tempRoot();
      put(base, "a/.pawl/", "a/b/");
      expect(findRoot(join(base, "a/b"))).toBe(join(base, "a"));
      change(join(base, "a"));
      expect(findRoot(join(base, "a/b"))).toBe(join(base, "a/b"));
    }
  });
  test("a submodule is its own project", () => {
    const [main, other] = [tempRoot(), tempRoot()];
    for (const dir of [main, other]) {
      git(dir, "init", "-q");
      git(dir, "commit", "-q", "--allow-empty", "-m", "x");
    }
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub");
    put(main, ".pawl/", "pawl.yaml", "sub/deep/");
    expect(findRoot(join(main, "sub/deep"))).toBe(join(main, "sub"));
  });
  test("a worktree is its own project, also inside the main one", () => {
    const main = tempRoot();
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    git(main, "worktree", "add", "-q", "inner/tree");
    put(main, ".pawl/", "inner/tree/sub/");
    expect(findRoot(join(main, "inner/tree/sub"))).toBe(join(main, "inner/tree"));
    expect(findRoot(join(main, "inner"))).toBe(main);
  });
  test("a link is resolved, a folder that is gone refused", () => {
    const root = tempRoot();
    put(root, "real/pawl.yaml");
    symlinkSync("real", join(root, "link"));
    expect(findRoot(join(root, "link"))).toBe(join(root, "real"));
    for (const gone of ["gone", "real/pawl.yaml", "nul\0"]) {
      expect(() => findRoot(join(root, gone))).toThrow(PlaceError);
    }
  });
});

describe("session pointers", () => {
  const pointer = { root: "/p", run: "r-1", offer: "r-2", formal: ["f-1"], pid: 5, pid_start: "77", boot: "b" };
  test("come back as written, and go", () => {
    const home = tempRoot();
    const id = ["claude", "0a-1_b.c"];
    expect(
      call(home, [
        ["readPointer", ...id],
        ["writePointer", ...id, pointer],
        ["readPointer", ...id],
        ["removePointer", ...id],
        ["removePointer", ...id],
        ["readPointer", ...id],
      ]),
    ).toEqual([null, null, pointer, null, null, null]);
    expect(readdirSync(join(home, ".local/state/pawl/sessions"))).toEqual([]);
  });
  for (const bad of ["", ".", "..", ".hidden", "a/b", "../x", "a b", "a\0", "日本語", "s".repeat(129)]) {
    test(`no file for ${JSON.stringify(bad.slice(0, 12))}`, () => {
      const home = tempRoot();
      const [one, two, read, wrote] = call(home, [
        ["pointerPath", "claude", bad],
        ["pointerPath", bad, "s"],
        ["readPointer", "claude", bad],
        ["writePointer", "claude", bad, pointer],
      ]);
      expect([one, two, read]).toEqual([null, null, null]);
      expect(wrote).toMatchObject({ thrown: "PlaceError" });
      expect(readdirSync(home)).not.toContain(".local");
    });
  }
  const odd = { pid: "5", pid_start: 77, pid_ns: 1, boot: null, offer: "../r", formal: [3], off: "yes" };
  test.each(Object.entries(odd))("%s of another kind is left out, the rest counts", (key, value) => {
    const home = tempRoot();
    const [, read] = call(home, [
      ["writePointer", "claude", "s", { ...pointer, [key]: value }],
      ["readPointer", "claude", "s"],
    ]);
    expect(read).toEqual(Object.fromEntries(Object.entries(pointer).filter(([name]) => name !== key)));
  });
  const broken = ["", "{", "[]", "null", '{"root":"rel","run":"r"}', '{"root":"/p","run":"../r"}', '{"root":"/p"}'];
  for (const text of broken) {
    test(`a broken one goes aside: ${text}`, () => {
      const home = tempRoot();
      const dir = join(home, ".local/state/pawl/sessions");
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(dir, "claude-s"), text);
      expect(call(home, [["readPointer", "claude", "s"]])).toEqual([null]);
      expect(readdirSync(dir)).toEqual(["claude-s.corrupt"]);
      expect(readFileSync(join(home, ".local/state/pawl/errors.log"), "utf8")).toContain("claude-s");
    });
  }
});

describe("our files and git", () => {
  const ours = [".pawl/runs/r/000001.json", ".pawl/journal", ".claude/work-completion.local.md", ".pawl/errors.log"];
  ours.push(
    ".claude/work-completion.r-1.local.md",
    "untracked/workflow-state/x/y.json",
    "a/.pawl-tmp-1-x",
    "./.pawl/off",
  );
  const theirs = [
    ".pawl/workflows/a.yaml",
    "pawl.yaml",
    ".claude/settings.json",
    "src/.pawl/runs/x",
    ".pawl",
    ".claude/",
  ];
  theirs.push("untracked/other", ".claude/work-completion.a/b.local.md", "xpawl/runs/a");
  for (const path of ours) test(`ours: ${path}`, () => expect(isOwned(path)).toBe(true));
  for (const path of theirs) test(`not ours: ${path}`, () => expect(isOwned(path)).toBe(false));

  function repository(): string {
    const top = tempRoot();
    git(top, "init", "-q");
    git(top, "commit", "-q", "--allow-empty", "-m", "x");
    return top;
  }
  const tracked = ".pawl/workflows/w.yaml";
  for (const below of ["", "packages/a [b] é"]) {
    test(`git sees the person's files only, project in ${JSON.stringify(below)}`, () => {
      const top = repository();
      const root = join(top, below);
      put(root, tracked, ...ours.filter((path) => !path.endsWith("journal")));
      writeFileSync(join(top, ".git/info/exclude"), "mine");
      expect(excludeOurs(root)).toBe(true);
      const seen = git(top, "-c", "core.quotepath=off", "status", "--porcelain", "-uall", "-z")
        .split("\0")
        .filter(Boolean);
      expect(seen).toEqual([`?? ${join(below, tracked)}`]);
      const exclude = readFileSync(join(top, ".git/info/exclude"), "utf8");
      expect(exclude.startsWith("mine\n# ")).toBe(true);
      expect(excludeOurs(root)).toBe(true);
      expect(readFileSync(join(top, ".git/info/exclude"), "utf8")).toBe(exclude);
      expect(exclude.trim().split("\n")).toHaveLength(2 + OWNED.length);
    });
  }
  test("a worktree uses the common folder", () => {
    const top = repository();
    git(top, "worktree", "add", "-q", `${top}-tree`);
    const tree = `${top}-tree`;
    put(tree, ".pawl/runs/x", ".claude/logs/l");
    expect(excludeOurs(tree)).toBe(true);
    expect(git(tree, "status", "--porcelain", "-uall")).toBe("");
    expect(readFileSync(join(top, ".git/info/exclude"), "utf8")).toContain("/.pawl/runs/");
    rmSync(tree, { recursive: true });
  });
  test("no git, a broken .git, an exclude file that is a link", () => {
    const plain = tempRoot();
    expect(excludeOurs(plain)).toBe(true);
    expect(readFileSync(join(plain, ".pawl/.gitignore"), "utf8")).toContain("runs/\n");
    const broken = tempRoot();
    writeFileSync(join(broken, ".git"), "gitdir: /nowhere\n");
    expect(excludeOurs(broken)).toBe(true);
    const linked = repository();
    rmSync(join(linked, ".git/info/exclude"));
    writeFileSync(join(linked, "victim"), "");
    symlinkSync("../../victim", join(linked, ".git/info/exclude"));
    expect(excludeOurs(linked)).toBe(false);
    expect(readFileSync(join(linked, "victim"), "utf8")).toBe("");
  });
});

test("off and on", () => {
  const root = tempRoot();
  expect(isOff(root)).toBe(false);
  setOff(root, true);
  setOff(root, true);
  expect(isOff(root)).toBe(true);
  setOff(root, false);
  setOff(root, false);
  expect(isOff(root)).toBe(false);
});

test("a file that Pawl did not write there switches nothing off", () => {
  const [root, other] = [tempRoot(), tempRoot()];
  setOff(other, true);
  mkdirSync(join(root, ".pawl"));
  for (const text of ["", "{}", readFileSync(join(other, ".pawl/off"), "utf8")]) {
    writeFileSync(join(root, ".pawl/off"), text);
    expect(isOff(root)).toBe(false);
  }
});

describe("a .pawl that cannot be written", () => {
  const run = ["pinWorkflow", "commitRun"] as const;
  const calls = (root: string) => [
    [run[0], root, "run-1", { v: 1 }],
    [run[1], root, sampleCommit(1)],
    ["logError", root, "test", "said\nso"],
    ["project", root, sampleCommit(1, { effects: [{ kind: "log", path: "other.log", lines: ["line"] }] })],
  ];
  const logged = (home: string) => readFileSync(join(home, ".local/state/pawl/errors.log"), "utf8");

  test("read-only: errors, not a crash, and they are written down at home", () => {
    const [root, home] = [tempRoot(), tempRoot()];
    put(root, ".pawl/");
    chmodSync(join(root, ".pawl"), 0o555);
    for (const dir of [root, home]) chmodSync(dir, 0o777);
    const nobody = process.getuid?.() === 0 ? ["65534"] : [];
    const [pin, commit, , problems] = call(home, calls(root), nobody);
    for (const result of [pin, commit]) expect(result).toMatchObject({ message: expect.stringContaining("EACCES") });
    expect(problems).toEqual([expect.stringContaining("journal: EACCES")]);
    expect(readFileSync(join(root, "other.log"), "utf8")).toContain("line");
    expect(logged(home)).toMatch(/^\S+Z test: said so\n$/);
    expect(readdirSync(join(root, ".pawl"))).toEqual([]);
  });
  test("a link: refused, and nothing lands where it leads", () => {
    const [root, home, elsewhere] = [tempRoot(), tempRoot(), tempRoot()];
    symlinkSync(elsewhere, join(root, ".pawl"));
    const [pin, commit] = call(home, [...calls(root), ["setOff", root, true], ["excludeOurs", root]]);
    expect([pin, commit]).toMatchObject([{ thrown: "PathError" }, { thrown: "PathError" }]);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(logged(home)).toContain("said so");
  });
});

test("errors.log: one short line each, turned over at 1 MB, never a throw", () => {
  const root = tempRoot();
  put(root, ".pawl/");
  writeFileSync(join(root, ".pawl/errors.log"), "x".repeat(1024 * 1024));
  const [result] = call(tempRoot(), [["logError", root, "where", `a\r\nb${"c".repeat(1000)}`]]);
  expect(result).toBeNull();
  const text = readFileSync(join(root, ".pawl/errors.log"), "utf8");
  expect(text).toMatch(/^\d{4}-\S+Z where: a bc+\n$/);
  expect(text.length).toBe(501);
  expect(readFileSync(join(root, ".pawl/errors.log.1"), "utf8")).toHaveLength(1024 * 1024);
});
