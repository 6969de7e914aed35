/** Elixir, Perl, C++. */
import { expect, test } from "bun:test";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const MIX = 'defmodule Demo.MixProject do\n  use Mix.Project\n  def project, do: [app: :demo, version: "0.1.0"]\nend\n';
const exunit = (body: string) => ({
  "mix.exs": MIX,
  "test/test_helper.exs": "ExUnit.start(exclude: [:slow])\n",
  "test/a_test.exs": `defmodule ATest do\n  use ExUnit.Case\n${body}\nend\n`,
});

withToolchain("mix", "elixir", () => {
  test("ExUnit", () => {
    const project = projectWith(
      exunit(`  test "ok \\"quoted\\" ü", do: assert 1 == 1
  test "bad", do: assert 1 == 2
  @tag :skip
  test "skipped", do: :ok
  @tag :slow
  test "slow", do: :ok
  describe "deep" do
    test "clean", do: assert System.get_env("PAWL_REPORT_DIR") == nil
  end`),
    );
    project.plain("mix test");
    const at = (name: string) => `test/a_test.exs > ATest > test ${name}`;
    const tests = {
      [at('ok "quoted" ü')]: "passed",
      [at("bad")]: "failed",
      [at("skipped")]: "skipped",
      [at("slow")]: "skipped",
      [at("deep clean")]: "passed",
    } as const;
    expectReport(project, "mix test --seed 0", { exit: 2, tests }, (text) => text.replace(/Finished in .*/, ""));
  });

  test("ExUnit: a halt leaves no end", () => {
    const { exit, named } = projectWith(exunit('  test "a", do: System.halt(0)')).run("mix test");
    expect([exit, named?.runners.length, named?.ended]).toEqual([0, 1, 0]);
  });
});

withToolchain("prove", "perl", () => {
  test("prove: results, a nested one is not reported", () => {
    const project = projectWith({
      "t/a.t": `use Test::More;
ok(1, 'fine'); ok(0, 'bad'); ok(1);
SKIP: { skip 'no', 1; ok(1) }
TODO: { local $TODO = 'later'; ok(0, 'to do'); }
isnt(system('prove inner.pl >/dev/null 2>&1'), 0, 'nested');
ok(!$ENV{PERL_TEST_HARNESS_DUMP_TAP}, 'clean');
done_testing;
`,
      "inner.pl": "print qq(1..1\\nnot ok 1 - inner\\n);",
      "t/skip.t": 'use Test::More skip_all => "why";\n',
    });
    const tests = {
      "t/a.t > fine": "passed",
      "t/a.t > bad": "failed",
      "t/a.t > test 3": "passed",
      "t/a.t > test 4": "skipped",
      "t/a.t > to do": "skipped",
      "t/a.t > nested": "passed",
      "t/a.t > clean": "passed",
      "t/skip.t > (all)": "skipped",
    } as const;
    expectReport(project, "prove", { exit: 1, tests }, (text) => text.replace(/^Files=.*/m, ""));
  });

  test("a PERL5LIB of the command's own does no harm", () => {
    const project = projectWith({ "t/a.t": "use Test::More tests => 1; ok(1, 'one');\n" });
    expect(project.run("PERL5LIB=lib prove").named?.tests).toEqual({ "t/a.t > one": "passed" });
  });
});

withToolchain("ctest", "cmake g++ libgtest-dev", () => {
  const cmake = (more: string) =>
    `cmake_minimum_required(VERSION 3.16)\nproject(x CXX)\nfind_package(GTest REQUIRED)\nenable_testing()
add_executable(a a.cc)\ntarget_link_libraries(a GTest::gtest_main)\n${more}\n`;
  const code = `#include <gtest/gtest.h>
TEST(Sum, Adds) {}
TEST(Sum, Bad) { EXPECT_EQ(1, 2) << "<testcase name='fake'/> ]]>"; }
TEST(Sum, Skip) { GTEST_SKIP(); }
TEST(Sum, DISABLED_Off) {}
`;
  const build = "cmake -S . -B build >/dev/null && cmake --build build >/dev/null";

  test("gtest", () => {
    const project = projectWith({ "CMakeLists.txt": cmake(""), "a.cc": code });
    project.plain(build);
    const tests = {
      "a.cc > Sum > Adds": "passed",
      "a.cc > Sum > Bad": "failed",
      "a.cc > Sum > Skip": "skipped",
      "a.cc > Sum > DISABLED_Off": "skipped",
    } as const;
    expectReport(project, "build/a", { exit: 1, tests });
  });

  test("ctest: each test a process; what the build lists does not count", () => {
    const more = `include(GoogleTest)\ngtest_discover_tests(a)
add_test(NAME plain COMMAND true)
add_test(NAME left_out COMMAND sh -c "exit 77")\nset_tests_properties(left_out PROPERTIES SKIP_RETURN_CODE 77)`;
    const project = projectWith({ "CMakeLists.txt": cmake(more), "a.cc": code });
    const { exit, named } = project.run(`${build} && cd build && ctest -j4`);
    expect([exit, named?.runners, named?.ended]).toEqual([8, ["ctest"], 1]);
    expect(named?.tests).toEqual({
      "build > Sum.Adds": "passed",
      "build > Sum.Bad": "failed",
      "build > Sum.Skip": "skipped",
      "build > Sum.Off": "skipped",
      "build > plain": "passed",
      "build > left_out": "skipped",
    });
    // The clock of a file system is a step behind, so a file may be as old as that.
    Bun.sleepSync(50);
    expect(project.run("true").named).toBeNull();
  });
});
