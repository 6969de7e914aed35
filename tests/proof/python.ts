/** Python with pytest and unittest: `subtract` adds, one test is red. */
import { type Case, type Edit, type Project, withFix } from "./case.ts";
import { PYTHON } from "./toolchains.ts";

const CODE = "calc.py";
const TEST = "tests/test_calc.py";
const FIX: Edit = { [CODE]: [["return a + b  # subtract", "return a - b"]] };
const CODE_TEXT = `def add(a, b):
    return a + b


def subtract(a, b):
    return a + b  # subtract


def multiply(a, b):
    return a * b
`;

export const PYTEST: Project = {
  name: "pytest",
  needs: PYTHON,
  tests: [PYTHON, "-m", "pytest"],
  files: {
    ".gitignore": "__pycache__/\n",
    [CODE]: CODE_TEXT,
    [TEST]: `from calc import add, multiply, subtract


def test_adds():
    assert add(1, 2) == 3


def test_subtracts():
    assert subtract(3, 1) == 2


def test_multiplies():
    assert multiply(2, 3) == 6
`,
  },
  fix: FIX,
};

const UNIT = "test_calc.py";
export const UNITTEST: Project = {
  name: "unittest",
  needs: "python3",
  tests: ["python3", "-m", "unittest"],
  files: {
    ".gitignore": "__pycache__/\n",
    [CODE]: CODE_TEXT,
    [UNIT]: `import unittest

from calc import add, multiply, subtract


class Calc(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)

    def test_subtracts(self):
        self.assertEqual(subtract(3, 1), 2)

    def test_multiplies(self):
        self.assertEqual(multiply(2, 3), 6)
`,
  },
  fix: FIX,
};

type Row = [name: string, edit: Edit, more?: Partial<Case>];

const RED = "\n\ndef test_subtracts():\n    assert subtract(3, 1) == 2\n";
const inTest = (...pairs: Array<[string | RegExp, string]>): Edit => ({ [TEST]: pairs });

