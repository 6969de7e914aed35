/** The same cases where no user namespace can be made, as in many containers: old tests run in a real copy then. */
import { expect, test } from "bun:test";
import { type Case, runCases } from "./case.ts";
import * as javascriptAttacks from "./javascript-attacks.ts";
import * as javascriptHonest from "./javascript-honest.ts";
import * as python from "./python.ts";

/** The limit is the namespace's own, and holds for all that is started in it. */
const NO_NAMESPACES = [
  "/usr/bin/unshare",
  "-Ur",
  "/bin/sh",
  "-c",
  'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"',
  "sh",
];
const works = (cmd: string[]) => Bun.spawnSync({ cmd, stderr: "ignore" }).exitCode === 0;
/** Where none can be made anyway, nothing has to be taken away. */
const below = works(["/usr/bin/unshare", "-Ur", "true"]) ? NO_NAMESPACES : [];

test("there are no private mounts here", () => {
  expect(works([...below, "/bin/true"])).toBe(true);
  expect(works([...below, "/usr/bin/unshare", "-Urm", "true"])).toBe(false);
});

/** All kinds of tricks are among them. */
const sample = (cases: Case[]) => cases.filter((_, at) => at % 5 === 0);

const CASES = [
  ...sample(javascriptAttacks.ATTACKS.node!),
  ...sample(javascriptHonest.HONEST.node!),
  ...sample(python.ATTACKS),
  ...sample(python.HONEST),
];
runCases(CASES.map((one) => ({ ...one, on: { ...one.on, name: `${one.on.name} in a copy` }, below })));
