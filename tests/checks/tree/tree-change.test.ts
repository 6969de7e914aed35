import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { freshProjects, git, hash, later, put, repository, root } from "./tree-place.ts";

freshProjects();

const LONG_AGO = 1_600_000_000;

describe("a change", () => {
  const CHANGES: Record<string, [differs: boolean, change: () => void]> = {
    edit: [true, () => put("src/a.ts", "x")],
    "edit to the same size at the same time": [true, () => edited("src/a.ts")],
    "edit of a file assumed unchanged": [true, () => hidden("--assume-unchanged")],
    "edit of a file said to be skipped": [true, () => hidden("--skip-worktree")],
    "edit with its times put back": [
      true,
      () => {
        git("config", "core.trustctime", "false");
        utimesSync(join(root, "src/a.ts"), LONG_AGO, LONG_AGO);
        git("update-index", "--really-refresh");
        edited("src/a.ts");
        utimesSync(join(root, "src/a.ts"), LONG_AGO, LONG_AGO);
        expect(git("status", "--porcelain", "src/a.ts")).toBe("");
      },
    ],
    "a file put where a sparse checkout has none": [true, () => outsideOf("--no-sparse-index")],
    "a file put where a sparse index has none": [true, () => outsideOf("--sparse-index")],
    "a new file": [true, () => put("src/new.ts")],
    "an empty new file": [true, () => put("src/new.ts", "")],
    removal: [true, () => rmSync(join(root, "src/a.ts"))],
    "mode of a tracked file": [true, () => chmodSync(join(root, "run.sh"), 0o755)],
    "mode of an untracked file": [true, () => chmodSync(join(root, "untracked.ts"), 0o755)],
    "content of an untracked file": [true, () => put("untracked.ts", "x")],
    rename: [true, () => renameSync(join(root, "src/a.ts"), join(root, "src/z.ts"))],
    "where a link leads": [
      true,
      () => {
        rmSync(join(root, "link"));
        symlinkSync("src/b.ts", join(root, "link"));
      },
    ],
    "no longer ignored": [true, () => put(".gitignore", "build/\n")],
    "an edit that is staged": [
      true,
      () => {
        put("src/a.ts", "x");
        git("add", "-A");
      },
    ],
    "other times only": [
      false,
      () => {
        later("src/a.ts");
        later("untracked.ts");
      },
    ],
    "an ignored file": [false, () => put("new.log")],
    "an ignored file changed": [false, () => put("old.log", "x")],
    "a run of ours": [false, () => put(".pawl/runs/r1/000001.json", "{}")],
    "a run of ours, added by force": [
      false,
      () => {
        put(".pawl/runs/r1/000001.json", "{}");
        git("add", "-f", ".pawl/runs");
      },
    ],
    "unfinished files of ours": [false, () => put("src/deep/.pawl-tmp-1-2", "{}")],
    "unfinished files of ours, added by force": [
      false,
      () => {
        put("src/deep/.pawl-tmp-1-2", "{}");
        git("add", "-f", "src/deep");
      },
    ],
    "a document of ours": [false, () => put(".claude/work-completion.local.md", "x")],
    "a file beside ours": [true, () => put(".pawl/workflows/x.yaml", "x")],
    "an empty folder": [false, () => mkdirSync(join(root, "empty"))],
    "git add": [false, () => git("add", "-A")],
    commit: [
      false,
      () => {
        git("add", "-A");
        git("commit", "-qm", "same content");
      },
    ],
    "another branch with the same content": [false, () => git("checkout", "-qb", "other")],
    "git gc": [false, () => git("gc", "-q", "--prune=now")],
    "git reset": [
      false,
      () => {
        git("rm", "-q", "--cached", "src/a.ts");
        git("reset", "-q");
      },
    ],
    "nothing in the environment": [
      false,
      () => {
        for (const name of Object.keys(ELSEWHERE)) process.env[name] = ELSEWHERE[name];
      },
    ],
  };
  const ELSEWHERE: Record<string, string> = {
    GIT_DIR: "/nonexistent",
    GIT_INDEX_FILE: "/nonexistent/index",
    GIT_WORK_TREE: "/",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fileMode",
    GIT_CONFIG_VALUE_0: "nonsense",
  };
  afterEach(() => {
    for (const name of Object.keys(ELSEWHERE)) delete process.env[name];
  });

  function edited(path: string): void {
    const text = readFileSync(join(root, path), "utf8");
    writeFileSync(join(root, path), text.toUpperCase());
  }
  function hidden(mark: string): void {
    git("update-index", mark, "src/a.ts");
    put("src/a.ts", "x");
    expect(git("status", "--porcelain", "src/a.ts")).toBe("");
  }

  function outsideOf(kind: string): void {
    put("other/c.ts");
    git("add", "other");
    git("commit", "-qm", "other");
    const before = hash();
    git("sparse-checkout", "set", "--cone", kind, "src");
    expect(existsSync(join(root, "other/c.ts"))).toBe(false);
    expect(hash()).toBe(before);
    put("other/c.ts", "edited\n");
    expect(hash()).not.toBe(before);
  }

  for (const [name, [differs, change]] of Object.entries(CHANGES)) {
    test(`${name} ${differs ? "changes" : "does not change"} it`, () => {
      repository();
      put("untracked.ts");
      put("old.log");
      const before = hash();
      change();
      if (differs) expect(hash()).not.toBe(before);
      else expect(hash()).toBe(before);
    });
  }
});
