/** From nothing to a refused false "done" on the real client: one command, one question. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inWindow } from "../harness/terminal-window.ts";
import { ALLOWED, put } from "./gated.ts";
import { say, use } from "./model.ts";
import { PAWL } from "./project.ts";
import { openScenario, told } from "./scenario.ts";

setDefaultTimeout(120_000);

interface Case {
  files: Record<string, string>;
  file: string;
  right: string;
  wrong: string;
  runs: string;
  /** what has to be on the machine */
  tool?: string;
}

const PATH = "/usr/local/bin:/usr/bin:/bin";

const CASES: Record<string, Case> = {
  JavaScript: {
    files: {
      "package.json": '{"type":"module","scripts":{"test":"node --test"}}\n',
      "sum.js": "export const add = (a, b) => a + b;\n",
      "sum.test.js":
        'import assert from "node:assert";\nimport { test } from "node:test";\nimport { add } from "./sum.js";\ntest("adds", () => assert.equal(add(2, 1), 3));\n',
    },
    file: "sum.js",
    right: "a + b",
    wrong: "a - b",
    runs: "npm test",
  },
  Python: {
    files: {
      Makefile: "test:\n\tpython3 -m unittest\n",
      "sums.py": "def add(a, b):\n    return a + b\n",
      "test_sums.py":
        "import unittest\nfrom sums import add\n\n\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(2, 1), 3)\n",
    },
    file: "sums.py",
    right: "a + b",
    wrong: "a - b",
    runs: "make test",
    tool: "make",
  },
  Go: {
    files: {
      "go.mod": "module sums\n\ngo 1.18\n",
      "sums.go": "package sums\n\nfunc Add(a, b int) int { return a + b }\n",
      "sums_test.go":
        'package sums\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(2, 1) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    },
    file: "sums.go",
    right: "a + b",
    wrong: "a - b",
    runs: "go test ./...",
    tool: "go",
  },
  Rust: {
    files: {
      "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
      ".gitignore": "target\nCargo.lock\n",
      "src/lib.rs":
        "pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(2, 1), 3);\n    }\n}\n",
    },
    file: "src/lib.rs",
    right: "{ a + b }",
    wrong: "{ a - b }",
    runs: "cargo test",
    tool: "cargo",
  },
};

for (const [language, { files, file, right, wrong, runs, tool }] of Object.entries(CASES))
  test.skipIf(tool !== undefined && Bun.which(tool, { PATH }) === null)(
    `${language}: pawl init, yes, and a false "done" is refused`,
    async () => {
      const read = use("Read", { file_path: file });
      const change = (from: string, to: string) => use("Edit", { file_path: file, old_string: from, new_string: to });
      const turns = [
        read,
        change(right, wrong),
        say("Done! All tests pass."),
        change(wrong, right),
        say("Fixed, done."),
      ];
      await using scene = await openScenario({ turns }, { bare: true });
      const { project } = scene;
      for (const [path, text] of Object.entries(files)) put(project, path, text);
      await project.git("add", "--all");
      await project.git("commit", "-q", "-m", "A suite");

      const window = { cmd: [PAWL, "init"], cwd: project.root, env: { HOME: project.home, PATH } };
      const { code, screen } = await inWindow({ ...window, answers: ["y", ""] });
      expect({ code, screen }).toEqual({ code: 0, screen: expect.stringContaining(`${runs}: 1 test passed`) });
      expect(readFileSync(join(project.root, "pawl.yaml"), "utf8")).toContain("guard: send-back");

      const done = await scene.print("Make it faster", scene.model, ALLOWED);
      const requests = scene.model.main();
      expect(requests).toHaveLength(turns.length);
      expect(requests[3]!.text).toContain(`Not done: ${runs}: 1 of 1 test failed`);
      expect(told(done.hookOutputs).at(-1)).toContain(`Pawl: ${runs}: 1 test passed`);
    },
  );
