/** The throw-away project of the demo: its own home, a real repository, twelve tests, a workflow that asks for them. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { computeClosure } from "../checks/closure/closure.ts";
import { endJob } from "../checks/jobs/job.ts";
import { projectGates } from "../definitions/registry.ts";
import { attempt } from "../kernel/attempt.ts";
import { UserError } from "../kernel/user-error.ts";
import { namesOrNone } from "../store/files.ts";
import { grantTrust, readTrust } from "../store/trust.ts";

export interface DemoPlace {
  /** HOME of everything that is started; the search for a project's root ends here */
  home: string;
  root: string;
  path: string;
}

/** The demo did not go as its script says. */
export class DemoFailed extends Error {}

export const SIGNAL = "DONE";
const TIMEOUT_MS = 15_000;
const children = new Set<Bun.Subprocess>();

// ── Folder ──────────────────────────────────────────────────────────────────

export function makePlace(): DemoPlace {
  const path = process.env.PATH || "/usr/local/bin:/usr/bin:/bin";
  for (const program of ["git", "mkfifo"]) {
    if (!Bun.which(program, { PATH: path }))
      throw new UserError(`the demo needs ${program}, which is not in PATH`, `install ${program} and try again`);
  }
  const home = makeFolder();
  const root = join(home, "shop");
  for (const folder of [root, join(home, "bin"), join(home, "tmp")]) mkdirSync(folder);
  writeFileSync(join(home, "bin/bun"), RUNNER, { mode: 0o755 });
  return { home, root, path: `${join(home, "bin")}:${path}` };
}

/** The machine may have no test runner: the program that Pawl is compiled with contains one. */
const RUNNER = `#!/bin/sh\nBUN_BE_BUN=1 exec '${process.execPath.replaceAll("'", "'\\''")}' "$@"\n`;

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "pawl-demo-")));
  } catch (error) {
    throw new UserError(`cannot create a folder in ${tmpdir()} (${(error as Error).message})`, "set TMPDIR to another");
  }
}

