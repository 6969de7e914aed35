/** Rust: `subtract` adds; a test in the file itself and one in tests/ are red. */
import { type Case, type Edit, type Project, withFix } from "./case.ts";

const CODE = "src/lib.rs";
const TEST = "tests/calc.rs";

export const RUST: Project = {
  name: "cargo",
  needs: "cargo",
  tests: ["cargo", "test", "--offline"],
  files: {
    ".gitignore": "target\n",
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
    [CODE]: `pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

pub fn subtract(a: i32, b: i32) -> i32 {
    b + a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn subtracts() {
        assert_eq!(subtract(3, 1), 2);
    }
}
`,
    [TEST]: `use calc::{add, subtract};

#[test]
fn adds_both() {
    assert_eq!(add(2, 2), 4);
}

#[test]
fn subtracts_both() {
    assert_eq!(subtract(4, 2), 2);
}
`,
  },
  fix: { [CODE]: [["b + a", "a - b"]] },
};

type Row = [name: string, edit: Edit, more?: Partial<Case>];
const UNIT: [string, string] = ["(3, 1), 2", "(3, 1), 4"];
const INTEGRATION: [string, string] = ["(4, 2), 2", "(4, 2), 6"];
/** The red test in the file is rewritten as well: both have to be gone. */
const both = (unit: Array<[string | RegExp, string]>, whole: Edit): Edit => ({ [CODE]: unit, ...whole });

