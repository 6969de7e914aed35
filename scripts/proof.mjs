/**
 * Runs the proof suite: real runners of many languages. Installs the toolchains first, or names what is skipped.
 * usage: proof.mjs [--all] [arguments of `bun test`]        --all: exit 1 if one of the required languages is skipped
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const RUNNERS = join(ROOT, ".cache/runners");

/** What shows that a language can be tested. @type {Record<string, string[][]>} */
const LANGUAGES = {
  JavaScript: [["node", "--version"]],
  Python: [["/usr/bin/python3", "-m", "pytest", "--version"]],
  Go: [["go", "version"]],
  Rust: [["cargo", "--version"]],
  Ruby: [["rspec", "--version"]],
  PHP: [["phpunit", "--version"]],
  Elixir: [["mix", "--version"]],
  "C++": [["cmake", "--version"]],
  Bash: [["bats", "--version"]],
};
const REQUIRED = ["JavaScript", "Python", "Go", "Rust", "Ruby", "PHP"];

const PACKAGES = [
  ...["golang-go", "python3-pytest", "python3-pytest-xdist", "tox", "ruby", "ruby-rspec", "ruby-minitest", "rake"],
  ...["phpunit", "elixir", "libgtest-dev", "cmake", "g++", "bats"],
];

/** @type {(argv: string[]) => { status: number | null, stdout: string, stderr: string }} */
const run = ([command = "", ...args]) => spawnSync(command, args, { encoding: "utf8" });
/** @param {string[]} argv */
const works = (argv) => run(argv).status === 0;

/** @param {string} name */
const isInstalled = (name) => /^install ok installed/.test(run(["dpkg-query", "-W", "-f", "${Status}", name]).stdout);

function installToolchains() {
  if (process.getuid?.() !== 0 || !works(["apt-get", "--version"])) return;
  const wanted = works(["cargo", "--version"]) ? PACKAGES : [...PACKAGES, "cargo", "rustc"];
  const missing = wanted.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  console.log(`proof: installing ${missing.join(" ")}`);
  run(["apt-get", "update", "-qq"]);
  const { status, stderr } = run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", ...missing]);
  if (status !== 0) console.error(`proof: apt-get install failed: ${stderr.trim().split("\n").at(-1)}`);
}

/** Each in a folder of its own: runners must not find each other's plugins. */
function installRunners() {
  /** @type {string[]} */
  const runners = JSON.parse(readFileSync(join(ROOT, "tests/proof/runners.json"), "utf8"));
  return runners.filter((runner) => !existsSync(join(RUNNERS, runner)) && !installRunner(runner));
}

/** @param {string} runner */
function installRunner(runner) {
  console.log(`proof: installing ${runner}`);
  const folder = join(RUNNERS, `installing-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", runner]);
  if (status === 0) renameSync(folder, join(RUNNERS, runner));
  else console.error(`proof: npm could not install ${runner}: ${stderr.trim().split("\n").at(-1)}`);
  rmSync(folder, { recursive: true, force: true });
  return status === 0;
}

installToolchains();
const missing = Object.keys(LANGUAGES).filter((name) => !LANGUAGES[name]?.every(works));
const skipped = installRunners().length > 0 ? [...new Set(["JavaScript", ...missing])] : missing;
if (skipped.length > 0) console.log(`proof: skipped: ${skipped.join(", ")}`);
const given = process.argv.slice(2);
const lacks = given.includes("--all") && skipped.some((name) => REQUIRED.includes(name));
const rest = given.filter((word) => word !== "--all");
const paths = rest.some((word) => !word.startsWith("-")) ? rest : ["tests/proof", ...rest];
const args = ["scripts/bun.mjs", "test", "--parallel", "--timeout", "180000", "--dots", ...paths];
const { status } = spawnSync("node", args, { stdio: "inherit", cwd: ROOT });
if (lacks) console.error(`proof: ${skipped.join(", ")} must not be skipped here`);
process.exit(lacks ? 1 : (status ?? 1));