export function removePlace({ root, home }: DemoPlace): void {
  for (const child of children) child.kill("SIGKILL");
  // A check outlives the hook that began it, and would go on writing here. One that cannot be ended loses its folder.
  for (const id of namesOrNone(join(root, ".pawl/jobs"))) attempt(() => endJob(root, id), null);
  endAll(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Whatever was started here has this home: a process that starts late would bring the folder back. */
function endAll(home: string): void {
  for (let round = 0; round < 100; round++) {
    const left = processIds().filter((pid) => pid !== process.pid && readEnvironment(pid).includes(`HOME=${home}\0`));
    if (left.length === 0) return;
    // One that has just ended by itself cannot be killed.
    for (const pid of left) attempt(() => process.kill(pid, "SIGKILL"), null);
    Bun.sleepSync(10);
  }
}

const processIds = () => namesOrNone("/proc").map(Number).filter(Number.isInteger);

const readEnvironment = (pid: number) => attempt(() => readFileSync(`/proc/${pid}/environ`, "utf8"), "");

// ── Processes ───────────────────────────────────────────────────────────────

/** Nothing of the person's environment goes in, neither PAWL=0 nor their git configuration. */
export const cleanEnv = ({ path, home }: DemoPlace) => ({
  PATH: path,
  HOME: home,
  TMPDIR: join(home, "tmp"),
  LC_ALL: "C.UTF-8",
});

export interface StartOptions {
  env?: Record<string, string>;
  input?: string;
}

export function start(place: DemoPlace, cmd: string[], io: StartOptions & { stdout?: number } = {}) {
  const child = Bun.spawn(cmd, {
    cwd: place.root,
    env: io.env ?? { ...cleanEnv(place), GIT_CONFIG_NOSYSTEM: "1" },
    stdin: io.input === undefined ? "ignore" : new Blob([io.input]),
    stdout: io.stdout ?? "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  children.add(child);
  child.exited.then(() => children.delete(child));
  return child;
}

export async function runToEnd(place: DemoPlace, cmd: string[], io: StartOptions = {}) {
  const child = start(place, cmd, io);
  const text = (stream: typeof child.stdout) => (stream instanceof ReadableStream ? new Response(stream).text() : "");
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), child.exited]);
  return { code, out, err };
}

async function git(place: DemoPlace, ...args: string[]): Promise<string> {
  const ran = await runToEnd(place, ["git", ...args]);
  if (ran.code !== 0) throw new DemoFailed(`expected: git ${args[0]} works here. It printed: ${ran.err.trim()}`);
  return ran.out.trim();
}

// ── Files ───────────────────────────────────────────────────────────────────

const WORKFLOW = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: work
    title: All tests pass
    say: Fix the cart until all tests pass.
    on:
      ${SIGNAL}: { end: completed, gates: [{ tests: [bun, test] }] }
      STUCK: { halt: "It cannot be fixed" }
`;

const CODE = `export const price = ({ cents, count = 1 }) => cents * count;
export const discounted = (cents, percent) => Math.round((cents * (100 - percent)) / 100);
export const euros = (cents) => \`\${(cents / 100).toFixed(2)} €\`;

const plus = (a, b) => a + b;
export const total = (cart) => cart.map(price).reduce(plus);
`;

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

function put(place: DemoPlace, name: string, text: string): void {
  const path = join(place.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export async function fillPlace(place: DemoPlace): Promise<void> {
  await git(place, "-c", "init.defaultBranch=main", "init", "-q", "--template=");
  await git(place, "config", "user.name", "Demo");
  await git(place, "config", "user.email", "demo@example.invalid");
  put(place, CODE_FILE, CODE);
  put(place, SUITE_FILE, SUITE);
  put(place, ".pawl/workflows/ship.yaml", WORKFLOW);
  await git(place, "add", "-A");
  await git(place, "commit", "-q", "-m", "Start");
}

/** What a person does with `pawl trust`, in the home of this project only. Returns the approved command. */
export function approve(place: DemoPlace): string {
  const { root, home } = place;
  const { gates, problems } = projectGates(root, home);
  const closure = computeClosure(root, gates);
  if (problems.length > 0 || closure.items.length !== 1 || readTrust(root, closure).trusted)
    throw new DemoFailed("expected: one command to approve, and it is not approved yet");
  grantTrust(root, closure, "pawl demo", cleanEnv(place));
  return (JSON.parse(closure.items[0]!.text) as string[]).join(" ");
}

// ── What the agent does to it ───────────────────────────────────────────────

export const deleteFailingTest = (place: DemoPlace) => put(place, SUITE_FILE, SUITE.replace(FAILING, ""));

export function fixCode(place: DemoPlace): void {
  put(place, SUITE_FILE, SUITE);
  put(place, CODE_FILE, CODE.replace("(plus)", "(plus, 0)"));
}

/** As git shows it: the changed lines alone. */
export async function showChange(place: DemoPlace): Promise<string> {
  const lines = (await git(place, "diff", "-U0", "--no-color")).split("\n");
  const changed = lines.filter((line) => /^[-+]/.test(line) && !line.startsWith("--- "));
  return changed.map((line) => line.replace(/^\+{3} b\//, "")).join("\n");
}

/** The demo's own opinion, without Pawl: the twelve tests as they were, against the code as it is. */
export async function allTestsPass(place: DemoPlace): Promise<boolean> {
  const folder = join(place.home, "own-check");
  mkdirSync(join(folder, "tests"), { recursive: true });
  cpSync(join(place.root, "src"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, SUITE_FILE), SUITE);
  const ran = await runToEnd(place, ["bun", "test", "--cwd", folder]);
  const counts = /^ *(\d+) pass\n *(\d+) fail\n/m.exec(ran.err);
  if (Number(counts?.[1]) + Number(counts?.[2]) !== 12)
    throw new DemoFailed(`expected: 12 tests run. The output was: ${(ran.err || ran.out).trim().slice(-300)}`);
  return ran.code === 0;
}
