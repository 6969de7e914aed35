import { afterEach, expect, test } from "bun:test";
import { commitRun } from "../../../src/store/runs.ts";
import { ownHome } from "../../harness/sealing.ts";
import { childEnv, commandFor, ID, removeTemps, sampleCommit, tempRoot } from "../samples.ts";

const OWN_HOME = ownHome();
afterEach(removeTemps);

/** Calls the store from below a shell that goes by the given names. */
function callBelow(argv0: string, home: string, calls: unknown[][]): unknown[] {
  const quoted = commandFor("call.ts", [JSON.stringify(calls)]).map((word) => `'${word}'`);
  const done = Bun.spawnSync(["bash", "-c", `${quoted.join(" ")}; true`], { argv0, env: childEnv(home) });
  return JSON.parse(done.stdout.toString());
}

const described = { pid: expect.any(Number), pid_start: expect.stringMatching(/^\d+$/), boot: expect.any(String) };

for (const argv0 of ["claude", "bash", "/home/claude/bash"]) {
  test(`a parent called ${argv0} is known by number and start time, not by its name`, () => {
    expect(callBelow(argv0, tempRoot(), [["describeParent"]])).toEqual([expect.objectContaining(described)]);
  });
}

test("a run is known to be abandoned once its host is gone, and not before", () => {
  const [root, home] = [tempRoot(), OWN_HOME];
  commitRun(root, sampleCommit(1));
  const session = ["claude", "test-session"];
  const [parent] = callBelow("claude", home, [["describeParent"]]) as [object];
  const pointer = { root, run: ID, ...parent };
  const self = { ...pointer, pid: process.pid, pid_start: undefined };
  const listed = callBelow("bash", home, [
    ["listRuns", root],
    ["writePointer", ...session, self],
    ["listRuns", root],
    ["writePointer", ...session, { ...pointer, run: "another" }],
    ["listRuns", root],
    ["writePointer", ...session, pointer],
    ["listRuns", root],
  ]) as ({ owner_gone: boolean }[] | null)[];
  expect(listed.flatMap((runs) => runs ?? []).map((run) => run.owner_gone)).toEqual([false, false, false, true]);
});
