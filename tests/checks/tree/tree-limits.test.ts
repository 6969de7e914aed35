import { describe, expect, test } from "bun:test";
import { chmodSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesSince } from "../../../src/checks/tree/tree.ts";
import { freshProjects, git, hash, later, place, put, repository, root, whyNot } from "./tree-place.ts";

freshProjects();

describe("what cannot be told is not ok", () => {
  const notRoot = process.getuid?.() !== 0;
  test.if(notRoot)("a file nobody may read", () => {
    repository();
    put("secret.ts");
    chmodSync(join(root, "secret.ts"), 0);
    expect(whyNot()).toContain("Permission denied");
  });
  test.if(notRoot)("a folder nobody may open", () => {
    repository();
    put("secret/x.ts");
    chmodSync(join(root, "secret"), 0);
    expect(whyNot()).toContain("could not open directory");
  });
  test("5 GB in sight of git", () => {
    repository();
    put("huge.bin", "");
    truncateSync(join(root, "huge.bin"), 5 * 2 ** 30);
    const began = performance.now();
    expect(whyNot()).toContain("more than 512 MB");
    expect(performance.now() - began).toBeLessThan(30_000);
  });
  test("an index that is none", () => {
    repository();
    writeFileSync(join(root, ".git/index"), "nonsense, and more of it");
    expect(whyNot()).toContain("not understood");
  });
  test("a folder that is not there", () => {
    expect(whyNot(join(place, "nowhere"))).toContain("ENOENT");
  });
});

describe("without git", () => {
  test("names, modes, contents and links count, the rest does not", () => {
    put("a.ts");
    put("b/c.ts");
    const hashes = [hash()];
    const step = (change: () => void) => {
      change();
      hashes.push(hash());
    };
    step(() => put("a.ts", "x"));
    step(() => chmodSync(join(root, "a.ts"), 0o755));
    step(() => renameSync(join(root, "a.ts"), join(root, "z.ts")));
    step(() => symlinkSync("/etc", join(root, "link")));
    expect(new Set(hashes).size).toBe(hashes.length);
    const before = hash();
    later("z.ts");
    put("node_modules/x/index.js");
    put(".pawl/runs/r1/000001.json");
    expect(hash()).toBe(before);
    expect(changesSince(root, before, before, null, () => true)).toEqual({ ok: false, why: "no git" });
  });
  test("too much of it is not ok", () => {
    put("huge.bin", "");
    truncateSync(join(root, "huge.bin"), 2 ** 30);
    expect(whyNot()).toContain("more than 512 MB");
  });
});

describe("changesSince", () => {
  const kept = () => join(place, "kept");
  function changes(base: string, wanted: (path: string) => boolean = () => true, at = root) {
    const fact = changesSince(at, base, hash(kept(), at), kept(), wanted);
    if (!fact.ok) throw new Error(fact.why);
    return fact.value;
  }

  test("between a kept tree and now, though git never had it", () => {
    repository();
    put("draft.ts", "one\n");
    put("src/a.ts", "draft\n");
    const base = hash(kept());
    put("draft.ts", "two\n");
    rmSync(join(root, "src.txt"));
    renameSync(join(root, "src/a.ts"), join(root, "src/z.ts"));
    put(".pawl/runs/r1/000001.json");
    put("picture.png", new Uint8Array([1, 0, 2]));
    put("large.ts", "x".repeat(2 ** 20 + 1));
    put("ünï \n.ts", "name\n");
    git("add", "-A");
    git("reset", "-q");
    git("gc", "-q", "--prune=now");
    expect(changes(base)).toEqual([
      { path: "draft.ts", status: "changed", before: "one\n", after: "two\n" },
      { path: "large.ts", status: "added", before: null, after: null },
      { path: "picture.png", status: "added", before: null, after: null },
      { path: "src.txt", status: "removed", before: "src.txt\n", after: null },
      { path: "src/z.ts", from: "src/a.ts", status: "renamed", before: "draft\n", after: "draft\n" },
      { path: "ünï \n.ts", status: "added", before: null, after: "name\n" },
    ]);
  });

  test("since a commit, with the texts that are wanted", () => {
    repository();
    put("src/a.ts", "x");
    put("src.txt", "y");
    expect(changes("HEAD", (path) => path.endsWith(".txt"))).toEqual([
      { path: "src.txt", status: "changed", before: "src.txt\n", after: "y" },
      { path: "src/a.ts", status: "changed", before: null, after: null },
    ]);
  });

  test("in a folder of a larger repository, paths begin there", () => {
    repository();
    put("src/a.ts", "x");
    put("src.txt", "outside\n");
    const below = join(root, "src");
    expect(changes("HEAD", undefined, below).map(({ path }) => path)).toEqual(["a.ts"]);
    expect(changes(hash(kept(), below), undefined, below)).toEqual([]);
  });

  test("a commit with files of ours, and the first commit", () => {
    repository();
    put(".pawl/runs/r1/000001.json");
    git("add", "-f", ".pawl");
    git("commit", "-qm", "by force");
    rmSync(join(root, ".pawl"), { recursive: true });
    expect(changes("HEAD")).toEqual([]);
    expect(changes("4b825dc642cb6eb9a060e54bf8d69288fbee4904")).toHaveLength(6);
  });

  test("what is not kept is not known", () => {
    repository();
    put("src/a.ts", "x");
    const base = hash();
    put("src/a.ts", "y");
    for (const name of [base, "nowhere", "--help", "", "HEAD\nHEAD"]) {
      expect(changesSince(root, name, hash(kept()), kept(), () => true).ok).toBe(false);
    }
  });
});
