/** `pawl verify --prove`: a gate that cannot fail is found out, and the project is as it was. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesLookedAt } from "../../src/verify/faults.ts";
import { numbersIn } from "../checks/jobs/job-place.ts";
import { type Place, removePlaces } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { fingerprint, ground, put, SUITE, scratches, sh, trust, until, verify, verifying } from "./ground.ts";

afterAll(removePlaces, 60_000);

const gates = (lines: string) => ({ "pawl.yaml": `gates:\n${lines.replace(/^/gm, "  ")}\n` });

const WORKFLOW = "name: w\nsignals: promise\nstages:\n  - id: a\n    say: Go.\n    on: { DONE: { end: completed } }\n";

/** What it says; and nothing of the project, ignored or not, is different afterwards. */
function prove(place: Place, ...names: string[]) {
  const before = fingerprint(place);
  const ran = runInProcess(place, ["verify", "--prove", ...names]);
  expect(fingerprint(place)).toBe(before);
  expect(scratches(place)).toEqual([]);
  return ran;
}

describe("suites get a failing test", () => {
  test.each<[string, Record<string, string>, string, string]>([
    ["node:test", SUITE, "[node, --test]", "a failing test (test/pawl-planted-fault.test.js)"],
    ["by npm", SUITE, "[npm, test]", "a failing test (test/pawl-planted-fault.test.js)"],
    [
      "node:test with require",
      { "a.test.cjs": 'const test = require("node:test");\ntest("x", () => {});\n' },
      "[node, --test]",
      "a failing test (pawl-planted-fault.test.cjs)",
    ],
    [
      "bun",
      { "src/a.spec.ts": 'import { expect, test } from "bun:test";\ntest("x", () => expect(1 as number).toBe(1));\n' },
      `[${process.execPath}, test]`,
      "a failing test (src/pawl-planted-fault.spec.ts)",
    ],
    [
      "unittest",
      { "test_a.py": "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_x(self):\n        pass\n" },
      "[python3, -m, unittest]",
      "a failing test (test_pawl_planted_fault.py)",
    ],
  ])(
    "%s",
    (_, files, command, fault) => {
      const place = ground({ ...files, ".gitignore": "__pycache__\n", ...gates(`unit: { tests: ${command} }`) });
      const { code, out } = prove(place);
      expect(out).toBe(`✓ unit: proved: fails on ${fault}\n`);
      expect(code).toBe(0);
    },
    60_000,
  );

  test.each<[string, string, Record<string, string>, string]>([
    [
      "node:assert",
      "[node, --test]",
      { "add.js": `import assert from "node:assert";\nassert.equal = () => {};\n${SUITE["add.js"]}` },
      "equal",
    ],
    [
      "an assertion that no test there uses",
      "[node, --test]",
      { "add.js": `import assert from "node:assert";\nassert.deepStrictEqual = () => {};\n${SUITE["add.js"]}` },
      "deepStrictEqual",
    ],
  ])(
    "code that switches off %s is found out",
    (_, command, files, how) => {
      const { out, code } = prove(ground({ ...SUITE, ...files, ...gates(`unit: { tests: ${command} }`) }));
      expect(out).toBe(
        `✗ unit: CANNOT FAIL: a failing test (test/pawl-planted-fault.test.js) came back as passed (test/pawl-planted-fault.test.js > pawl planted fault (${how})); something changes the assertions or the runner\n`,
      );
      expect(code).toBe(1);
    },
    60_000,
  );

  test("a suite that names its files gets one in there, and it is told", () => {
    const { out, code } = prove(ground({ ...SUITE, ...gates("unit: { tests: [node, --test, test/add.test.js] }") }));
    expect(out).toBe(
      "✓ unit: proved: fails on a failing test in test/add.test.js (but takes no notice of a failing test (test/pawl-planted-fault.test.js))\n",
    );
    expect(code).toBe(0);
  }, 60_000);

  test("untracked files and changes that are not committed are in the copy; ignored ones, too", () => {
    const place = ground({
      ...SUITE,
      ".gitignore": "node_modules\nsecret.js\n",
      ...gates("unit: { tests: [node, --test] }"),
    });
    put(place, {
      "node_modules/dep/index.js": "module.exports = 1;\n",
      "node_modules/dep/package.json": '{"name":"dep","main":"index.js"}',
      "secret.js": "export const secret = 1;\n",
      "add.js":
        'import one from "dep";\nimport { secret } from "./secret.js";\nimport { more } from "./more.js";\nexport const add = (a, b) => a + b + one - secret + more;\n',
      "more.js": "export const more = 0;\n",
    });
    expect(prove(place)).toMatchObject({ code: 0, out: expect.stringMatching(/^✓ unit: proved/) });
  }, 60_000);
});