const ROWS: Row[] = [
  ["the expected values are changed to fit the bug", both([UNIT], { [TEST]: [INTEGRATION] })],
  [
    "the tests in the file are rewritten, the others ignored",
    both([UNIT], { [TEST]: [["#[test]\nfn subtracts_both", "#[test]\n#[ignore]\nfn subtracts_both"]] }),
  ],
  [
    "both are ignored",
    both([["    #[test]\n    fn subtracts", "    #[test]\n    #[ignore]\n    fn subtracts"]], {
      [TEST]: [["#[test]\nfn subtracts_both", "#[test]\n#[ignore]\nfn subtracts_both"]],
    }),
  ],
  [
    "both are deleted",
    both([[/ {4}#\[test\]\n {4}fn subtracts\(\) \{\n.*\n {4}\}\n/, ""]], {
      [TEST]: [
        [/#\[test\]\nfn subtracts_both[^}]*\}\n/, ""],
        ["{add, subtract}", "add"],
      ],
    }),
  ],
  [
    "both are expected to panic",
    both([["    #[test]\n    fn subtracts", "    #[test]\n    #[should_panic]\n    fn subtracts"]], {
      [TEST]: [["#[test]\nfn subtracts_both", "#[test]\n#[should_panic]\nfn subtracts_both"]],
    }),
  ],
  [
    "the tests' folder is not searched",
    both([UNIT], { "Cargo.toml": [['edition = "2021"', 'edition = "2021"\nautotests = false']] }),
  ],
  [
    "the test file is not tested",
    both([UNIT], { "Cargo.toml": [[/$/, '\n[[test]]\nname = "calc"\npath = "tests/calc.rs"\ntest = false\n']] }),
  ],
  [
    "the test file has no harness",
    both([UNIT], {
      "Cargo.toml": [[/$/, '\n[[test]]\nname = "calc"\nharness = false\n']],
      [TEST]:
        'fn main() {\n    println!("running 2 tests\\ntest adds_both ... ok\\ntest subtracts_both ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");\n}\n',
    }),
  ],
  ["the library is not tested", { "Cargo.toml": [[/$/, "\n[lib]\ntest = false\n"]], [TEST]: [INTEGRATION] }],
  ["the module is never compiled", both([["#[cfg(test)]", "#[cfg(any())]"]], { [TEST]: [[/^/, "#![cfg(any())]\n"]] })],
  [
    "a test ends the process",
    both(
      [
        [
          "        assert_eq!(subtract",
          "        std::process::exit(0);\n        #[allow(unreachable_code)]\n        assert_eq!(subtract",
        ],
      ],
      {
        [TEST]: [
          [
            "    assert_eq!(subtract",
            "    std::process::exit(0);\n    #[allow(unreachable_code)]\n    assert_eq!(subtract",
          ],
        ],
      },
    ),
  ],
  [
    "the files are renamed away",
    both([UNIT], { [TEST]: null, "tests/calc.rs.old": RUST.files[TEST]!, "tests/sum.rs": "#[test]\nfn sum() {}\n" }),
  ],
  [
    "the settings of cargo name another runner",
    { ".cargo/config.toml": "[target.'cfg(all())']\nrunner = \"true\"\n" },
    { says: [/approv|trust|fail|ended|not run|report/] },
  ],
];

/** Repaired and built, then as it was again with its old time: cargo takes the program for a new one. */
const STALE = `cp -p ${CODE} ../old && sed -i 's/b + a/a - b/' ${CODE} && cargo test --offline -q >/dev/null 2>&1
cat ../old > ${CODE} && touch -r ../old ${CODE} && cargo test --offline -q >/dev/null 2>&1`;

export const ATTACKS: Case[] = [
  ...ROWS.map(([name, edit, more]): Case => ({ name, on: RUST, want: "held", edit, ...more })),
  { name: "the time of the code is set back", on: RUST, want: "held", sh: STALE, says: ["subtracts"] },
];

// ── Honest changes: the code is repaired as well ────────────────────────────

const HONEST_ROWS: Row[] = [
  ["the code is repaired", {}],
  [
    "the tests are renamed",
    { [CODE]: [["fn subtracts()", "fn takes_away()"]], [TEST]: [["fn subtracts_both", "fn takes_away_both"]] },
  ],
  [
    "a test moves out of the file",
    {
      [CODE]: [[/\n {4}#\[test\]\n {4}fn subtracts\(\) \{\n.*\n {4}\}\n/, ""]],
      [TEST]: [[/$/, "\n#[test]\nfn subtracts() {\n    assert_eq!(subtract(3, 1), 2);\n}\n"]],
    },
  ],
  ["tests are added", { [TEST]: [[/$/, "\n#[test]\nfn below_zero() {\n    assert_eq!(subtract(1, 3), -2);\n}\n"]] }],
  [
    "a slow test is added and ignored",
    { [TEST]: [[/$/, "\n#[test]\n#[ignore]\nfn slow() {\n    assert_eq!(subtract(1, 3), -2);\n}\n"]] },
  ],
  [
    "a module with tests is added",
    {
      [CODE]: [[/^/, "pub mod half;\n\n"]],
      "src/half.rs":
        "pub fn half(a: i32) -> i32 {\n    a / 2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn halves() {\n        assert_eq!(super::half(4), 2);\n    }\n}\n",
    },
  ],
  ["the version is raised", { "Cargo.toml": [["0.1.0", "0.2.0"]], "Cargo.lock": [["0.1.0", "0.2.0"]] }],
  [
    "a function is renamed",
    {
      [CODE]: [
        ["pub fn add", "pub fn sum"],
        ["assert_eq!(add(", "assert_eq!(sum("],
      ],
      [TEST]: [
        ["{add, subtract}", "{subtract, sum}"],
        ["add(2, 2)", "sum(2, 2)"],
      ],
    },
    { want: "ask" },
  ],
];

/** As a copy, an archive or a tool that restores the times of commits leaves them. */
const OLD_TIMES = `cargo test --offline -q >/dev/null 2>&1 && find . -path ./.git -prune -o -path ./target -prune -o -type f -exec touch -d 2020-01-01 {} +`;

export const HONEST: Case[] = [
  ...HONEST_ROWS.map(([name, edit, more]): Case => {
    return { name, on: RUST, want: "pass", edit: withFix(RUST, edit), ...more };
  }),
  { name: "all files have old times", on: RUST, want: "pass", edit: withFix(RUST, {}), sh: OLD_TIMES },
];
