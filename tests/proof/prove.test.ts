/** `pawl verify --prove`: in every family of runners a planted test has to come back as failed by its name. */
import { afterAll, expect, test } from "bun:test";
import { trustProject } from "../harness/grant-trust.ts";
import { makePlace, PAWL, type Place, removePlaces } from "../harness/harness.ts";
import { change, isThere, type Project, script } from "./case.ts";
import { GO } from "./go.ts";
import { PHPUNIT } from "./php.ts";
import { PYTEST, UNITTEST } from "./python.ts";
import { RSPEC } from "./ruby.ts";
import { RUST } from "./rust.ts";
import { PATH } from "./toolchains.ts";

afterAll(removePlaces, 60_000);

const MINITEST: Project = {
  name: "minitest",
  needs: "rake",
  tests: ["rake", "test"],
  files: {
    Rakefile: 'require "rake/testtask"\nRake::TestTask.new { |t| t.pattern = "test/*_test.rb" }\n',
    "test/calc_test.rb":
      'require "minitest/autorun"\n\nclass CalcTest < Minitest::Test\n  def test_adds\n    assert_equal 3, 1 + 2\n  end\nend\n',
  },
  fix: {},
};

/** Without its own tests folder: then the unit tests in the source are the ones. */
const { "tests/calc.rs": _tests, ...UNIT_FILES } = RUST.files;
const RUST_UNIT: Project = { ...RUST, name: "cargo, tests in the source", files: UNIT_FILES };

function prove({ tests, files, fix }: Project): string {
  const made = makePlace();
  const { AI_AGENT: _agent, ...env } = made.env;
  const place: Place = { ...made, env: { ...env, NO_COLOR: "1", PATH } };
  change(place, { ...files, "pawl.yaml": `gates:\n  unit: { tests: ${JSON.stringify(tests)} }\n` });
  change(place, fix);
  script(place, "git add -A && git commit -qm base");
  trustProject(place);
  const { stdout, stderr } = Bun.spawnSync({ cmd: [PAWL, "verify", "--prove"], cwd: place.root, env: place.env });
  return `${stdout}${stderr}`;
}

for (const project of [PYTEST, UNITTEST, GO, RUST, RUST_UNIT, RSPEC, MINITEST, PHPUNIT])
  test.skipIf(!isThere(project))(
    project.name,
    () => expect(prove(project)).toMatch(/^✓ unit: proved: fails on a failing test/),
    180_000,
  );
