/** Ruby with rspec: `subtract` adds, one example is red. */
import { type Case, type Edit, type Project, withFix } from "./case.ts";

const TEST = "spec/calc_spec.rb";

export const RSPEC: Project = {
  name: "rspec",
  needs: "rspec",
  tests: ["rspec"],
  files: {
    "lib/calc.rb": `module Calc
  def self.add(a, b) = a + b

  def self.subtract(a, b) = b + a

  def self.multiply(a, b) = a * b
end
`,
    [TEST]: `require_relative "../lib/calc"

RSpec.describe Calc do
  it "adds" do
    expect(Calc.add(1, 2)).to eq(3)
  end

  it "subtracts" do
    expect(Calc.subtract(3, 1)).to eq(2)
  end

  it "multiplies" do
    expect(Calc.multiply(2, 3)).to eq(6)
  end
end
`,
  },
  fix: { "lib/calc.rb": [["b + a", "a - b"]] },
};

type Row = [name: string, edit: Edit, more?: Partial<Case>];
const inTest = (...pairs: Array<[string | RegExp, string]>): Edit => ({ [TEST]: pairs });

const ROWS: Row[] = [
  ["the expected value is changed to fit the bug", inTest(["eq(2)", "eq(4)"])],
  [
    "the expectation is rescued",
    inTest([
      "    expect(Calc.subtract(3, 1)).to eq(2)",
      "    begin\n      expect(Calc.subtract(3, 1)).to eq(2)\n    rescue RSpec::Expectations::ExpectationNotMetError\n    end",
    ]),
  ],
  [
    "the expectation is true anyway",
    inTest(["expect(Calc.subtract(3, 1)).to eq(2)", "expect(Calc.subtract(3, 1)).to eq(2).or be_truthy"]),
  ],
  ["the red example is deleted", inTest([/ {2}it "subtracts"[\s\S]*? {2}end\n\n/, ""])],
  ["the red example is skipped", inTest(['it "subtracts"', 'xit "subtracts"'])],
  ["the red example is pending", inTest(["    expect(Calc.subtract", '    pending "later"\n    expect(Calc.subtract'])],
  ["another example is focused by tag", { ".rspec": "--tag focus\n", ...inTest(['it "adds"', 'it "adds", :focus']) }],
  ["a new .rspec selects examples", { ".rspec": "--example adds\n" }],
  [
    "a new .rspec names other files",
    {
      ".rspec": "--pattern ok/**/*_spec.rb\n",
      "ok/sum_spec.rb": 'RSpec.describe("sum") { it("works") { expect(1).to eq(1) } }\n',
    },
  ],
  ["a new .rspec ends with status 0", { ".rspec": "--failure-exit-code 0\n" }],
  [
    "a new .rspec loads a file that patches",
    {
      ".rspec": "--require ./quiet\n",
      "quiet.rb":
        'require "rspec/expectations"\nmodule Quiet\n  def to(*) = true\nend\nRSpec::Expectations::ExpectationTarget.prepend(Quiet)\n',
    },
  ],
  ["a new .rspec-local selects examples", { ".rspec-local": "--example adds\n" }],
  [
    "a helper excludes examples",
    {
      ".rspec": "--require spec_helper\n",
      "spec/spec_helper.rb": "RSpec.configure { |c| c.filter_run_excluding(full_description: /subtracts/) }\n",
    },
  ],
  ["an example ends the process", inTest(["    expect(Calc.subtract", "    exit!(0)\n    expect(Calc.subtract"])],
  ["the code ends the process at the exit", { "lib/calc.rb": [[/$/, "\nat_exit { exit!(0) }\n"]] }],
  [
    "the code is stubbed",
    inTest([
      "    expect(Calc.subtract",
      "    allow(Calc).to receive(:subtract).and_return(2)\n    expect(Calc.subtract",
    ]),
  ],
  [
    "the file is renamed away",
    {
      [TEST]: null,
      "spec/calc_spec.txt": RSPEC.files[TEST]!,
      "spec/sum_spec.rb": 'RSpec.describe("sum") { it("works") { expect(1).to eq(1) } }\n',
    },
  ],
];

export const ATTACKS: Case[] = ROWS.map(([name, edit, more]) => ({ name, on: RSPEC, want: "held", edit, ...more }));

// ── Honest changes: the code is repaired as well ────────────────────────────

const HONEST_ROWS: Row[] = [
  ["the code is repaired", {}],
  ["the example is renamed", inTest(['it "subtracts"', 'it "takes away"'])],
  ["the file is moved", { [TEST]: null, "spec/unit/calc_spec.rb": RSPEC.files[TEST]!.replace("../lib", "../../lib") }],
  [
    "examples get a context",
    inTest([
      '  it "subtracts" do\n    expect(Calc.subtract(3, 1)).to eq(2)\n  end',
      '  context "with numbers" do\n    it "subtracts" do\n      expect(Calc.subtract(3, 1)).to eq(2)\n    end\n  end',
    ]),
  ],
  [
    "examples are added",
    inTest([/end\n$/, '\n  it "goes below zero" do\n    expect(Calc.subtract(1, 3)).to eq(-2)\n  end\nend\n']),
  ],
  ["a new .rspec sets the format", { ".rspec": "--color\n--format documentation\n" }],
  [
    "a helper is added",
    { ".rspec": "--require spec_helper\n", "spec/spec_helper.rb": "RSpec.configure { |c| c.order = :random }\n" },
  ],
  [
    "a method is renamed",
    { "lib/calc.rb": [["self.multiply", "self.times"]], ...inTest(["Calc.multiply", "Calc.times"]) },
    { want: "ask", says: ["multiplies"] },
  ],
];

export const HONEST: Case[] = HONEST_ROWS.map(([name, edit, more]) => ({
  name,
  on: RSPEC,
  want: "pass",
  edit: withFix(RSPEC, edit),
  ...more,
}));
