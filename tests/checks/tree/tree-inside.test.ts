import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesSince } from "../../../src/checks/tree/tree.ts";
import { hashOf } from "../../../src/store/files.ts";
import { committed, freshProjects, git, gitIn, hash, later, place, put, repository, root } from "./tree-place.ts";

freshProjects();

describe("repositories inside", () => {
  function submodule(): void {
    const other = join(place, "other");
    mkdirSync(other);
    gitIn(other, "init", "-q", "--template=");
    put("lib.ts", "lib\n", other);
    gitIn(other, "add", "-A");
    gitIn(other, "commit", "-qm", "lib");
    repository();
    git("submodule", "--quiet", "add", other, "vendor/lib");
    git("commit", "-qm", "submodule");
  }
  const inside = (...args: string[]) => gitIn(join(root, "vendor/lib"), ...args);

  test("a submodule counts with its commit, and with what is changed in it", () => {
    submodule();
    const clean = hash();
    expect(clean).toBe(git("rev-parse", "HEAD^{tree}"));
    put("vendor/lib/lib.ts", "edited\n");
    const dirty = hash();
    put("vendor/lib/lib.ts", "edited again\n");
    const again = hash();
    put("vendor/lib/new.ts");
    const untracked = hash();
    inside("add", "-A");
    expect(hash()).toBe(untracked);
    inside("commit", "-qm", "x");
    expect(hash()).toBe(committed());
    expect(new Set([clean, dirty, again, untracked, hash()]).size).toBe(5);
    inside("checkout", "-q", "HEAD~1");
    expect(hash()).toBe(clean);
  });

  test("a submodule that is not fetched, then gone", () => {
    submodule();
    const clean = hash();
    git("submodule", "--quiet", "deinit", "-f", "vendor/lib");
    expect(hash()).toBe(clean);
    rmSync(join(root, "vendor"), { recursive: true });
    expect(hash()).toBe(committed());
  });

  test("a repository that git does not know counts, too, even without a commit", () => {
    repository();
    const before = hash();
    mkdirSync(join(root, "nested"));
    gitIn(join(root, "nested"), "init", "-q", "--template=");
    put("nested/x.ts");
    const unborn = hash();
    put("nested/x.ts", "edited");
    const edited = hash();
    gitIn(join(root, "nested"), "add", "-A");
    gitIn(join(root, "nested"), "commit", "-qm", "x");
    expect(new Set([before, unborn, edited, hash()]).size).toBe(4);
    expect(hash()).toBe(committed());
  });

  test("a repository inside may have names of another length", () => {
    repository("--object-format=sha256");
    const before = hash();
    mkdirSync(join(root, "nested"));
    gitIn(join(root, "nested"), "init", "-q", "--template=");
    put("nested/x.ts");
    gitIn(join(root, "nested"), "add", "-A");
    gitIn(join(root, "nested"), "commit", "-qm", "x");
    const clean = hash(join(place, "kept"));
    put("nested/x.ts", "edited");
    expect(new Set([before, clean, hash()]).size).toBe(3);
    expect(changesSince(root, "HEAD", clean, join(place, "kept"), () => true).ok).toBe(true);
  });

  test("another worktree is another project", () => {
    repository();
    const before = hash();
    git("worktree", "add", "-q", "trees/one");
    put("trees/one/src/a.ts", "x");
    expect(hash()).toBe(before);
  });
});

describe("nothing of the repository is run", () => {
  const trace = () => join(place, "ran");
  const program = (name: string) => {
    const path = join(place, name);
    writeFileSync(path, `#!/bin/sh\necho "$0" >> '${trace()}'\ncat\n`, { mode: 0o755 });
    return path;
  };
  function edits(): void {
    put("src/a.ts", "x");
    put("new.ts");
    later("src.txt");
  }

  test("no filter, wherever it is configured", () => {
    for (const where of ["--local", "--global"]) {
      if (where === "--local") repository();
      put(".gitattributes", "*.ts filter=evil\n*.txt filter=worse\n");
      git("config", where, "filter.evil.clean", program("clean"));
      git("config", where, "filter.worse.process", program("process"));
      git("config", where, "filter.worse.required", "true");
      edits();
      expect(hash()).toBe(hash(join(place, "kept")));
      expect(existsSync(trace())).toBe(false);
    }
    expect(changesSince(root, "HEAD", hash(join(place, "kept")), join(place, "kept"), () => true).ok).toBe(true);
    expect(existsSync(trace())).toBe(false);
    expect(() => git("diff")).toThrow("filter");
    expect(existsSync(trace())).toBe(true);
  });

  test("no hook, no monitor, no diff program, also where the index has to be written out", () => {
    repository();
    put(".git/hooks/post-index-change", readFileSync(program("hook"), "utf8"));
    chmodSync(join(root, ".git/hooks/post-index-change"), 0o755);
    git("update-index", "--split-index");
    rmSync(trace(), { force: true });
    git("config", "core.fsmonitor", program("monitor"));
    git("config", "diff.external", program("diff"));
    git("config", "diff.mine.textconv", program("textconv"));
    put(".gitattributes", "*.ts diff=mine\n");
    edits();
    expect(changesSince(root, "HEAD", hash(join(place, "kept")), join(place, "kept"), () => true).ok).toBe(true);
    expect(existsSync(trace())).toBe(false);
    git("add", "-A");
    expect(readFileSync(trace(), "utf8")).toContain("post-index-change");
  });

  test("no filter where the index has to be written out", () => {
    repository();
    git("update-index", "--split-index");
    put(".gitattributes", "* filter=evil\n");
    git("config", "filter.evil.clean", program("clean"));
    put("src/a.ts", "src/A.ts\n");
    hash();
    expect(existsSync(trace())).toBe(false);
  });

  test("a filter in a submodule", () => {
    repository();
    mkdirSync(join(root, "nested"));
    gitIn(join(root, "nested"), "init", "-q", "--template=");
    put("nested/.gitattributes", "* filter=evil\n");
    put("nested/x.ts");
    gitIn(join(root, "nested"), "add", "-A");
    gitIn(join(root, "nested"), "commit", "-qm", "x");
    git("add", "-A");
    gitIn(join(root, "nested"), "config", "filter.evil.clean", program("clean"));
    put("nested/x.ts", "edited");
    hash();
    expect(existsSync(trace())).toBe(false);
  });

  test("git-lfs is not run, and its files count as it would write them", () => {
    repository();
    put(".gitattributes", "*.bin filter=lfs -text\n");
    const content = "large\n".repeat(1000);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${hashOf(content)}\nsize ${content.length}\n`;
    put("a.bin", pointer);
    git("add", "-A");
    git("commit", "-qm", "pointer");
    const expected = hash();
    git("config", "filter.lfs.clean", program("lfs"));
    git("config", "filter.lfs.process", program("lfs"));
    git("config", "filter.lfs.required", "true");
    expect(hash()).toBe(expected);
    put("a.bin", content);
    expect(hash(join(place, "kept"))).toBe(expected);
    put("b.bin", content);
    const both = hash(join(place, "kept"));
    put("b.bin", `${content}x`);
    expect(new Set([expected, both, hash()]).size).toBe(3);
    expect(existsSync(trace())).toBe(false);
    const changes = changesSince(root, "HEAD", both, join(place, "kept"), () => true);
    expect(changes).toEqual({ ok: true, value: [{ path: "b.bin", status: "added", before: null, after: pointer }] });
  });
});
