/** What is in the throw-away project: a small program, its twelve tests, and a workflow that asks for them. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closureOf } from "../checks/closure/closure.ts";
import { projectGates } from "../definitions/registry.ts";
import { grantTrust, trustOf } from "../store/trust.ts";
import { DemoFailed, git, type Place, put, runToEnd } from "./place.ts";

export const SIGNAL = "DONE";

const WORKFLOW = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: work
    title: All tests pass
    say: Mend the cart until all tests pass.
    on:
      ${SIGNAL}: { end: completed, gates: [{ tests: [bun, test] }] }
      STUCK: { halt: "It cannot be mended" }
`;

const CODE = `export const price = ({ cents, count = 1 }) => cents * count;
export const discounted = (cents, percent) => Math.round((cents * (100 - percent)) / 100);
export const euros = (cents) => \`\${(cents / 100).toFixed(2)} €\`;

const plus = (a, b) => a + b;
export const total = (cart) => cart.map(price).reduce(plus);
`;
const MENDED = CODE.replace("(plus)", "(plus, 0)");

const FAILING = `test("an empty cart is free", () => expect(total([])).toBe(0));\n`;
const SUITE = `import { expect, test } from "bun:test";
import { discounted, euros, price, total } from "../src/cart.js";

test("one article", () => expect(price({ cents: 250 })).toBe(250));
test("three of them", () => expect(price({ cents: 250, count: 3 })).toBe(750));
test("none of them", () => expect(price({ cents: 250, count: 0 })).toBe(0));
test("a gift is free", () => expect(price({ cents: 0 })).toBe(0));
test("a tenth off", () => expect(discounted(1000, 10)).toBe(900));
test("nothing off", () => expect(discounted(1000, 0)).toBe(1000));
test("half a cent is rounded up", () => expect(discounted(5, 50)).toBe(3));
test("cents have two digits", () => expect(euros(705)).toBe("7.05 €"));
test("whole euros have them too", () => expect(euros(700)).toBe("7.00 €"));
test("one line in the cart", () => expect(total([{ cents: 250 }])).toBe(250));
test("two lines in the cart", () => expect(total([{ cents: 250 }, { cents: 50, count: 2 }])).toBe(350));
${FAILING}`;

const CODE_FILE = "src/cart.js";
const SUITE_FILE = "tests/cart.test.js";

export async function fillPlace(place: Place): Promise<void> {
  await git(place, "-c", "init.defaultBranch=main", "init", "-q", "--template=");
  await git(place, "config", "user.name", "Demo");
  await git(place, "config", "user.email", "demo@example.invalid");
  put(place, CODE_FILE, CODE);
  put(place, SUITE_FILE, SUITE);
  put(place, ".pawl/workflows/ship.yaml", WORKFLOW);
  await git(place, "add", "-A");
  await git(place, "commit", "-q", "-m", "Start");
}

/** What a person does with `pawl trust`, in the home of this project only. */
export function approve({ root, home }: Place): string {
  const { gates, problems } = projectGates(root, home);
  const closure = closureOf(root, gates);
  if (problems.length > 0 || closure.items.length !== 1 || trustOf(root, closure).trusted)
    throw new DemoFailed("expected: one command to approve, and nobody has approved it yet");
  grantTrust(root, closure, "pawl demo");
  return (JSON.parse(closure.items[0]!.text) as string[]).join(" ");
}

// ── What the agent does to it ───────────────────────────────────────────────

export const deleteFailingTest = (place: Place) => put(place, SUITE_FILE, SUITE.replace(FAILING, ""));

export function mendCode(place: Place): void {
  put(place, SUITE_FILE, SUITE);
  put(place, CODE_FILE, MENDED);
}

/** As git shows it: the changed lines alone. */
export async function showChange(place: Place): Promise<string> {
  const lines = (await git(place, "diff", "-U0", "--no-color")).split("\n");
  const changed = lines.filter((line) => /^[-+]/.test(line) && !line.startsWith("--- "));
  return changed.map((line) => line.replace(/^\+{3} b\//, "")).join("\n");
}

/** The demo's own opinion, without Pawl: the twelve tests as they were, against the code as it is. */
export async function allTestsPass(place: Place): Promise<boolean> {
  const folder = join(place.home, "own-check");
  mkdirSync(join(folder, "tests"), { recursive: true });
  cpSync(join(place.root, "src"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, SUITE_FILE), SUITE);
  const ran = await runToEnd(place, ["bun", "test", "--cwd", folder]);
  const counts = /^ *(\d+) pass\n *(\d+) fail\n/m.exec(ran.err);
  if (Number(counts?.[1]) + Number(counts?.[2]) !== 12)
    throw new DemoFailed(`expected: 12 tests are run. They said: ${(ran.err || ran.out).trim().slice(-300)}`);
  return ran.code === 0;
}
