import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const suite = (body: string) => `<?php
class ATest extends PHPUnit\\Framework\\TestCase {
  function testOk() { $this->assertTrue(true); }
${body}
}
`;
const ALL = suite(`
  function testBad() { $this->assertTrue(false); }
  function testError() { throw new Exception("<&x]]>"); }
  function testSkip() { $this->markTestSkipped("x"); }
  function testIncomplete() { $this->markTestIncomplete("x"); }
  function testRisky() { }
  /** @dataProvider values */ function testValues($a) { $this->assertTrue($a > 0); }
  static function values() { return ["a & <b>" => [2]]; }
  function testNested() {
    mkdir("inner");
    file_put_contents("inner/InTest.php", '<?php class InTest extends PHPUnit\\Framework\\TestCase { function testIn() { $this->fail(); } }');
    exec("phpunit inner", $lines, $exit);
    array_map("unlink", glob("inner/*")); rmdir("inner");
    $this->assertSame(1, $exit);
    $this->assertSame([false, false], [getenv("PAWL_REPORT_DIR"), getenv("PHP_INI_SCAN_DIR")]);
  }`);
const at = (name: string) => `tests/ATest.php > ATest > ${name}`;
const steady = (text: string) => text.replace(/Time: .*/, "");

withToolchain("phpunit", "phpunit", () => {
  test("all kinds of tests; a risky one passes, as it does for phpunit", () => {
    const tests = {
      [at("testOk")]: "passed",
      [at("testBad")]: "failed",
      [at("testError")]: "failed",
      [at("testSkip")]: "skipped",
      [at("testIncomplete")]: "skipped",
      [at("testRisky")]: "passed",
      [at('testValues with data set "a & <b>"')]: "passed",
      [at("testNested")]: "passed",
    } as const;
    expectReport(projectWith({ "tests/ATest.php": ALL }), "phpunit tests", { exit: 2, tests }, steady);
  });

  test("an exit leaves no end", () => {
    const project = projectWith({ "tests/ATest.php": suite("  function testQuit() { exit(0); }") });
    expectReport(project, "phpunit tests", { exit: 0, tests: {}, ended: 0 }, steady);
  });

  test("an XML file of the project's own is written and read", () => {
    const settings = '<phpunit><logging><junit outputFile="own.xml"/></logging></phpunit>';
    const project = projectWith({ "phpunit.xml": settings, "tests/ATest.php": suite("") });
    expect(project.run("phpunit tests").named?.tests).toEqual({ [at("testOk")]: "passed" });
    expect(existsSync(join(project.root, "own.xml"))).toBe(true);
  });

  test("its version is no run", () => expect(projectWith({}).run("phpunit --version").named).toBeNull());
});
