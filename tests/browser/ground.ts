/** A project with a history, all of it made by hook calls and commands of the real program. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runPawl } from "../harness/harness.ts";
import { PLAIN } from "../loop/world.ts";
import type { Step, World } from "../scenarios/scenario.ts";
import { ISSUES, newWorld, play } from "../web/ground.ts";

/** Whoever shows this as anything but text runs it. */
export const HOSTILE = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;

const SHIP = `name: ship
title: Ship it
signals: promise
arm: ["/ship"]
stages:
  - { id: build, title: Build, say: Build it., on: { BUILT: { to: test } } }
  - id: test
    title: Test
    say: Test it.
    on:
      TESTED: { to: look, gates: [{ tests: [node, --test, tests/] }] }
      BROKEN: { to: build }
  - id: look
    title: Look
    say: Show it.
    on:
      SHOWN: { end: completed, gates: [{ person: "Have you looked at the diff?" }] }
      BAD: { halt: "It cannot be shown" }
`;

const TRICKY = `name: tricky
title: ${JSON.stringify(`Tricky ${HOSTILE}`)}
signals: promise
arm: ["/tricky"]
stages:
  - { id: one, title: ${JSON.stringify(`One ${HOSTILE}`)}, say: Do it., on: { ONE: { to: two } } }
  - { id: two, title: Two, say: Do it., on: { TWO: { end: completed } } }
`;

/** What their runs are called on the pages: one by what was asked for, the others by their workflow. */
export const TITLES: Record<string, string> = {
  ship: "Ship it",
  tricky: `Tricky ${HOSTILE}`,
  "complete-work": `Mend the rounding of refunds ${HOSTILE}`,
};

const SUITE = `const { test } = require("node:test");
const assert = require("node:assert");
const { add, subtract } = require("../sum.js");
test("adds", () => assert.equal(add(1, 1), 2));
test("subtracts", () => assert.equal(subtract(3, 1), 2));
`;

const FAULTY = `exports.add = (a, b) => a + b;
exports.subtract = (a, b) => a - b - 1;
`;

const TO_APPROVAL: Step[] = [
  { prompt: "/ship" },
  { stop: "Built.\n\n<promise>BUILT</promise>" },
  { stop: "Both tests pass.\n\n<promise>TESTED</promise>" },
  { sh: "sed -i 's/ - 1;/;/' sum.js" },
  { stop: "Both tests pass now.\n\n<promise>TESTED</promise>" },
  { stop: "Here it is.\n\n<promise>SHOWN</promise>" },
];

/** One run is completed, one waits for a decision, one for an approval, one is under way; a task, a loop. */
export function makeGround(): World {
  const place = makePlace();
  const world = newWorld(place);
  const files = {
    ".pawl/workflows/ship.yaml": SHIP,
    ".pawl/workflows/tricky.yaml": TRICKY,
    "tests/sum.test.js": SUITE,
    "sum.js": FAULTY,
  };
  play(world, [{ write: files }, { sh: "git add -A && git commit -qm suite" }, { trust: true }]);
  need(runPawl(place, ["task", "add", `Mend the cart ${HOSTILE}`]));
  loop(place);
  in_(world, "done", [{ prompt: "/tricky" }, { stop: "<promise>ONE</promise>" }, { stop: "<promise>TWO</promise>" }]);
  in_(world, "tricky", [{ prompt: "/tricky" }, { stop: `I am done. ${HOSTILE}` }]);
  const tricky = ISSUES.replace("an empty catch", `an empty catch ${HOSTILE}`);
  in_(world, "asks", [{ prompt: TITLES["complete-work"] }, { stop: "It is done." }]);
  in_(world, "asks", [{ prompt: "/complete-work review cleanup" }, { stop: tricky }, { stop: "What should I do?" }]);
  in_(world, "approves", TO_APPROVAL);
  return world;
}

export function in_(world: World, session: string, steps: Step[]): void {
  play(
    world,
    steps.map((step) => ({ session, ...step })),
  );
}

const need = ({ code, out, err }: ReturnType<typeof runPawl>): string => {
  if (code !== 0) throw new Error(`${out}${err}`);
  return out;
};

function loop(place: Place): void {
  const agent = join(place.base, "agent");
  writeFileSync(
    agent,
    `#!/bin/sh\ncat >/dev/null\necho\necho '<promise>SUCCESS</promise>'\necho\necho 'All is done.'\n`,
  );
  chmodSync(agent, 0o755);
  play(newWorld(place), [{ write: { ".pawl/procedures/plain.yaml": PLAIN } }]);
  need(runPawl(place, ["loop", "plain", "--ai-cmd", agent, "--no-preflight"]));
}

export interface KnownRun {
  id: string;
  workflow: string;
  status: string;
  stage: string;
  outcome?: string;
  paused?: unknown;
}

export function runsOf(place: Place): KnownRun[] {
  return (JSON.parse(need(runPawl(place, ["runs", "list", "--all", "--json"]))) as { runs: KnownRun[] }).runs;
}

export function runWith(place: Place, workflow: string, status: string): KnownRun {
  const found = runsOf(place).find((run) => run.workflow === workflow && run.status === status);
  if (!found) throw new Error(`no ${workflow} is ${status}: ${JSON.stringify(runsOf(place))}`);
  return found;
}

export const runHash = (place: Place, { id }: Pick<KnownRun, "id">): string =>
  `#/run?project=${encodeURIComponent(place.root)}&id=${id}`;