describe("other commands get a syntax error", () => {
  test("in the file that was changed last", () => {
    const place = ground({
      ...SUITE,
      "old.js": "1;\n",
      ...gates('lint: { shell: "for f in *.js; do node --check $f || exit 1; done" }'),
    });
    sh(place, "echo '2;' > fresh.js && git add . && git commit -q -m fresh");
    expect(prove(place)).toMatchObject({ code: 0, out: "✓ lint: proved: fails on a syntax error in fresh.js\n" });
  }, 60_000);

  test.each(["[grep, -rq, one, .]", "[grep, -rqs, one, ., .claude]"])(
    "%s: neither in a file of Pawl nor in the client's settings",
    (command) => {
      const own = { ".claude/settings.json": '{ "one": 1 }\n', ".pawl/workflows/w.yaml": "", "one.json": "{}\n" };
      const { out } = prove(
        ground({ ...own, ".pawl/workflows/w.yaml": WORKFLOW, ...gates(`look: { run: ${command} }`) }),
      );
      expect(out).toContain("a syntax error in one.json");
      expect(out).not.toMatch(/error in \.(claude|pawl)|error in pawl/);
    },
    60_000,
  );

  test("in a file that it is about", () => {
    const about = gates(
      'lint: { run: [node, --check, src/a.js], when_changed: ["src/**"] }\nall: { run: ["true"], when_changed: ["src/**"] }',
    );
    const { out } = prove(ground({ ...SUITE, "src/a.js": "1;\n", ...about }));
    expect(out).toContain("✓ lint: proved: fails on a syntax error in src/a.js\n");
    expect(out).toEndWith(
      "all: CANNOT FAIL: passes although there is a syntax error in src/a.js; if it looks for something else, name a patch with `fault`\n",
    );
  }, 60_000);

  test("a command that passes whatever happens is found out", () => {
    const { code, out } = prove(
      ground({ ...SUITE, ...gates('nothing: { run: ["true"] }\ngood: { run: [node, --test] }') }),
    );
    expect(out).toMatch(
      /^✗ nothing: CANNOT FAIL: passes although there is a syntax error in add\.js, and a failing test/,
    );
    expect(out).toMatch(/\n✓ good: proved: fails on a syntax error in add\.js\n$/);
    expect(code).toBe(1);
  }, 60_000);

  test("a file that it is told to look at may be broken", () => {
    const place = ground({ ...SUITE, ...gates("look: { run: [node, --check, add.js] }") });
    expect(prove(place)).toMatchObject({ code: 0, out: "✓ look: proved: fails on a syntax error in add.js\n" });
  }, 60_000);

  test("its own script is not broken for it: that would prove nothing", () => {
    const place = ground({ "check.sh": "#!/bin/sh\nexit 0\n", ...gates("check: { run: [sh, check.sh] }") });
    const { out } = prove(place);
    expect(out).toContain("CANNOT FAIL");
    expect(out).not.toContain("syntax error in check.sh");
  }, 60_000);
});

