/**
 * Runs the tests on real clients, once per supported version, or on the version named by `--client`.
 * usage: hosts.mjs [--client VERSION|latest] [arguments of `bun test`]
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const given = process.argv.slice(2);
const at = given.indexOf("--client");
const [, wanted] = at < 0 ? [] : given.splice(at, 2);
// One list, in the file that installs them.
const source = readFileSync(new URL("../tests/clients/install.ts", import.meta.url), "utf8");
const supported = /SUPPORTED = \[([^\]]*)\]/.exec(source)?.[1]?.match(/\d+\.\d+\.\d+/g) ?? [];
const versions = wanted === undefined ? supported : [wanted === "latest" ? newest() : wanted];

const failed = versions.filter((version) => !passes(version));
if (wanted === "latest") {
  const [version] = versions;
  const known = supported[0];
  if (failed.length === 0) console.log(`${version} behaves like ${known} in every test.`);
  else console.log(`The tests marked (fail) above are what differs between ${version} and ${known}.`);
}
process.exit(failed.length === 0 ? 0 : 1);

/** @param {string} version */
function passes(version) {
  console.log(`Claude Code ${version}`);
  const paths = given.some((word) => !word.startsWith("-")) ? given : ["tests/clients/", ...given];
  const args = ["scripts/bun.mjs", "test", "--timeout", "120000", "--dots", ...paths];
  const run = (/** @type {string[]} */ words) =>
    spawnSync("node", words, { stdio: "inherit", env: { ...process.env, PAWL_CLIENT: version } }).status === 0;
  // First, so that a slow download does not count against the time of a test.
  return run(["scripts/bun.mjs", "tests/clients/install.ts"]) && run(args);
}

function newest() {
  const name = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
  const { stdout, status } = spawnSync("npm", ["view", name, "version"], { encoding: "utf8" });
  if (status === 0 && stdout.trim() !== "") return stdout.trim();
  console.error(`hosts: npm does not tell the newest version of ${name}`);
  process.exit(2);
}
