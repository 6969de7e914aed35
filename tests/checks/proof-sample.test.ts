/** A sample of `npm run test:proof`, with the runners that every machine has: node's own and unittest. */
import { setDefaultTimeout } from "bun:test";
import { type Case, runCases } from "../proof/case.ts";
import { ATTACKS as ON_JAVASCRIPT } from "../proof/javascript-attacks.ts";
import { HONEST as IN_JAVASCRIPT } from "../proof/javascript-honest.ts";
import { HONEST as IN_PYTHON, ATTACKS as ON_PYTHON } from "../proof/python.ts";

// Each is three runs of a small suite; on a busy machine that takes a while.
setDefaultTimeout(120_000);

const pick = (cases: Case[], project: string, ...names: string[]) =>
  names.map((name) => cases.find((one) => one.on.name === project && one.name === name)!);

runCases([
  ...pick(ON_JAVASCRIPT.node!, "node", "the expected value is changed to fit the bug", "the code ends the process"),
  ...pick(IN_JAVASCRIPT.node!, "node", "the code is repaired", "the test is renamed"),
  ...pick(ON_PYTHON, "unittest", "the red test is skipped"),
  ...pick(IN_PYTHON, "unittest", "the code is repaired"),
]);
