/** A week in two projects, for the pictures: every line of it is written by the real program, under another clock. */
import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { type Clock, makeClock } from "../../tests/harness/clock.ts";
import { makePlace, type Place } from "../../tests/harness/harness.ts";
import type { Step, World } from "../../tests/scenarios/scenario.ts";
import { newWorld, play } from "../../tests/web/ground.ts";

const FEATURE = `name: feature
title: Build a feature
signals: promise
arm: ["/feature"]
stages:
  - { id: plan, title: Plan, say: Plan it., on: { PLANNED: { to: build } } }
  - { id: build, title: Build, say: Build it., on: { BUILT: { to: test } } }
  - id: test
    title: Test
    say: Test it.
    on:
      TESTED: { to: review, gates: [{ tests: [node, --test, tests/] }] }
      REBUILD: { to: build }
  - id: review
    title: Review
    say: Review it.
    on:
      REVIEWED: { to: commit }
      ISSUES: { ask: decision }
  - { id: commit, title: Commit, say: Commit it., on: { DONE: { end: completed } } }
asks:
  decision:
    reason: The review found critical issues
    text: Ask the person.
    person: |
      The review found critical issues:
      {issues}
      What should happen?
      1. Fix them now
      2. Make tasks of them
      3. Go on as it is
    choices:
      fix: { label: Fix them now, words: [fix], to: build }
      task: { label: Make tasks of them, words: [task], to: commit }
      ignore: { label: Go on as it is, words: [ignore], to: commit }
`;

const RELEASE = `name: release
title: Release 2.4
signals: promise
arm: ["/release"]
stages:
  - { id: notes, title: Notes, say: Write the notes., on: { NOTED: { to: check } } }
  - id: check
    title: Check
    say: Check it.
    on: { CHECKED: { to: tag, gates: [{ person: "Have you read the release notes?" }] } }
  - { id: tag, title: Tag, say: Tag it., on: { TAGGED: { end: completed } } }
`;

const TASKS = `## Pending Tasks

- [ ] **Refunds keep the order's currency** — | sonnet | #auto-workflow p0
- [ ] **Partial refunds in yen** — | sonnet | #auto-workflow
- [ ] **Cache the price list for an hour** — | sonnet | #auto-workflow
`;

const suite = (passes: boolean) => `const { test } = require("node:test");
const assert = require("node:assert");
for (let i = 1; i <= 41; i++) test("price " + i, () => assert.ok(i));
test("a refund keeps its currency", () => assert.equal("JPY", "${passes ? "JPY" : "EUR"}"));
`;

/** What the person asked for before they typed the command. */
export const ASKED = "Refunds in the order's own currency";
const EARLIER = [
  "Show the tax on every receipt",
  "Round prices once per order",
  "Let a basket be shared by its link",
  "Mend the discount on bundles",
  "Send the receipt in the buyer's language",
  "Export a month of orders as CSV",
  "Keep an address out of the logs",
];

export interface Story {
  shop: Place;
  billing: Place;
}

interface Telling {
  world: World;
  clock: Clock;
  minutes: (from: number, to: number) => number;
}

const MINUTE = 60_000;

export function tellStory(): Story {
  const place = makePlace();
  const clock = makeClock(place.base);
  const [shop, billing] = ["shop-api", "billing"].map((name) => join(place.base, name)) as [string, string];
  cpSync(place.root, billing, { recursive: true });
  renameSync(place.root, shop);
  const env = { ...place.env, ...clock.env };
  const telling = (root: string): Telling => ({ world: newWorld({ ...place, root, env }), clock, minutes: dice() });
  const [first, second] = [telling(shop), telling(billing)];
  for (const one of [first, second]) prepare(one);
  clock.step(-6.4 * 24 * 60 * MINUTE);
  for (let i = 0; i < 22; i++) oneFeature(i % 3 === 2 ? second : first, i);
  clock.step(-clock.off - 58 * MINUTE);
  present(first, second);
  return { shop: { ...place, root: shop }, billing: { ...place, root: billing } };
}

/** The same numbers each time, so that pictures change only where the page does. */
function dice(): Telling["minutes"] {
  let state = 7;
  return (from, to) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return from + (state / 2_147_483_648) * (to - from);
  };
}

function prepare({ world }: Telling): void {
  const files = {
    ".pawl/workflows/feature.yaml": FEATURE,
    ".pawl/workflows/release.yaml": RELEASE,
    "tests/price.test.js": suite(true),
    "session.md": TASKS,
  };
  play(world, [{ write: files }, { sh: "git add -A && git commit -qm begin" }, { trust: true }]);
}

const claims = (signal: string, said: string): Step => ({ stop: `${said}\n\n<promise>${signal}</promise>` });

function after({ world, clock }: Telling, minutes: number, session: string, ...steps: Step[]): void {
  clock.step(minutes * MINUTE);
  play(
    world,
    steps.map((step) => ({ session, ...step })),
  );
}

function oneFeature(telling: Telling, index: number): void {
  const { minutes, clock } = telling;
  const session = `s${String(index).padStart(3, "0")}`;
  after(telling, 0, session, { prompt: EARLIER[index % EARLIER.length] }, { prompt: "/feature" });
  after(telling, minutes(2, 6), session, claims("PLANNED", "The plan stands."));
  after(telling, minutes(8, 26), session, claims("BUILT", "Built."));
  for (let red = index % 5 < 2 ? 1 + (index % 2) : 0; red > 0; red--) {
    const breaks = { write: { "tests/price.test.js": suite(false) } };
    after(telling, minutes(9, 24), session, breaks, claims("TESTED", "All 42 tests pass."));
  }
  after(
    telling,
    minutes(5, 14),
    session,
    { write: { "tests/price.test.js": suite(true) } },
    claims("TESTED", "All pass."),
  );
  if (index % 9 === 8) after(telling, 3, session, { prompt: "/pawl:abort" }, { pawl: "runs abort" });
  else {
    after(telling, minutes(4, 12), session, claims("REVIEWED", "Nothing found."));
    after(telling, minutes(0.5, 2), session, claims("DONE", "Committed."));
  }
  clock.step(minutes(280, 360) * MINUTE);
}

/** What is under way when the picture is taken. */
function present(shop: Telling, billing: Telling): void {
  const breaks = { write: { "tests/price.test.js": suite(false) } };
  const mends = { write: { "tests/price.test.js": suite(true) } };
  after(shop, 0, "ask", { prompt: ASKED }, { prompt: "/feature" });
  after(shop, 4, "ask", claims("PLANNED", "Refunds are rounded per order, in the order's own currency."));
  after(shop, 14, "ask", claims("BUILT", "Built: refund() takes the currency of the order."));
  after(shop, 6, "ask", breaks, claims("TESTED", "Done! All 42 tests pass."));
  after(billing, 1, "rel", { prompt: "/release" });
  after(shop, 5, "ask", mends, claims("TESTED", "The rounding is mended. All 42 tests pass."));
  after(billing, 9, "rel", claims("NOTED", "The notes are written."));
  after(billing, 2, "rel", claims("CHECKED", "Everything is checked."));
  const issues =
    "Critical:\n- refund() rounds per line, not per order (refund.ts:42)\n- no test covers a partial refund in yen (refund.test.ts:7)";
  after(shop, 6, "ask", claims("ISSUES", issues), { stop: "Your choice?" });
  after(shop, 1, "auto", { prompt: "/auto" });
  const edit = { tool: { name: "Edit", input: { file_path: "src/prices.ts" }, result: "ok" } };
  after(shop, 5, "auto", edit, { stop: "The implementation is complete." });
}
