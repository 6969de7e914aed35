/** From nothing to a binary and back, with the real npm: tarball, installation, upgrade, removal, checkout. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  type Place,
  payload,
  type Ran,
  removePlaces,
  type Session,
  stopFields,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import { cleanMachine, installGlobally, type Machine, npm, pack, pawl } from "./npm.ts";
import {
  copyPackage,
  environment,
  identityOf,
  manifestOf,
  ROOT,
  removeScratch,
  run,
  scratch,
  setVersion,
} from "./package.ts";

setDefaultTimeout(120_000);
const { name, version, files } = manifestOf(ROOT);
const OLD = "0.0.1";
let source: string;
let tarball: string;

/** Packed from a copy: others may be writing to the checkout. */
beforeAll(() => {
  source = join(scratch(), "source");
  copyPackage(source);
  for (const name of ["LICENSE", "CHANGELOG.md", "tests/package", "bench"]) {
    cpSync(join(ROOT, name), join(source, name), { recursive: true });
  }
  tarball = pack(source);
});
afterAll(() => {
  removePlaces();
  removeScratch();
});

const says = (version: string): Ran => ({ code: 0, out: `pawl ${version}\n`, err: "" });

test("the tarball is small and holds what is needed, nothing else", () => {
  const { out } = run(["tar", "-tzf", tarball], { cwd: "/", env: environment("/") });
  const tops = new Set(
    out
      .trim()
      .split("\n")
      .map((path) => path.split("/")[1]!),
  );
  const known = new Set([...files, "package.json", "LICENSE", "README.md"]);
  expect([...tops].filter((top) => !known.has(top))).toEqual([]);
  expect(out).toContain("package/bin/bytecode-order.txt\n");
  expect(out).toContain("package/bin/page-script.txt\n");
  expect(out).not.toMatch(/\.test\.ts$|node_modules|\.log$/m);
  expect(statSync(tarball).size).toBeLessThan(1_000_000);
});

describe.each([
  ["with install scripts", []],
  ["with install scripts blocked", ["--ignore-scripts"]],
])("npm install -g %s", (_, options) => {
  let machine: Machine;
  beforeAll(() => {
    machine = cleanMachine();
    installGlobally(machine, tarball, ...options);
  });

  test("puts nothing into the home", () => expect(existsSync(join(machine.home, ".local"))).toBe(false));

  test("the first call makes the binary, the second uses it", () => {
    expect(pawl(machine, ["--version"])).toEqual(says(version));
    const before = identityOf(machine.binary);
    expect(statSync(machine.binary).mode & 0o777).toBe(0o755);
    expect(pawl(machine, ["--version"])).toEqual(says(version));
    expect(identityOf(machine.binary)).toBe(before);
  });

  test("the binary needs neither node nor the package", () => {
    const ran = run([machine.binary, "show", "complete-work"], { cwd: "/", env: { HOME: machine.home } });
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toContain("MEMORY_UPDATED");
  });

  test("removal leaves the binary, and hooks go on", () => {
    npm(["uninstall", "-g", "--prefix", machine.prefix, name], { cwd: machine.base, home: machine.home });
    expect(existsSync(machine.root)).toBe(false);
    const place = projectOn(machine);
    const session = openSession(place, "after removal");
    expect(arm(place, session).out).toContain("step 1 of 4 (memory)");
  });
});

test("an upgrade renews the binary, and a live run goes on", () => {
  const machine = cleanMachine();
  setVersion(source, OLD);
  const older = pack(source);
  setVersion(source, version);
  installGlobally(machine, older);
  expect(pawl(machine, ["--version"])).toEqual(says(OLD));
  const place = projectOn(machine);
  const session = openSession(place, "through an upgrade");
  expect(arm(place, session).out).toContain("step 1 of 4 (memory)");
  const before = identityOf(machine.binary);

  installGlobally(machine, tarball);
  expect(identityOf(machine.binary)).toBe(before);
  expect(stop(place, session, "Noted.\n\n<promise>MEMORY_UPDATED</promise>").out).toContain("step 2 of 4 (review)");

  expect(pawl(machine, ["--version"])).toEqual(says(version));
  expect(readFileSync(machine.sidecar, "utf8")).toStartWith(`${version} `);
  expect(identityOf(machine.binary)).not.toBe(before);
  expect(stop(place, session, "Fine.\n\n<promise>REVIEW_COMPLETE</promise>").out).toContain("step 3 of 4 (cleanup)");
  expect(runOf(place.root, session.id)).toMatchObject({ stage: "cleanup", status: "active" });
});

test("a clean clone: npm install, then node bin/pawl.mjs and npx", () => {
  const machine = cleanMachine();
  const checkout = join(machine.base, "checkout");
  const clone = ["git", "clone", "-q", "--depth=1", `file://${ROOT}`, checkout];
  expect(run(clone, { cwd: "/", env: environment(machine.home) })).toMatchObject({ code: 0 });
  npm(["install"], { cwd: checkout, home: machine.home });
  const env = environment(machine.home);
  expect(run(["node", "bin/pawl.mjs", "--version"], { cwd: checkout, env })).toEqual(says(version));
  const before = identityOf(machine.binary);
  expect(npm(["exec", "--", "pawl", "--version"], { cwd: checkout, home: machine.home })).toBe(says(version).out);
  expect(identityOf(machine.binary)).toBe(before);
});

// ── A project whose hooks call the binary at its home ───────────────────────

function projectOn({ home }: Machine): Place {
  const place = makePlace();
  return { ...place, home, env: { ...place.env, HOME: home } };
}

/** The command as it stands in a settings file. */
function hook(place: Place, session: Session, event: string, fields: Record<string, unknown>): Ran {
  const script = 'cd /; p="$HOME/.local/share/pawl/bin/pawl"; [ -x "$p" ] || exit 0; exec "$p" hook claude --via local';
  const input = JSON.stringify(payload(place, session, event, fields));
  const ran = run(["/bin/sh", "-c", script], { cwd: place.root, env: place.env, input });
  expect(ran).toMatchObject({ code: 0, err: "" });
  return ran;
}

function arm(place: Place, session: Session): Ran {
  session.turn += 1;
  return hook(place, session, "UserPromptSubmit", { prompt: "/complete-work" });
}

function stop(place: Place, session: Session, message: string): Ran {
  const ran = hook(place, session, "Stop", stopFields(session, message));
  session.continuing = true;
  return ran;
}
