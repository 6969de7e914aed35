import { expect, test } from "bun:test";
import { PYTHON } from "../toolchains.ts";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const ALL = `
import os, subprocess, sys, unittest, pytest
def test_ok(): pass
def test_bad(): assert 0
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.parametrize("a", [1, "a::b"])
def test_values(a): pass
class TestOuter:
    class TestInner:
        def test_deep(self): pass
@pytest.fixture
def broken_end():
    yield
    raise Exception("teardown")
def test_teardown(broken_end): pass
class TestCase(unittest.TestCase):
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
def test_nested(tmp_path):
    (tmp_path / "test_in.py").write_text("def test_inner(): assert 0")
    assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)], stdout=subprocess.DEVNULL).returncode == 1
    assert "PAWL_REPORT_DIR" not in os.environ and "PYTHONPATH" not in os.environ
`;
const NAMES = {
  "test_a.py > test_ok": "passed",
  "test_a.py > test_bad": "failed",
  "test_a.py > test_skip": "skipped",
  "test_a.py > test_xfail": "skipped",
  "test_a.py > test_xpass": "passed",
  "test_a.py > test_values[1]": "passed",
  "test_a.py > test_values[a::b]": "passed",
  "test_a.py > TestOuter > TestInner > test_deep": "passed",
  "test_a.py > test_teardown": "failed",
  "test_a.py > TestCase > test_parts": "failed",
  "test_a.py > test_nested": "passed",
} as const;
const PYTEST = `${PYTHON} -m pytest -q -p no:cacheprovider`;

withToolchain(PYTHON, "python3-pytest", () => {
  test("all kinds of tests", () => {
    expectReport(projectWith({ "test_a.py": ALL }), PYTEST, { exit: 1, tests: { ...NAMES } });
  });

  test("an exit in a test leaves no end", () => {
    const project = projectWith({ "test_a.py": "import os\ndef test_1(): pass\ndef test_2(): os._exit(0)\n" });
    expectReport(project, PYTEST, { exit: 0, tests: { "test_a.py > test_1": "passed" }, ended: 0 });
  });

  test("pytest.exit with 0: fewer reported than collected, and what was left out does not fill the gap", () => {
    const text = "import pytest\ndef test_1(): pass\ndef test_2(): pytest.exit('x', 0)\ndef test_3(): pass\n";
    const tests = { "test_a.py > test_1": "passed", "test_a.py > test_3": "skipped" } as const;
    const line = `${PYTEST} -k 'not test_3'`;
    expectReport(projectWith({ "test_a.py": text }), line, { exit: 0, tests, incomplete: "2 of 3 tests reported" });
  });

  test("a PYTHONPATH of the command's own: no names, and nothing breaks", () => {
    const project = projectWith({
      "src/lib.py": "x = 1\n",
      "test_a.py": "import lib\ndef test_1(): assert lib.x == 1\n",
    });
    const { exit, named } = project.run(`env PYTHONPATH=src ${PYTEST}`);
    expect([exit, named]).toEqual([0, null]);
  });

  test("a sitecustomize that ours hides still runs", () => {
    const project = projectWith({
      "site/sitecustomize.py": "import builtins\nbuiltins.was_here = 1\n",
      "test_a.py": "def test_1(): assert was_here == 1\n",
    });
    const { exit, named } = project.run(`env PYTHONPATH="$PYTHONPATH:$PWD/site" ${PYTEST}`);
    expect([exit, named?.tests]).toEqual([0, { "test_a.py > test_1": "passed" }]);
  });

  /** `x.py` is right, its compiled file is of a wrong one of the same size and time: Python would take it. */
  const FORGED = `import os, py_compile
open("x.py", "w").write("y = 2\\n")
os.utime("x.py", (1, 1))
py_compile.compile("x.py")
open("x.py", "w").write("y = 1\\n")
os.utime("x.py", (1, 1))
`;

  test("a compiled file in the project does not count, also without our sitecustomize", () => {
    const project = projectWith({ "forge.py": FORGED, "test_a.py": "import x\ndef test_1(): assert x.y == 2\n" });
    expect(project.plain(`${PYTHON} forge.py && ${PYTEST}`).exit).toBe(0);
    expect(project.run(PYTEST).exit).toBe(1);
    expect(project.run(`PYTHONPATH=. ${PYTEST}`).exit).toBe(1);
  });

  test("neither does one that a link in the library leads to", () => {
    const project = projectWith({ "src/forge.py": FORGED, "main.py": "from linked import x\nprint(x.y)\n" });
    const linked = `site=$(${PYTHON} -m site --user-site); mkdir -p $site; ln -s $PWD/src $site/linked`;
    expect(project.plain(`cd src && ${PYTHON} forge.py && cd .. && ${linked}; ${PYTHON} main.py`).output).toBe("2\n");
    expect(project.run(`${PYTHON} main.py`).output).toBe("1\n");
  });

  test("the library's compiled files are used where they are", () => {
    const text =
      "import json, os, x\nprint(os.path.dirname(json.__cached__) == os.path.dirname(json.__file__) + '/__pycache__')\n";
    const project = projectWith({ "x.py": "", "main.py": `${text}print(x.__cached__.startswith(os.getcwd()))\n` });
    expect(project.run(`${PYTHON} main.py`).output).toBe("True\nFalse\n");
    expect(project.run(`${PYTHON} -O main.py`).output).toBe("True\nFalse\n");
  });

  test("two packages below make", () => {
    const project = projectWith({
      Makefile: `test:\n\tcd a && ${PYTEST}\n\tcd b && ${PYTEST}\n`,
      "a/test_x.py": "def test_1(): pass\n",
      "b/test_x.py": "def test_1(): pass\n",
    });
    const tests = { "a/test_x.py > test_1": "passed", "b/test_x.py > test_1": "passed" } as const;
    expectReport(project, "make -s test", { exit: 0, tests, runners: 2 });
  });
});

