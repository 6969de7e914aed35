import { test } from "bun:test";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const SPEC = `RSpec.describe "Sum" do
  it("adds") { expect(1).to eq 1 }
  it("bad") { expect(1).to eq 2 }
  it "to do"
  it { is_expected.to eq "Sum" }
  context "deep" do
    it("twice") { }
    it("twice") { }
    it("pending") { pending "x"; raise "y" }
    it("nested") do
      File.write("inner.rb", "RSpec.describe('i') { it('inner') { raise 'x' } }")
      expect(system("rspec ./inner.rb > /dev/null 2>&1")).to be false
      expect(ENV.values_at("PAWL_REPORT_DIR", "RUBYOPT")).to eq [nil, nil]
    end
  end
end
`;
const at = (path: string) => `spec/a_spec.rb > Sum > ${path}`;

withToolchain("rspec", "ruby-rspec", () => {
  test("all kinds of examples", () => {
    const tests = {
      [at("adds")]: "passed",
      [at("bad")]: "failed",
      [at("to do")]: "skipped",
      [at('is expected to eq "Sum"')]: "passed",
      [at("deep > twice")]: "passed",
      [at("deep > twice #2")]: "passed",
      [at("deep > pending")]: "skipped",
      [at("deep > nested")]: "passed",
    } as const;
    expectReport(projectWith({ "spec/a_spec.rb": SPEC }), "rspec", { exit: 1, tests }, (text) =>
      text.replace(/Finished in .*/, ""),
    );
  });

  test("an exit leaves no end", () => {
    const text = 'RSpec.describe("S") { it("a") { }; it("b") { exit!(0) } }\n';
    const tests = { "spec/a_spec.rb > S > a": "passed" } as const;
    expectReport(projectWith({ "spec/a_spec.rb": text }), "rspec", { exit: 0, tests, ended: 0 });
  });
});

const MINITEST = `require "minitest/autorun"
class TestA < Minitest::Test
  def test_ok; assert true; end
  def test_bad; assert false; end
  def test_skip; skip "x"; end
end
describe("Spec") { it("does") { _(1).must_equal 1 } }
`;

withToolchain("rake", "rake ruby-minitest", () => {
  test("minitest below rake", () => {
    const project = projectWith({
      Rakefile:
        'require "rake/testtask"\nRake::TestTask.new(:test) { |t| t.pattern = "test/*_test.rb"; t.options = "--seed=1" }\n',
      "test/a_test.rb": MINITEST,
    });
    const tests = {
      "test/a_test.rb > TestA > test_ok": "passed",
      "test/a_test.rb > TestA > test_bad": "failed",
      "test/a_test.rb > TestA > test_skip": "skipped",
      "test/a_test.rb > Spec > does": "passed",
    } as const;
    expectReport(project, "rake test", { exit: 1, tests }, (text) => text.replace(/[\d.]+ (runs|assertions)\/s/g, "N"));
  });

  test("an exit leaves no end", () => {
    const text = 'require "minitest/autorun"\nclass TestA < Minitest::Test\n  def test_a; exit!(0); end\nend\n';
    const steady = (one: string) => one.replace(/--seed \d+/, "");
    expectReport(projectWith({ "a.rb": text }), "ruby a.rb", { exit: 0, tests: {}, ended: 0 }, steady);
  });
});
