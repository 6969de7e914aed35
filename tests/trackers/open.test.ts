/** Which tracker a project has, and why none. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openTracker, type TrackerConfig } from "../../src/trackers/index.ts";
import { DOUBLES, run, word } from "./world.ts";

const GIT = dirname(Bun.which("git")!);
const PATH = process.env.PATH!;
let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-open-")));
  run(["git", "init", "-q"], root);
  process.env.PATH = `${DOUBLES}:${GIT}`;
});
afterEach(() => {
  process.env.PATH = PATH;
  rmSync(root, { recursive: true, force: true });
});

const open = (config: TrackerConfig = {}) => openTracker(root, config);
const name = (config: TrackerConfig = {}) => {
  const answer = open(config);
  return answer.kind === "ok" ? answer.value.name : word(answer);
};
const remote = (url: string, as = "origin") => run(["git", "remote", "add", as, url], root);

describe("by itself", () => {
  test("in this order", () => {
    expect(open()).toMatchObject({
      kind: "absent",
      why: expect.stringMatching(/no \.beads.*no session\.md.*no remote/),
    });
    remote("git@github.com:o/r.git");
    expect(open()).toMatchObject({
      value: { name: "github", why: "its tasks are the issues of github.com/o/r", atomic: false },
    });
    mkdirSync(join(root, "agents"));
    writeFileSync(join(root, "agents/session.md"), "");
    expect(open()).toMatchObject({ value: { name: "session-md", why: "its tasks are in agents/session.md" } });
    writeFileSync(join(root, "session.md"), "");
    expect(open()).toMatchObject({ value: { why: "its tasks are in session.md" } });
    mkdirSync(join(root, ".beads"));
    expect(open()).toMatchObject({ value: { name: "beads", atomic: true } });
  });
  test("beads without bd is no tracker, whatever else is there", () => {
    mkdirSync(join(root, ".beads"));
    writeFileSync(join(root, "session.md"), "");
    process.env.PATH = GIT;
    expect(open()).toMatchObject({ kind: "absent", why: expect.stringContaining("bd is not installed") });
  });
  test("a worktree has the beads of its main checkout", () => {
    mkdirSync(join(root, ".beads"));
    run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"], root);
    run(["git", "worktree", "add", "-q", join(root, "tree")], root);
    expect(openTracker(join(root, "tree"), {})).toMatchObject({ value: { name: "beads" } });
  });
});

describe("as configured", () => {
  test("what is not there is absent", () => {
    process.env.PATH = GIT;
    for (const kind of ["beads", "github", "session-md"] as const) expect(name({ kind })).toBe("absent");
    expect(name({ kind: "github", repo: "o/r" })).toBe("absent");
  });
  test("a path of its own, inside the project", () => {
    writeFileSync(join(root, "todo.md"), "- [ ] **A**\n");
    expect(name({ kind: "session-md", path: "todo.md" })).toBe("session-md");
    expect(name({ path: "todo.md" })).toBe("session-md");
    const outside = open({ kind: "session-md", path: "../" });
    expect(outside.kind === "ok" ? word(outside.value.list({})) : "refused").toBe("error");
  });
  test("a repository is a name and nothing else", () => {
    for (const repo of ["o/r", "github.example.com/o/r", "o/r.js"])
      expect(name({ kind: "github", repo })).toBe("github");
    for (const repo of ["--help", "o", "o/r;x", "-o/r", "a/b/c/d", "o/r --web"])
      expect(name({ kind: "github", repo })).toBe("bad-argument");
  });
});

describe("remotes", () => {
  const rows: [string, string][] = [
    ["https://github.com/o/r.git", "github.com/o/r"],
    ["https://user:token@github.com/o/r", "github.com/o/r"],
    ["git@github.com:o/r.git", "github.com/o/r"],
    ["ssh://git@github.com:22/o/r.git", "github.com/o/r"],
    ["https://github.example.com/o/my.repo", "github.example.com/o/my.repo"],
    ["https://gitlab.com/o/r.git", ""],
    ["/home/github.com/o/r", ""],
    ["https://notgithub.org/o/r", ""],
  ];
  test.each(rows)("%s", (url, expected) => {
    remote(url);
    const answer = open({ kind: "github" });
    expect(answer.kind === "ok" ? answer.value.why : "").toBe(expected && `its tasks are the issues of ${expected}`);
  });
  test("upstream comes before origin", () => {
    remote("https://github.com/me/fork");
    remote("https://github.com/o/r", "upstream");
    expect(open({ kind: "github" })).toMatchObject({ value: { why: expect.stringContaining("o/r") } });
  });
});

test("a program of the repository's own is not run", () => {
  mkdirSync(join(root, ".beads"));
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin/bd"), "#!/bin/sh\ntouch ran\n");
  chmodSync(join(root, "bin/bd"), 0o755);
  for (const path of [join(root, "bin"), "bin", ".", `./bin:`]) {
    process.env.PATH = `${path}:${GIT}`;
    expect(name()).toBe("absent");
  }
});