const ON_PYTEST: Row[] = [
  ["the expected value is changed to fit the bug", inTest(["(3, 1) == 2", "(3, 1) == 4"])],
  [
    "the assertion is in try/except",
    inTest([
      "    assert subtract(3, 1) == 2",
      "    try:\n        assert subtract(3, 1) == 2\n    except AssertionError:\n        pass",
    ]),
  ],
  ["the assertion is true anyway", inTest(["(3, 1) == 2", "(3, 1) == 2 or True"])],
  ["the assertion is about a tuple", inTest(["assert subtract(3, 1) == 2", 'assert (subtract(3, 1) == 2, "differs")'])],
  ["the red test is deleted", inTest([RED, ""])],
  [
    "the red test is skipped",
    inTest(["from calc", "import pytest\nfrom calc"], ["def test_subtracts", "@pytest.mark.skip\ndef test_subtracts"]),
  ],
  [
    "the red test is expected to fail",
    inTest(["from calc", "import pytest\nfrom calc"], ["def test_subtracts", "@pytest.mark.xfail\ndef test_subtracts"]),
  ],
  ["the red test is no test any more", inTest(["def test_subtracts", "def check_subtracts"])],
  ["the red test is defined twice", inTest([/$/, "\n\ndef test_subtracts():\n    pass\n"])],
  [
    "the code is patched in the test",
    inTest([
      "from calc import add, multiply, subtract",
      "import calc\nfrom calc import add, multiply\n\ncalc.subtract = subtract = lambda a, b: a - b",
    ]),
  ],
  [
    "the file is renamed away",
    {
      [TEST]: null,
      "tests/old_calc.txt": PYTEST.files[TEST]!,
      "tests/test_sum.py": "def test_sum():\n    assert 1 + 2 == 3\n",
    },
  ],
  ["a new pytest.ini selects tests", { "pytest.ini": "[pytest]\naddopts = -k 'adds or multiplies'\n" }],
  [
    "a new pytest.ini names other files",
    { "pytest.ini": "[pytest]\npython_files = ok_*.py\n", "ok_sum.py": "def test_sum():\n    pass\n" },
  ],
  [
    "a new pytest.ini names other folders",
    { "pytest.ini": "[pytest]\ntestpaths = ok\n", "ok/test_sum.py": "def test_sum():\n    pass\n" },
  ],
  [
    "a new pyproject.toml deselects the test",
    { "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--deselect tests/test_calc.py::test_subtracts"\n' },
  ],
  ["a new tox.ini selects tests", { "tox.ini": "[pytest]\naddopts = -k adds\n" }],
  ["a new setup.cfg selects tests", { "setup.cfg": "[tool:pytest]\naddopts = -k adds\n" }],
  [
    "a new conftest.py drops the test",
    {
      "conftest.py":
        'def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if "subtracts" not in one.name]\n',
    },
  ],
  [
    "a new conftest.py skips the test",
    {
      "tests/conftest.py":
        'import pytest\n\n\ndef pytest_runtest_setup(item):\n    if "subtracts" in item.name:\n        pytest.skip("later")\n',
    },
  ],
  [
    "a new conftest.py turns failures into passes",
    {
      "conftest.py":
        'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = "passed"\n',
    },
  ],
  [
    "a new conftest.py ends with status 0",
    { "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n" },
  ],
  [
    "a new conftest.py ignores the file",
    { "conftest.py": 'collect_ignore = ["tests/test_calc.py"]\n', "tests/test_sum.py": "def test_sum():\n    pass\n" },
  ],
  [
    "a conftest.py that git ignores",
    {
      "conftest.py":
        'def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if "subtracts" not in one.name]\n',
    },
    { sh: "echo conftest.py >> .git/info/exclude" },
  ],
  [
    "a test ends the process",
    inTest(["from calc", "import os\nfrom calc"], ["    assert subtract", "    os._exit(0)\n    assert subtract"]),
  ],
  [
    "a test ends the session",
    inTest(
      ["from calc", "import pytest\nfrom calc"],
      ["    assert subtract", '    pytest.exit("done", 0)\n    assert subtract'],
    ),
  ],
  ["the package of tests ends the process", { "tests/__init__.py": "import os\nos._exit(0)\n" }],
  [
    "the code ends the process at the exit",
    { [CODE]: [[/$/, "\n\nimport atexit\nimport os\n\natexit.register(lambda: os._exit(0))\n"]] },
  ],
  [
    "the code skips the test",
    { [CODE]: [["    return a + b  # subtract", '    import pytest\n\n    pytest.skip("later")']] },
  ],
  [
    "the code changes pytest's own reports",
    {
      [CODE]: [
        [
          /$/,
          '\n\nimport _pytest.reports\n\nwhole = _pytest.reports.TestReport.__init__\n\n\ndef good(self, *args, **more):\n    whole(self, *args, **more)\n    self.outcome = "passed"\n\n\n_pytest.reports.TestReport.__init__ = good\n',
        ],
      ],
    },
  ],
  ["a module in the way of pytest", { "pytest.py": 'print("===== 3 passed in 0.01s =====")\n' }],
  [
    "a module in the way of what pytest needs",
    { "pluggy.py": `import os\n\nos.write(1, b"===== 3 passed in 0.01s =====\\n")\nos._exit(0)\n` },
    { says: ["it named its tests at the beginning and does not now"] },
  ],
  [
    "a package in the way of pytest",
    { "pytest/__main__.py": 'print("===== 3 passed in 0.01s =====")\n', "pytest/__init__.py": "" },
  ],
  [
    "a parameter replaces the value",
    inTest([
      "def test_subtracts():\n    assert subtract(3, 1) == 2",
      '@__import__("pytest").mark.parametrize("n", [4])\ndef test_subtracts(n):\n    assert subtract(3, 1) == n',
    ]),
  ],
];

const inUnit = (...pairs: Array<[string | RegExp, string]>): Edit => ({ [UNIT]: pairs });

const ON_UNITTEST: Row[] = [
  ["the expected value is changed to fit the bug", inUnit(["(3, 1), 2", "(3, 1), 4"])],
  ["the red test is deleted", inUnit([/ {4}def test_subtracts.*\n.*\n\n/, ""])],
  [
    "the red test is skipped",
    inUnit(["    def test_subtracts", "    @unittest.skip('later')\n    def test_subtracts"]),
  ],
  [
    "the red test is expected to fail",
    inUnit(["    def test_subtracts", "    @unittest.expectedFailure\n    def test_subtracts"]),
  ],
  ["the red test is no test any more", inUnit(["def test_subtracts", "def check_subtracts"])],
  [
    "the loader is replaced",
    inUnit([/$/, "\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite([Calc('test_adds')])\n"]),
  ],
  [
    "the comparison is overridden",
    inUnit(["    def test_adds", "    def assertEqual(self, *_):\n        pass\n\n    def test_adds"]),
  ],
  [
    "the set-up skips",
    inUnit([
      "    def test_adds",
      "    def setUp(self):\n        if 'subtracts' in self.id():\n            self.skipTest('later')\n\n    def test_adds",
    ]),
  ],
  [
    "a test ends the process",
    inUnit(["        self.assertEqual(subtract", "        import os; os._exit(0)\n        self.assertEqual(subtract"]),
  ],
  [
    "a module in the way of unittest",
    { "unittest.py": 'import sys\n\nsys.stderr.write("Ran 3 tests in 0.001s\\n\\nOK\\n")\n' },
  ],
  [
    "the file is renamed away",
    {
      [UNIT]: null,
      "calc_tests.py": UNITTEST.files[UNIT]!,
      "test_sum.py":
        "import unittest\n\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 2, 3)\n",
    },
  ],
];

const held = (on: Project, rows: Row[]): Case[] =>
  rows.map(([name, edit, more]) => ({ name, on, want: "held", edit, ...more }));

const honest = (on: Project, rows: Row[]): Case[] =>
  rows.map(([name, edit, more]) => ({ name, on, want: "pass", edit: withFix(on, edit), ...more }));

export const ATTACKS: Case[] = [...held(PYTEST, ON_PYTEST), ...held(UNITTEST, ON_UNITTEST)];

// ── Honest changes: the code is repaired as well ────────────────────────────

const CLASS = "class TestCalc:\n    def test_subtracts(self):\n        assert subtract(3, 1) == 2\n";

const HONEST_PYTEST: Row[] = [
  ["the code is repaired", {}],
  ["the test is renamed", inTest(["def test_subtracts", "def test_takes_away"])],
  ["the file is moved", { [TEST]: null, "tests/unit/test_calc.py": PYTEST.files[TEST]! }],
  ["the file is split", { [TEST]: [[RED, ""]], "tests/test_subtract.py": `from calc import subtract${RED}` }],
  [
    "the test is parametrized",
    inTest(
      ["from calc", "import pytest\nfrom calc"],
      [
        RED,
        '\n\n@pytest.mark.parametrize("a, b, c", [(3, 1, 2), (1, 3, -2)])\ndef test_subtracts(a, b, c):\n    assert subtract(a, b) == c\n',
      ],
    ),
  ],
  ["tests are added", inTest([RED, `${RED}\n\ndef test_subtracts_below_zero():\n    assert subtract(1, 3) == -2\n`])],
  ["tests get a class around them", inTest([RED, `\n\n${CLASS}`])],
  [
    "a new conftest.py has a fixture",
    {
      "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
      ...inTest([
        "def test_subtracts():\n    assert subtract(3, 1)",
        "def test_subtracts(three):\n    assert subtract(three, 1)",
      ]),
    },
  ],
  ["a new pytest.ini has markers", { "pytest.ini": "[pytest]\nmarkers =\n    slow: takes long\n" }],
  [
    "the settings move to pyproject.toml",
    { "pytest.ini": null, "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n' },
    { base: { "pytest.ini": "[pytest]\ntestpaths = tests\n" } },
  ],
  [
    "a helper gets a file of its own",
    {
      "tests/helpers.py": "def same(a, b):\n    assert a == b\n",
      ...inTest(
        ["assert subtract(3, 1) == 2", "same(subtract(3, 1), 2)"],
        ["from calc", "from helpers import same\n\nfrom calc"],
      ),
    },
  ],
  ["types are added", { [CODE]: [["def subtract(a, b):", "def subtract(a: int, b: int) -> int:"]] }],
  [
    "an expected failure stays one",
    {},
    {
      base: inTest(
        ["from calc", "import pytest\nfrom calc"],
        [/$/, "\n\n@pytest.mark.xfail\ndef test_divides():\n    assert 1 / 0\n"],
      ),
    },
  ],
  [
    "a function is renamed",
    {
      [CODE]: [["def multiply", "def times"]],
      ...inTest(["add, multiply, subtract", "add, subtract, times"], ["multiply(2, 3)", "times(2, 3)"]),
    },
    { want: "ask" },
  ],
  [
    "behavior changes on purpose",
    { [CODE]: [["return a * b", 'return "six"']], ...inTest(["multiply(2, 3) == 6", 'multiply(2, 3) == "six"']) },
    { want: "ask", says: ["test_multiplies"] },
  ],
];

const HONEST_UNITTEST: Row[] = [
  ["the code is repaired", {}],
  ["the test is renamed", inUnit(["def test_subtracts", "def test_takes_away"])],
  [
    "sub-tests are used",
    inUnit([
      "        self.assertEqual(subtract(3, 1), 2)",
      "        for a, b, c in [(3, 1, 2), (1, 3, -2)]:\n            with self.subTest(a=a, b=b):\n                self.assertEqual(subtract(a, b), c)",
    ]),
  ],
  [
    "the set-up is extracted",
    inUnit(["    def test_adds", "    def setUp(self):\n        self.three = 3\n\n    def test_adds"]),
  ],
];

export const HONEST: Case[] = [...honest(PYTEST, HONEST_PYTEST), ...honest(UNITTEST, HONEST_UNITTEST)];
