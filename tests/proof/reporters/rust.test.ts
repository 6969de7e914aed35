import { expect, test } from "bun:test";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const MANIFEST = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n';
const FILES = {
  "Cargo.toml": MANIFEST,
  "src/lib.rs": `/// \`\`\`
/// assert_eq!(demo::one(), 1);
/// \`\`\`
pub fn one() -> i32 { 1 }
#[cfg(test)]
mod tests {
  #[test] fn ok() { println!("test fake ... ok"); }
  #[test] fn bad() { panic!("no") }
  #[test] #[ignore = "slow"] fn left_out() {}
  #[test] #[should_panic] fn panics() { panic!("x") }
  #[test] fn clean() { assert!(std::env::var("PAWL_REPORT_DIR").is_err()); }
}
`,
  "src/main.rs": "fn main() {}\n#[cfg(test)] mod tests { #[test] fn ok() {} }\n",
  "tests/demo.rs": "#[test] fn works() {}\n",
};
const NAMES = {
  "src/lib.rs > tests > ok": "passed",
  "src/lib.rs > tests > bad": "failed",
  "src/lib.rs > tests > left_out": "skipped",
  "src/lib.rs > tests > panics": "passed",
  "src/lib.rs > tests > clean": "passed",
  "src/main.rs > tests > ok": "passed",
  "tests/demo.rs > works": "passed",
} as const;

/** What cargo says about building comes only once; threads and times differ. */
const steady = (text: string) =>
  text.replace(/^ +(Compiling|Finished|Running|Doc-tests) .*\n/gm, "").replace(/' \(\d+\) panicked/g, "' panicked");

withToolchain("cargo", "cargo", () => {
  test("library, program and test of one name, documentation tests", () => {
    const line = "cargo test --offline --no-fail-fast -- --test-threads=1";
    expectReport(projectWith(FILES), line, { exit: 101, tests: { ...NAMES }, runners: 3 }, steady);
  });

  test("quiet stays quiet", () => {
    const line = "cargo test --offline -q --test demo";
    expectReport(projectWith(FILES), line, { exit: 0, tests: { "tests/demo.rs > works": "passed" } }, steady);
  });

  test("an exit in a test leaves no end", () => {
    const project = projectWith({ ...FILES, "tests/demo.rs": "#[test] fn quits() { std::process::exit(0) }\n" });
    expectReport(project, "cargo test --offline --test demo", { exit: 0, tests: {}, ended: 0 }, steady);
  });

  test("two packages of a workspace", () => {
    const member = (name: string) => MANIFEST.replace("demo", name);
    const project = projectWith({
      "Cargo.toml": '[workspace]\nmembers = ["a", "b"]\nresolver = "2"\n',
      ...{ "a/Cargo.toml": member("a"), "a/src/lib.rs": "#[test] fn t() {}\n" },
      ...{ "b/Cargo.toml": member("b"), "b/src/lib.rs": "#[test] fn t() {}\n" },
    });
    const tests = { "a/src/lib.rs > t": "passed", "b/src/lib.rs > t": "passed" } as const;
    expectReport(project, "cargo test --offline --lib", { exit: 0, tests, runners: 2 }, steady);
  });

  test("a harness of the project's own is left alone", () => {
    const manifest = `${MANIFEST}[[test]]\nname = "demo"\nharness = false\n`;
    const project = projectWith({
      ...FILES,
      "Cargo.toml": manifest,
      "tests/demo.rs": 'fn main() { println!("own"); }\n',
    });
    const { exit, named } = project.run("cargo test --offline --test demo");
    expect([exit, named]).toEqual([0, null]);
  });

  test("a runner of the project's own stays", () => {
    const settings = '[target.x86_64-unknown-linux-gnu]\nrunner = "env"\n';
    const { exit, named } = projectWith({ ...FILES, ".cargo/config.toml": settings }).run(
      "cargo test --offline --test demo",
    );
    expect([exit, named]).toEqual([0, null]);
  });

  test("started one by one, as nextest does: one runner, and an exit is a failure", () => {
    const project = projectWith({
      ...FILES,
      "tests/demo.rs": "#[test] fn works() {}\n#[test] fn quits() { std::process::exit(0) }\n",
    });
    project.write(
      "one-by-one.sh",
      `cargo test --offline --no-run 2>/dev/null
for b in $(ls target/debug/deps/demo-* | grep -v '\\.d$'); do
  grep -q tests/demo.rs $b.d || continue
  for t in works quits; do NEXTEST=1 $CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER $PWD/$b --exact $t --nocapture; done
done
`,
    );
    const { named } = project.run("sh one-by-one.sh");
    expect(named?.tests).toEqual({ "tests/demo.rs > works": "passed", "tests/demo.rs > quits": "failed" });
    expect(named?.runners).toEqual(["nextest"]);
  });
});
