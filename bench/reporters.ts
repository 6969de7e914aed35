/**
 * `bun bench/reporters.ts [--rounds N] [--only RUNNER]`: what our reporters cost on suites of about ten seconds, with and
 * without them in turn. Prints the ratio of the medians; the budget is 3 %. Uses the runners of `npm run test:proof`.
 */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openReports } from "../src/checks/reporters/reporters.ts";
import { cleanEnvironment } from "../src/store/processes/command.ts";
import { makeRunnerProject, type RunnerProject, removeProjects } from "../tests/checks/reporters/runner-project.ts";
import { findRunner, has, PATH, PYTHON } from "../tests/proof/toolchains.ts";
import { median } from "./measure.ts";

const MOST = 1.03;
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, only: { type: "string", default: "" } },
});

interface Suite {
  line: string;
  isThere: boolean;
  fill(project: RunnerProject): void;
}

const BUSY = "const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };\n";
const each = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

const SUITES: Record<string, Suite> = {
  node: {
    line: "node --test",
    isThere: has("node"),
    fill: ({ write }) => {
      for (let file = 0; file < 20; file++)
        write(
          `a${file}.test.js`,
          `${BUSY}const test = require("node:test");\n${each(50, (at) => `test("t${at}", () => busy(15));\n`)}`,
        );
    },
  },
  jest: {
    line: "node_modules/.bin/jest",
    isThere: findRunner("jest") !== null,
    fill: ({ root, write }) => {
      symlinkSync(findRunner("jest")!, join(root, "node_modules"));
      write("package.json", "{}");
      for (let file = 0; file < 20; file++)
        write(`a${file}.test.js`, `${BUSY}${each(50, (at) => `test("t${at}", () => busy(15));\n`)}`);
    },
  },
  pytest: {
    line: `${PYTHON} -m pytest -q -p no:cacheprovider`,
    isThere: has(PYTHON),
    fill: ({ write }) => {
      const test = (at: number) =>
        `def test_${at}():\n    end = time.perf_counter() + 0.01\n    while time.perf_counter() < end: pass\n`;
      for (let file = 0; file < 10; file++) write(`test_a${file}.py`, `import time\n${each(100, test)}`);
    },
  },
  go: {
    line: "go test -count=1 -p 1 ./...",
    isThere: has("go"),
    fill: ({ write }) => {
      write("go.mod", "module x\n\ngo 1.18\n");
      const test = (at: number) =>
        `func Test${at}(t *testing.T) { for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {} }\n`;
      for (let at = 0; at < 5; at++)
        write(`p${at}/a_test.go`, `package p\n\nimport ("testing"; "time")\n\n${each(100, test)}`);
    },
  },
};

function once(project: RunnerProject, line: string, isReported: boolean): number {
  const env = { ...cleanEnvironment(process.env), PATH, HOME: join(project.root, "../home") };
  const reports = isReported ? openReports(project.root, env) : null;
  const began = Bun.nanoseconds();
  const { exitCode } = Bun.spawnSync(["/bin/sh", "-c", line], { cwd: project.root, env: { ...env, ...reports?.env } });
  const seconds = (Bun.nanoseconds() - began) / 1e9;
  const names = Object.keys(reports?.read()?.tests ?? {}).length;
  reports?.close();
  if (exitCode !== 0 || (isReported && names < 500))
    throw new Error(`WRONG: ${line}: exit ${exitCode}, ${names} names`);
  return seconds;
}

for (const [name, { line, isThere, fill }] of Object.entries(SUITES)) {
  if (!isThere || !name.includes(values.only)) {
    console.log(`${name.padEnd(8)} left out`);
    continue;
  }
  const project = makeRunnerProject();
  fill(project);
  once(project, line, false);
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds) * 2; round++)
    times[round % 2]!.push(once(project, line, round % 2 === 1));
  const [plain, reported] = [median(times[0]), median(times[1])];
  const ratio = reported / plain;
  console.log(
    `${name.padEnd(8)} ${plain.toFixed(2)} s, with reporters ${reported.toFixed(2)} s: x ${ratio.toFixed(3)}${ratio > MOST ? "  OVER 1.03" : ""}`,
  );
}
removeProjects();
