/** What a process does to the tree while a check runs: swapped and swapped back is seen, caches and outputs are not. */
import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { watchTree } from "../../../src/checks/tree/moved.ts";
import { freshProjects, git, hash, place, put, repository, root, run } from "./tree-place.ts";

freshProjects();

function project(): void {
  repository();
  put(".gitignore", "*.log\nbuild/\n__pycache__/\n.pytest_cache/\ncoverage/\nconftest.py\nnotes.local\n");
  put("conftest.py", "import pytest\n");
  put("notes.local");
  put("tests/a.test.ts");
  git("add", "-A");
  git("commit", "-qm", "more");
  put("out.txt", "out\n");
  put("new/b.ts");
  put("tests/a.json");
  mkdirSync(join(root, "__pycache__"));
}

/** In the project, while a check runs. */
function movedBy(line: string): string[] {
  const before = hash();
  const listMoved = watchTree(root, before);
  run(root, ["/bin/sh", "-ec", line]);
  expect(hash()).toBe(before);
  return listMoved();
}

describe("swapped and swapped back", () => {
  const rows: [name: string, line: string, names: string[]][] = [
    ["in place", "cp src/a.ts ../old; echo good > src/a.ts; cat ../old > src/a.ts", ["src/a.ts"]],
    [
      "in place, with its old times",
      "cp -p src/a.ts ../old; echo good > src/a.ts; cat ../old > src/a.ts; touch -r ../old src/a.ts",
      ["src/a.ts"],
    ],
    ["by rename", "echo good > ../good; mv src/a.ts ../old; mv ../good src/a.ts; mv -f ../old src/a.ts", ["src/a.ts"]],
    ["a folder", "mv src ../old; cp -r ../old src; echo good > src/a.ts; rm -r src; mv ../old src", ["src"]],
    ["a folder further down", "mv src/deep ../old; mkdir src/deep; rmdir src/deep; mv ../old src/deep", ["src/deep"]],
    ["the project", 'p="$PWD"; mv "$p" ../old; mkdir "$p"; rmdir "$p"; mv ../old "$p"', ["."]],
    ["a folder above", 'b=$(dirname "$PWD"); mv "$b" "$b-old"; mv "$b-old" "$b"', [".."]],
    ["a test", "cp tests/a.test.ts ../old; : > tests/a.test.ts; cat ../old > tests/a.test.ts", ["tests/a.test.ts"]],
    ["settings that git ignores", "cp conftest.py ../old; : > conftest.py; cat ../old > conftest.py", ["conftest.py"]],
    ["code that git does not track", "cp new/b.ts ../old; : > new/b.ts; cat ../old > new/b.ts", ["new/b.ts"]],
    [
      "a fixture that git does not track",
      "cp tests/a.json ../old; : > tests/a.json; cat ../old > tests/a.json",
      ["tests/a.json"],
    ],
    ["a folder that git does not track", "mv new ../old; mkdir new; rmdir new; mv ../old new", ["new"]],
    ["a link", "rm link; ln -s run.sh link; rm link; ln -s src/a.ts link", ["link"]],
    ["a mode", "chmod 000 src/a.ts; chmod 644 src/a.ts", ["src/a.ts"]],
  ];
  test.each(rows)("%s", (_name, line, names) => {
    project();
    const places: Record<string, string> = { ".": root, "..": place };
    expect(movedBy(line)).toEqual(names.map((name) => places[name] ?? name));
  });

  test("without git", () => {
    put("src/a.py");
    expect(movedBy("cp src/a.py ../old; : > src/a.py; cat ../old > src/a.py")).toEqual(["src/a.py"]);
  });

  test("in a repository inside", () => {
    project();
    run(root, ["git", "init", "-q", "inner"]);
    put("inner/a.ts");
    expect(
      movedBy("cp -p inner/a.ts ../old; : > inner/a.ts; cat ../old > inner/a.ts; touch -r ../old inner/a.ts"),
    ).toEqual(["inner/a.ts"]);
  });
});

test("a new file with its old times put back", () => {
  project();
  expect(movedBy("cp -p out.txt ../old; echo good > out.txt; cat ../old > out.txt; touch -r ../old out.txt")).toEqual([
    "out.txt",
  ]);
});

describe("what checks and people do", () => {
  test.each([
    ["nothing", ":"],
    ["caches", "mkdir .pytest_cache; echo > .pytest_cache/x; echo > __pycache__/a.pyc; mkdir src/__pycache__"],
    ["coverage", "mkdir -p coverage; echo 1 > coverage/lcov.info; echo 2 > coverage/lcov.info"],
    [
      "a temporary file that comes and goes",
      "echo > src/x.tmp; rm src/x.tmp; echo > vitest.config.ts.mjs; rm vitest.config.ts.mjs",
    ],
    ["a build", "mkdir -p build; echo > build/a.js; rm -r build"],
    ["logs", "echo > run.log"],
    ["a report that it made before, written again", "echo out > out.txt"],
    ["an editor in an ignored file", "echo more > notes.local"],
    ["reading", "cat src/a.ts tests/a.test.ts > /dev/null; ls -R > /dev/null"],
    ["git", "git status > /dev/null; git add -A; git stash list"],
    ["Pawl's own files", "mkdir -p .pawl/jobs; echo > .pawl/jobs/x"],
  ])("%s: nothing moved", (_name, line) => {
    project();
    expect(movedBy(line)).toEqual([]);
  });
});

test("a tree that is another one before the command starts", () => {
  project();
  const before = hash();
  put("src/a.ts", "good\n");
  expect(watchTree(root, before)()).toEqual(["it changed before the command was started"]);
});

test("a tree that cannot be read is no tree that stayed", () => {
  project();
  const before = hash();
  put(".git/index", "no index");
  expect(watchTree(root, before)()).toEqual(["it could not be read at the beginning"]);
});
