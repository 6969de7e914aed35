import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesSince } from "../../../src/checks/tree/tree.ts";
import { committed, everything, freshProjects, git, hash, place, put, repository, root, run } from "./tree-place.ts";

freshProjects();

const reference = () => ({
  GIT_OBJECT_DIRECTORY: join(place, "reference-objects"),
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(root, ".git/objects")),
});

describe("the hash is what git would commit", () => {
  const STATES: Record<string, () => void> = {
    "nothing changed": () => {},
    "many kinds at once": () => {
      put("src/a.ts", "other\n");
      put("src/new/deep/c.ts");
      put("src/new2.ts");
      rmSync(join(root, "src.txt"));
      chmodSync(join(root, "run.sh"), 0o755);
      symlinkSync("nowhere", join(root, "dangling"));
      git("add", "src/new2.ts");
      put("src/new2.ts", "edited after it was added\n");
    },
    "a file became a folder and a folder a file": () => {
      rmSync(join(root, "src.txt"));
      put("src.txt/inside");
      rmSync(join(root, "src/deep"), { recursive: true });
      put("src/deep", "file\n");
    },
    "a file became a link": () => {
      rmSync(join(root, "src.txt"));
      symlinkSync("src/a.ts", join(root, "src.txt"));
    },
    "a folder became a link to another with the same files": () => {
      put("copy/a.ts");
      put("copy/deep/b.ts");
      rmSync(join(root, "src"), { recursive: true });
      symlinkSync("copy", join(root, "src"));
    },
    "names that sort around a slash": () => {
      for (const name of ["src-x", "src.x", "src0", "src/deep.x", "src/deep-x", "src/deep0"]) put(name);
    },
    "odd names": () => {
      for (const name of ["line\nbreak", 'qu"ote', "back\\slash", "ünï", " space ", "-dash", "tab\t", "*", ":(top)x"]) {
        put(`odd/${name}`);
      }
      git("add", "-A");
      for (const name of ["line\nbreak", 'qu"ote', "ünï"]) put(`odd/${name}`, "edited\n");
      put("odd/another\nline");
    },
    "names that are no UTF-8": () => {
      const name = Buffer.from(`${root}/b\xe9te`, "latin1");
      writeFileSync(name, "x");
      mkdirSync(Buffer.from(`${root}/d\xe9r`, "latin1"));
      writeFileSync(Buffer.from(`${root}/d\xe9r/tracked`, "latin1"), "x");
      git("add", "-A");
      writeFileSync(name, "yy");
      writeFileSync(Buffer.from(`${root}/d\xe9r/untracked`, "latin1"), "x");
    },
    "a long name": () => {
      put(`${"long/".repeat(40)}${"n".repeat(250)}`);
      for (let i = 0; i < 20; i++) put(`${"d".repeat(200)}/${"e".repeat(200)}/${"f".repeat(200)}/${i}`);
      put(`${`${"g".repeat(240)}/`.repeat(15)}end`);
      git("add", "-A");
      put("src/a.ts", "x");
    },
    "announced with add -N": () => {
      put("src/soon.ts");
      put("src/gone.ts");
      git("add", "-N", "src/soon.ts", "src/gone.ts");
      rmSync(join(root, "src/gone.ts"));
    },
    "removed from the index only": () => {
      git("rm", "-q", "--cached", "src/a.ts", "run.sh");
    },
    "tracked although ignored": () => {
      put("forced.log");
      put("plain.log");
      git("add", "-f", "forced.log");
      put("forced.log", "edited\n");
    },
    "a merge in conflict": () => {
      git("checkout", "-qb", "other");
      put("src/a.ts", "theirs\n");
      put("src.txt", "theirs\n");
      git("commit", "-qam", "theirs");
      git("checkout", "-q", "-");
      put("src/a.ts", "ours\n");
      git("rm", "-q", "src.txt");
      git("commit", "-qam", "ours");
      expect(() => git("merge", "-q", "other")).toThrow();
      rmSync(join(root, "src.txt"), { force: true });
    },
    "a merge in conflict, of a file and a folder": () => {
      git("checkout", "-qb", "other");
      git("rm", "-q", "src.txt");
      put("src.txt/inside");
      git("add", "-A");
      git("commit", "-qm", "theirs");
      git("checkout", "-q", "-");
      put("src.txt", "ours\n");
      git("commit", "-qam", "ours");
      expect(() => git("merge", "-q", "other")).toThrow();
    },
    "CRLF that git normalises": () => {
      put(".gitattributes", "*.txt text=auto\n*.bat text eol=crlf\n");
      put("new.txt", "a\r\nb\r\n");
      put("x.bat", "a\r\nb\r\n");
    },
    "CRLF that git keeps, since it was committed so": () => {
      put("old.txt", "a\r\nb\r\n");
      git("add", "-A");
      git("commit", "-qm", "crlf");
      put(".gitattributes", "* text=auto\n");
      put("old.txt", "a\r\nb\r\nc\r\n");
    },
    "core.autocrlf": () => {
      git("config", "core.autocrlf", "true");
      put("src/a.ts", "a\r\nb\r\n");
      put("new.ts", "a\r\nb\r\n");
    },
    "core.fileMode off": () => {
      git("config", "core.fileMode", "false");
      chmodSync(join(root, "run.sh"), 0o755);
      put("new.sh");
      chmodSync(join(root, "new.sh"), 0o755);
      put("src/a.ts", "x");
      chmodSync(join(root, "src/a.ts"), 0o755);
    },
    "a sparse checkout": () => {
      git("sparse-checkout", "set", "--cone", "src/deep");
      expect(existsSync(join(root, "src/deep/b.ts"))).toBe(true);
      put("src/deep/b.ts", "edited\n");
    },
    "a sparse checkout with a sparse index": () => {
      git("sparse-checkout", "set", "--cone", "--sparse-index", "src/deep");
      expect(existsSync(join(root, "src/deep/b.ts"))).toBe(true);
      put("src/deep/b.ts", "edited\n");
    },
    "an index of version 4": () => {
      git("update-index", "--index-version", "4");
      put("src/a.ts", "edited\n");
      put("src/aa.ts");
      git("add", "-A");
      put("src/aa.ts", "x");
    },
    "a split index": () => {
      git("update-index", "--split-index");
      put("src/a.ts", "edited\n");
      git("add", "-A");
      put("src/aa.ts");
    },
    "a working tree named elsewhere does not count": () => {
      mkdirSync(join(place, "elsewhere"));
    },
  };
  for (const [name, change] of Object.entries(STATES)) {
    test(name, () => {
      repository();
      change();
      const expected = committed();
      git("config", "core.safecrlf", "true");
      if (name.includes("elsewhere")) git("config", "core.worktree", join(place, "elsewhere"));
      const own = git("rev-parse", "--absolute-git-dir");
      const before = everything(own);
      expect(hash()).toBe(expected);
      expect(hash(join(place, "kept"))).toBe(expected);
      expect(everything(own)).toEqual(before);
      expect(changesSince(root, hash(join(place, "kept")), expected, join(place, "kept"), () => true)).toEqual({
        ok: true,
        value: [],
      });
    });
  }

  test("with no commit, with nothing added, with nothing at all", () => {
    git("init", "-q", "--template=");
    expect(hash()).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    put("a/b");
    expect(hash()).toBe(committed());
    git("add", "-A");
    put("a/c");
    expect(hash()).toBe(committed());
  });

  test("with names of 64 digits", () => {
    repository("--object-format=sha256");
    put("src/a.ts", "x");
    put("new/b.ts");
    expect(hash()).toBe(committed());
    expect(hash()).toHaveLength(64);
  });

  test("in a worktree, whose index is elsewhere", () => {
    repository();
    git("worktree", "add", "-q", join(place, "tree"));
    const tree = join(place, "tree");
    put("src/a.ts", "only here\n", tree);
    put("new.ts", "x", tree);
    expect(hash(null, tree)).toBe(committed(tree));
    expect(hash(null, tree)).not.toBe(hash());
  });

  test("of a folder in a larger repository: that folder only", () => {
    repository();
    put("src/deep/b.ts", "x");
    put("src/untracked.ts");
    const all = committed();
    const below = hash(null, join(root, "src"));
    expect(below).toBe(run(root, ["git", "rev-parse", `${all}:src`], reference()));
    put("outside.ts");
    put("src.txt", "outside, too\n");
    expect(hash(null, join(root, "src"))).toBe(below);
    mkdirSync(join(root, "empty"));
    expect(hash(null, join(root, "empty"))).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
  });

  test("of a folder in a repository with a conflict elsewhere", () => {
    repository();
    const before = hash(null, join(root, "src"));
    git("checkout", "-qb", "other");
    put("src.txt", "theirs\n");
    git("commit", "-qam", "theirs");
    git("checkout", "-q", "-");
    put("src.txt", "ours\n");
    git("commit", "-qam", "ours");
    expect(() => git("merge", "-q", "other")).toThrow();
    expect(hash(null, join(root, "src"))).toBe(before);
  });

  test("of a folder its repository ignores: read without git", () => {
    repository();
    put("build/x");
    const before = hash(null, join(root, "build"));
    expect(before).toHaveLength(64);
    put("build/x", "y");
    expect(hash(null, join(root, "build"))).not.toBe(before);
  });
});