withToolchain("tox", "tox", () => {
  test("tox 3 passes our variables on", () => {
    const project = projectWith({
      "tox.ini": "[tox]\nskipsdist=true\nenvlist=py3\n[testenv]\nsitepackages=true\ncommands=python -m pytest -q\n",
      "test_a.py": "def test_1(): pass\n",
    });
    const { exit, named } = project.run("/usr/bin/tox");
    expect([exit, named?.tests]).toEqual([0, { "test_a.py > test_1": "passed" }]);
  });
});

withToolchain("python3", "python3", () => {
  const HEAD = "import unittest, os\nclass A(unittest.TestCase):\n    def test_1(self): pass\n";
  const RUN = "python3 -m unittest -q";

  test("unittest: results, a class that is skipped, a runner inside a test", () => {
    const text = `${HEAD}    def test_bad(self): self.fail()
    @unittest.skip("x")
    def test_skip(self): pass
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_inner(self):
        class B(unittest.TestCase):
            def test_in(self): self.fail()
        unittest.TextTestRunner(stream=open(os.devnull, "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(B))
class S(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("no")
    def test_never(self): pass
`;
    const tests = {
      "test_u.py > test_u.A.test_1": "passed",
      "test_u.py > test_u.A.test_bad": "failed",
      "test_u.py > test_u.A.test_skip": "skipped",
      "test_u.py > test_u.A.test_parts": "failed",
      "test_u.py > test_u.A.test_inner": "passed",
      "test_u.py > test_u.S.test_never": "skipped",
      ". > setUpClass (test_u.S)": "skipped",
    } as const;
    expectReport(projectWith({ "test_u.py": text }), RUN, { exit: 1, tests });
  });

  test("unittest: an exit leaves no end, a stop leaves a gap", () => {
    const first = { "test_u.py > test_u.A.test_1": "passed" } as const;
    const more = (body: string) => `${HEAD}    def test_2(self): ${body}\n    def test_3(self): pass\n`;
    expectReport(projectWith({ "test_u.py": more("os._exit(0)") }), RUN, { exit: 0, tests: first, ended: 0 });
    const tests = { ...first, "test_u.py > test_u.A.test_2": "passed" } as const;
    const stopped = projectWith({ "test_u.py": more("self._outcome.result.stop()") });
    expectReport(stopped, RUN, { exit: 0, tests, incomplete: "2 of 3 tests reported" });
  });
});
