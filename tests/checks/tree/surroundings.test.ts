/** What makes an old answer stale although the tree is the same, and what does not. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { hashSurroundings } from "../../../src/checks/tree/surroundings.ts";
import { freshProjects, git, hash, put, repository, root, run } from "./tree-place.ts";

freshProjects();

const IGNORED =
  ".env*\nconftest.py\n*.local.test.js\nprivate/\nnode_modules/\nvendor/\n.venv/\n__pycache__/\ncoverage/\ndist/\n.yarn/\ndata/\n*.cache\n";

function project(): void {
  repository();
  put(".gitignore", IGNORED);
  git("add", "-A");
  git("commit", "-qm", "more");
  put(".env", "A=1\n");
  put("conftest.py", "import pytest\n");
  put("a.local.test.js");
  put("private/tests/a.py");
  put("node_modules/.package-lock.json", '{"packages":{}}');
  put("node_modules/left-pad/index.js");
  put(".venv/lib/python3.11/site-packages/requests-2.dist-info/RECORD", "a\n");
  put(".venv/lib/python3.11/site-packages/editable.pth", "/src\n");
}

function around(at = root): string {
  const fact = hashSurroundings(at);
  if (!fact.ok) throw new Error(fact.why);
  return fact.value;
}

function compare(line: string): boolean {
  project();
  const [tree, before] = [hash(), around()];
  expect(around()).toBe(before);
  run(root, ["/bin/sh", "-ec", line]);
  expect(hash()).toBe(tree);
  return around() === before;
}

describe("stale", () => {
  test.each([
    ["an ignored conftest.py", "echo 'def pytest_collection_modifyitems(items): items[:] = []' >> conftest.py"],
    ["a new ignored conftest.py further down", "echo > src/conftest.py"],
    ["an ignored conftest.py that is gone", "rm conftest.py"],
    ["an ignored test", "echo > a.local.test.js"],
    ["an ignored folder of tests", "echo > private/tests/a.py"],
    [".env", "echo B=2 >> .env"],
    [".env.test further down", "echo B=2 > src/.env.test"],
    ["npm install", "echo '{}' > node_modules/.package-lock.json"],
    ["pnpm install", "echo x > node_modules/.modules.yaml"],
    ["yarn install", "mkdir .yarn; echo x > .yarn/install-state.gz"],
    ["composer install", "mkdir -p vendor/composer; echo '{}' > vendor/composer/installed.json"],
    ["pip install", "mkdir .venv/lib/python3.11/site-packages/evil-1.dist-info"],
    ["pip install of another version", "echo b >> .venv/lib/python3.11/site-packages/requests-2.dist-info/RECORD"],
    ["a .pth file", "echo 'import evil' > .venv/lib/python3.11/site-packages/editable.pth"],
    ["sitecustomize.py", "echo > .venv/lib/python3.11/site-packages/sitecustomize.py"],
  ])("%s", (_name, line) => {
    expect(compare(line)).toBe(false);
  });
});

describe("not stale", () => {
  test.each([
    ["nothing", ":"],
    [
      "caches",
      "mkdir __pycache__; echo > __pycache__/conftest.pyc; mkdir node_modules/.cache; echo > node_modules/.cache/x",
    ],
    ["pip's own caches", "mkdir .venv/lib/python3.11/site-packages/__pycache__"],
    ["coverage with a copy of the tests", "mkdir coverage; echo > coverage/a.test.js"],
    ["build output with tests in it", "mkdir -p dist/test; echo > dist/test/a.test.js"],
    ["data", "mkdir data; echo > data/rows.csv"],
    ["the same text again", "cp .env .env2; cat .env2 > .env; rm .env2; touch conftest.py"],
  ])("%s", (_name, line) => {
    expect(compare(line)).toBe(true);
  });
});

test("dependencies above a project that is a folder of a repository", () => {
  project();
  put("packages/a/index.js");
  const inner = join(root, "packages/a");
  const before = around(inner);
  put("node_modules/.package-lock.json", "{}");
  expect(around(inner)).not.toBe(before);
});

test("what cannot be read has no hash", () => {
  project();
  put(".git/index", "no index");
  expect(hashSurroundings(root).ok).toBe(false);
});