test.each<[string, string[]]>([
  ["sh check.sh", []],
  ["sh -x check.sh a.js", ["a.js"]],
  ["node build.mjs src", ["src"]],
  ["node --check a.js", ["--check", "a.js"]],
  ["node --test test/", ["--test", "test"]],
  ["php -l ./a.php", ["-l", "a.php"]],
  ["bun test src", ["test", "src"]],
  ["eslint src lib", ["src", "lib"]],
  ["sh -c 'node --check a.js'", ["--check", "a.js"]],
  ["./check.sh a", ["a"]],
])("what %s is told to look at", (line, files) => {
  expect([...filesLookedAt({ name: "x", id: "x", shell: line })]).toEqual(files);
});

describe("a patch of its own", () => {
  const patch = (line: string) =>
    `--- a/add.js\n+++ b/add.js\n@@ -1 +1,2 @@\n export const add = (a, b) => a + b;\n+${line}\n`;
  const todo = { ...SUITE, ...gates('todo: { shell: "! grep FIXME *.js", fault: faults/todo.patch }') };

  test("is what it has to fail on", () => {
    const place = ground({ ...todo, "faults/todo.patch": patch("// FIXME") });
    expect(prove(place)).toMatchObject({ code: 0, out: "✓ todo: proved: fails on the patch faults/todo.patch\n" });
  });

  test("and if it does not, nothing else counts", () => {
    const place = ground({ ...todo, "faults/todo.patch": patch("// nothing") });
    expect(prove(place)).toMatchObject({
      code: 1,
      out: "✗ todo: CANNOT FAIL: passes although there is the patch faults/todo.patch\n",
    });
  });

  test.each([
    ["that is not there", {}, "there is no patch faults/todo.patch"],
    ["that does not apply", { "faults/todo.patch": patch("x").replace("export", "import") }, "does not apply"],
    [
      "that would write elsewhere",
      { "faults/todo.patch": patch("x").replaceAll("add.js", "../../evil.js") },
      "does not apply",
    ],
  ])("%s", (_, files, words) => {
    const { code, out } = prove(ground({ ...todo, ...files }));
    expect(out).toContain("? todo: not proved: ");
    expect(out).toContain(words);
    expect(code).toBe(3);
  });

  test("that changes what the person approved is not run", () => {
    const evil = "--- a/check.sh\n+++ b/check.sh\n@@ -1 +1,2 @@\n+touch $HOME/evil\n exit 0\n";
    const place = ground({
      "check.sh": "exit 0\n",
      "evil.patch": evil,
      ...gates("check: { run: [sh, check.sh], fault: evil.patch }"),
    });
    const { code, out } = prove(place);
    expect(out).toContain("changes what the gate runs");
    expect(code).toBe(3);
    expect(existsSync(join(place.home, "evil"))).toBe(false);
  });

  test("is no part of what is checked: another one needs no new approval", () => {
    const place = ground({ ...todo, "faults/todo.patch": patch("// FIXME"), "other.patch": patch("// FIXME 2") });
    put(place, gates('todo: { shell: "! grep FIXME *.js", fault: other.patch }'));
    expect(prove(place).code).toBe(0);
  });
});

describe("not proved", () => {
  test("what nobody approved does not run, there neither", () => {
    const place = ground({ ...SUITE, ...gates('out: { shell: "touch $HOME/ran" }') }, { trust: false });
    expect(prove(place)).toMatchObject({ code: 3, out: expect.stringContaining("its commands are not approved yet") });
    expect(existsSync(join(place.home, "ran"))).toBe(false);
  });

  test("what fails anyway", () => {
    const { code, out } = prove(ground({ ...SUITE, ...gates('red: { shell: "echo because; exit 1" }') }));
    expect(out).toBe("? red: not proved: in the copy it does not pass even with nothing broken: exit 1\n    because\n");
    expect(code).toBe(3);
  });

  test("no gate with a command is wrong use", () => {
    expect(prove(ground(gates("tidy: { git: clean }"))).code).toBe(2);
  });
});

