/** What git reads and what never answers: the question ends with a word, and does not wait. */
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { gatherGit } from "../../../src/checks/git.ts";
import { hashSurroundings } from "../../../src/checks/tree/surroundings.ts";
import { changesSince } from "../../../src/checks/tree/tree.ts";
import { freshProjects, git, hash, place, repository, root, run, whyNot } from "./tree-place.ts";

freshProjects();

function fifo(path: string): void {
  rmSync(join(root, path), { force: true });
  run(root, ["mkfifo", join(root, path)]);
}

describe("a FIFO in the place of a file that git reads", () => {
  test.each([".git/index", ".git/HEAD", ".git/config", ".git/info/exclude", ".git/packed-refs", ".gitignore"])(
    "%s",
    (path) => {
      repository();
      run(root, ["mkdir", "-p", ".git/info"]);
      fifo(path);
      const why = `${join(root, path)} is not a regular file`;
      expect(whyNot()).toBe(why);
      expect(gatherGit(root)).toEqual({ ok: false, why });
      expect(hashSurroundings(root)).toEqual({ ok: false, why });
      expect(changesSince(root, "a", "b", null, () => false)).toEqual({ ok: false, why });
    },
    30_000,
  );

  test("by a link", () => {
    repository();
    run(root, ["mkfifo", join(place, "pipe")]);
    run(root, ["ln", "-sf", join(place, "pipe"), ".git/index"]);
    expect(whyNot()).toBe(`${join(root, ".git/index")} is not a regular file`);
  }, 30_000);

  test("by a setting: after a while", () => {
    repository();
    run(root, ["mkfifo", join(place, "pipe")]);
    git("config", "include.path", join(place, "pipe"));
    expect(gatherGit(root)).toEqual({ ok: false, why: "git did not answer in 10 s" });
  }, 60_000);
});

test("a FIFO in the work tree", () => {
  repository();
  const before = hash();
  fifo("src/pipe");
  expect(hash()).toBe(before);
  fifo("src/a.ts");
  expect(whyNot()).toContain("src/a.ts: unsupported file type");
}, 30_000);

test("an index in another place, by a link: git's own business", () => {
  repository();
  const before = hash();
  run(root, ["/bin/sh", "-ec", 'mv .git/index ../index; ln -s "$PWD/../index" .git/index']);
  expect(hash()).toBe(before);
});
