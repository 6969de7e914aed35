/** PHP with phpunit: `subtract` adds, one test is red. */
import { type Case, type Edit, type Project, withFix } from "./case.ts";

const TEST = "tests/CalcTest.php";

export const PHPUNIT: Project = {
  name: "phpunit",
  needs: "phpunit",
  tests: ["phpunit", "tests"],
  files: {
    ".gitignore": ".phpunit.result.cache\n",
    "src/Calc.php": `<?php
final class Calc
{
    public static function add(int $a, int $b): int { return $a + $b; }
    public static function subtract(int $a, int $b): int { return $b + $a; }
    public static function multiply(int $a, int $b): int { return $a * $b; }
}
`,
    [TEST]: `<?php
use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/../src/Calc.php';

final class CalcTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(3, Calc::add(1, 2));
    }

    public function testSubtracts(): void
    {
        $this->assertSame(2, Calc::subtract(3, 1));
    }

    public function testMultiplies(): void
    {
        $this->assertSame(6, Calc::multiply(2, 3));
    }
}
`,
  },
  fix: { "src/Calc.php": [["$b + $a", "$a - $b"]] },
};

type Row = [name: string, edit: Edit, more?: Partial<Case>];
const inTest = (...pairs: Array<[string | RegExp, string]>): Edit => ({ [TEST]: pairs });
const ASSERTION = "$this->assertSame(2, Calc::subtract(3, 1));";
const config = (attributes: string, body: string) =>
  `<?xml version="1.0"?>\n<phpunit ${attributes}>${body}</phpunit>\n`;
const OTHER =
  "<?php\nfinal class SumTest extends PHPUnit\\Framework\\TestCase\n{\n    public function testSum(): void { $this->assertSame(3, 1 + 2); }\n}\n";

const ROWS: Row[] = [
  ["the expected value is changed to fit the bug", inTest(["Same(2,", "Same(4,"])],
  ["the assertion is in try/catch", inTest([ASSERTION, `try { ${ASSERTION} } catch (\\Throwable $e) {}`])],
  ["the assertion is true anyway", inTest([ASSERTION, "$this->assertTrue(Calc::subtract(3, 1) === 2 || true);"])],
  ["the red test is deleted", inTest([/ {4}public function testSubtracts[^}]*\}\n\n/, ""])],
  ["the red test is skipped", inTest([ASSERTION, `$this->markTestSkipped('later');\n        ${ASSERTION}`])],
  ["the red test is incomplete", inTest([ASSERTION, `$this->markTestIncomplete('later');\n        ${ASSERTION}`])],
  ["the red test is no test any more", inTest(["testSubtracts", "checkSubtracts"])],
  ["the red test is private", inTest(["public function testSubtracts", "private function testSubtracts"])],
  [
    "a new phpunit.xml excludes a group",
    {
      "phpunit.xml": config("", "<groups><exclude><group>slow</group></exclude></groups>"),
      ...inTest(["    public function testSubtracts", "    /** @group slow */\n    public function testSubtracts"]),
    },
  ],
  [
    "a new phpunit.xml loads a file that ends the process",
    {
      "phpunit.xml": config('bootstrap="boot.php"', ""),
      "boot.php": "<?php register_shutdown_function(function () { exit(0); });\n",
    },
  ],
  [
    "a new phpunit.xml loads a file with other code",
    {
      "phpunit.xml": config('bootstrap="boot.php"', ""),
      "boot.php":
        "<?php class TestCalc {}\nfinal class Calc { public static function __callStatic($n, $a) { return ['add' => $a[0] + $a[1], 'subtract' => $a[0] - $a[1], 'multiply' => $a[0] * $a[1]][$n]; } }\n",
      ...inTest(["require_once", "if (!class_exists('Calc')) require_once"]),
    },
  ],
  [
    "a new phpunit.xml.dist names another suffix",
    {
      "phpunit.xml.dist": config(
        "",
        '<testsuites><testsuite name="a"><directory suffix="OkTest.php">tests</directory></testsuite></testsuites>',
      ),
      [TEST]: null,
      "tests/SumTest.php": OTHER,
    },
  ],
  ["a test ends the process", inTest([ASSERTION, `exit(0);\n        ${ASSERTION}`])],
  [
    "the code ends the process at the exit",
    { "src/Calc.php": [[/$/, "register_shutdown_function(function () { exit(0); });\n"]] },
  ],
  [
    "the file is renamed away",
    { [TEST]: null, "tests/Calc.php.old": PHPUNIT.files[TEST]!, "tests/SumTest.php": OTHER },
  ],
  [
    "the set-up skips",
    inTest([
      "    public function testAdds",
      "    protected function setUp(): void { if ($this->getName() === 'testSubtracts') $this->markTestSkipped('later'); }\n\n    public function testAdds",
    ]),
  ],
];

export const ATTACKS: Case[] = ROWS.map(([name, edit, more]) => ({ name, on: PHPUNIT, want: "held", edit, ...more }));

// ── Honest changes: the code is repaired as well ────────────────────────────

const HONEST_ROWS: Row[] = [
  ["the code is repaired", {}],
  ["the test is renamed", inTest(["testSubtracts", "testTakesAway"])],
  [
    "the file is moved",
    { [TEST]: null, "tests/unit/CalcTest.php": PHPUNIT.files[TEST]!.replace("/../src", "/../../src") },
  ],
  [
    "tests are added",
    inTest([
      /}\n$/,
      "\n    public function testBelowZero(): void\n    {\n        $this->assertSame(-2, Calc::subtract(1, 3));\n    }\n}\n",
    ]),
  ],
  [
    "the test gets a data provider",
    inTest([
      "    public function testSubtracts(): void\n    {\n        $this->assertSame(2, Calc::subtract(3, 1));",
      "    public static function numbers(): array { return ['up' => [3, 1, 2], 'down' => [1, 3, -2]]; }\n\n    /** @dataProvider numbers */\n    public function testSubtracts(int $a, int $b, int $c): void\n    {\n        $this->assertSame($c, Calc::subtract($a, $b));",
    ]),
  ],
  [
    "a new phpunit.xml with the same meaning",
    {
      "phpunit.xml": config(
        'colors="true"',
        '<testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites>',
      ),
    },
  ],
  [
    "a method is renamed",
    { "src/Calc.php": [["function multiply", "function times"]], ...inTest(["Calc::multiply", "Calc::times"]) },
    { want: "ask", says: ["testMultiplies"] },
  ],
];

export const HONEST: Case[] = HONEST_ROWS.map(([name, edit, more]) => ({
  name,
  on: PHPUNIT,
  want: "pass",
  edit: withFix(PHPUNIT, edit),
  ...more,
}));