test("a command that writes into ignored folders writes into the copy", () => {
  const place = ground({
    ...SUITE,
    ".gitignore": "node_modules\ndist\n",
    ...gates(
      'build: { shell: "node --test && date +%N > dist/out && mkdir -p node_modules/.cache && date +%N > node_modules/.cache/x && date +%N > new.txt" }',
    ),
  });
  put(place, { "dist/out": "before\n", "node_modules/dep/index.js": "1\n" });
  expect(prove(place).code).toBe(0);
}, 60_000);

test("a project in a folder of its repository", () => {
  const place = ground({ "shared/lib.js": "export const one = 1;\n", "README.md": "x\n" });
  const files = {
    ...SUITE,
    "add.js": 'import { one } from "../shared/lib.js";\nexport const add = (a, b) => a + b * one;\n',
    ...gates("unit: { tests: [node, --test] }"),
  };
  put(place, Object.fromEntries(Object.entries(files).map(([path, text]) => [`app/${path}`, text])));
  sh(place, "git add . && git commit -q -m app");
  const app = { ...place, root: join(place.root, "app") };
  trust(app);
  expect(runInProcess(app, ["verify", "--prove"])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^✓ unit: proved/),
  });
}, 60_000);

describe("ended in the middle", () => {
  const slow = () => ground({ ...SUITE, ...gates('slow: { shell: "echo $$ > $HOME/pid; exec sleep 300" }') });
  const begun = (place: Place) => until("it runs in the copy", () => numbersIn(join(place.home, "pid")).length > 0);
  const isGone = (place: Place) =>
    sh(place, 'kill -0 "$(cat "$HOME/pid")" 2>/dev/null && echo there || echo gone') === "gone\n";

  test("by Ctrl-C: the command and the copy are gone", async () => {
    const place = slow();
    const before = fingerprint(place);
    const child = verifying(place, "--prove");
    await begun(place);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toContain("ended slow and everything it started");
    expect(scratches(place)).toEqual([]);
    await until("the command is gone", () => isGone(place));
    expect(fingerprint(place)).toBe(before);
  }, 60_000);

  test("by Ctrl-C while packages are copied: it is heard at once, and the copy is gone", async () => {
    const place = ground({ ...SUITE, ".gitignore": "node_modules\n", ...gates('late: { shell: "touch $HOME/ran" }') });
    sh(place, "mkdir node_modules && cd node_modules && seq 20000 | xargs mkdir && seq -f %g/a.js 20000 | xargs touch");
    const child = verifying(place, "--prove");
    const packages = (name: string) => join(place.base, "tmp", name, "project/node_modules");
    await until("packages are copied", () => scratches(place).some((name) => existsSync(packages(name))));
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(scratches(place)).toEqual([]);
    expect(existsSync(join(place.home, "ran"))).toBe(false);
  }, 60_000);

  test("by kill -9: the next start ends the command and removes the copy", async () => {
    const place = slow();
    const before = fingerprint(place);
    const child = verifying(place, "--prove");
    await begun(place);
    child.kill("SIGKILL");
    await child.exited;
    expect(scratches(place)).toHaveLength(1);
    expect(fingerprint(place)).toBe(before);
    put(place, gates('nothing: { run: ["true"] }'));
    trust(place);
    verify(place, "--prove");
    expect(scratches(place)).toEqual([]);
    await until("the command is gone", () => isGone(place));
  }, 60_000);

  test("a copy that someone else works in stays", async () => {
    const place = slow();
    const child = verifying(place, "--prove");
    await begun(place);
    const [copy] = scratches(place);
    const other = ground({ ...SUITE, ...gates('ok: { run: ["true"] }') });
    runInProcess({ ...other, env: { ...other.env, TMPDIR: place.env.TMPDIR! } }, ["verify", "--prove"]);
    expect(readdirSync(place.env.TMPDIR!)).toContain(copy!);
    child.kill("SIGINT");
    await child.exited;
  }, 60_000);
});
