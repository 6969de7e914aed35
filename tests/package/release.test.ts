/** What users install: published to a registry on this machine, then npx, npm install -g and an upgrade on clean homes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  type Place,
  payload,
  removePlaces,
  type Session,
  stopFields,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import {
  copyPackage,
  environment,
  homeIn,
  manifestOf,
  ROOT,
  removeScratch,
  run,
  scratch,
  setVersion,
} from "./package.ts";
import { type Registry, shellOf, startRegistry } from "./registry.ts";

setDefaultTimeout(120_000);
const HERE = `linux-${process.arch}`;
const { version } = manifestOf(ROOT);
const NEXT = "99.0.0";
let registry: Registry;
let released: string;

/** The packages of that version, made from a copy of the checkout. */
function release(version: string, platforms: string): string {
  const source = scratch();
  copyPackage(source);
  for (const name of ["scripts", "LICENSE", "README.md"])
    cpSync(join(ROOT, name), join(source, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  setVersion(source, version);
  const command = [process.execPath, "scripts/release.ts", "--only", platforms];
  expect(run(command, { cwd: source, env: { ...process.env } as Record<string, string> })).toMatchObject({ code: 0 });
  return join(source, "release");
}

function publish(folder: string): void {
  for (const name of [HERE, "pawl"])
    ok(shellOf(scratch(), registry.url, "npm publish --access public", join(folder, name)));
}

function ok(ran: { code: number | null; out: string; err: string }): string {
  if (ran.code !== 0) throw new Error(`exit ${ran.code}\n${ran.out}${ran.err}`);
  return ran.out;
}

beforeAll(async () => {
  registry = await startRegistry();
  released = release(version, HERE);
  publish(released);
});
afterAll(async () => {
  await registry?.stop();
  removePlaces();
  removeScratch();
});

test("the main package has no sources, scripts or dependencies but the platforms", () => {
  const manifest = JSON.parse(readFileSync(join(released, "pawl/package.json"), "utf8"));
  expect(Object.keys(manifest)).not.toContainAnyValues(["scripts", "dependencies"]);
  expect(new Set(Object.values(manifest.optionalDependencies))).toEqual(new Set([version]));
  expect(existsSync(join(released, "pawl/src"))).toBe(false);
});

test("npx pawl init on a clean home", () => {
  const { home } = homeIn(scratch());
  const began = performance.now();
  ok(shellOf(home, registry.url, "npx --yes pawl init --yes", makePlace().root));
  console.log(`npx pawl init: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const binary = join(home, ".local/share/pawl/bin/pawl");
  expect(run([binary, "--version"], { cwd: "/", env: { HOME: home } }).out).toBe(`pawl ${version}\n`);
});

test("npm install -g, an upgrade, and the run goes on", () => {
  const { home, binary } = homeIn(scratch());
  const made = makePlace();
  const place = { ...made, home, env: { ...made.env, HOME: home } };
  const shell = (command: string) => ok(shellOf(home, registry.url, command, place.root));
  shell("npm install -g pawl");
  expect(existsSync(binary)).toBe(false);
  shell("pawl init --yes");
  const session = openSession(place, "through an upgrade");
  session.turn += 1;
  expect(hook(place, session, "UserPromptSubmit", { prompt: "/complete-work" })).toContain("step 1 of 4 (memory)");

  publish(release(NEXT, HERE));
  shell(`npm install -g pawl@${NEXT}`);
  shell("pawl init --yes");
  expect(run([binary, "--version"], { cwd: "/", env: { HOME: home } }).out).toBe(`pawl ${NEXT}\n`);
  const claim = stopFields(session, "Noted.\n\n<promise>MEMORY_UPDATED</promise>");
  expect(hook(place, session, "Stop", claim)).toContain("step 2 of 4 (review)");
  expect(runOf(place.root, session.id)).toMatchObject({ stage: "review", status: "active" });
});

test("without the platform package, the error says why and what to do", () => {
  const { home } = homeIn(scratch());
  ok(shellOf(home, registry.url, `npm install -g pawl@${version}`, "/"));
  rmSync(join(home, "prefix/lib/node_modules/pawl/node_modules/@pawl"), { recursive: true });
  const { code, err } = shellOf(home, registry.url, "pawl --version", "/");
  expect(code).toBe(3);
  expect(err).toMatch(/^pawl: the package @pawl\/\S+ \S+ is not installed.*\n {2}hint: .*--omit=optional/);
  expect(shellOf(home, registry.url, "pawl hook claude", "/")).toEqual({ code: 0, out: "", err: "" });
});

const EMULATOR = Bun.which("qemu-aarch64");
const ARM_LIBC = "/usr/aarch64-linux-gnu";
const missing = EMULATOR === null ? "qemu-user is missing" : existsSync(ARM_LIBC) ? "" : "libc6-arm64-cross is missing";
test.skipIf(missing !== "")(`the linux-arm64 program runs in qemu${missing && ` (skipped: ${missing})`}`, () => {
  const folder = release(version, "linux-arm64");
  const call = [EMULATOR!, "-L", ARM_LIBC, join(folder, "linux-arm64/bin/pawl"), "show", "complete-work"];
  expect(run(call, { cwd: "/", env: environment(scratch()) }).out).toContain("MEMORY_UPDATED");
});

function hook(place: Place, session: Session, event: string, fields: Record<string, unknown>): string {
  const input = JSON.stringify(payload(place, session, event, fields));
  const command = ["/bin/sh", "-c", '"$HOME/.local/share/pawl/hook" hook claude --via local'];
  return ok(run(command, { cwd: place.root, env: place.env, input }));
}
