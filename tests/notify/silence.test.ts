/** Runs that give no sign of life, found by whoever is awake. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { identify } from "../../src/store/processes/process.ts";
import { makeClock } from "../harness/clock.ts";
import {
  errorsOf,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  type Session,
  transcribePrompt,
} from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { isIdle, listening, put, received, until } from "./ground.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

afterAll(removePlaces);

const SETTINGS = "  batch: 0\n  silent: 10\n";
const LOOKED = ".local/state/pawl/notify-looked";
const MINUTE = 60_000;

/** For processes that think it is so many minutes ago. */
function ago(place: Place, minutes: number): Record<string, string> {
  const clock = makeClock(place.base);
  clock.step(-minutes * MINUTE);
  return clock.env;
}

/** A run, armed so many minutes ago, and its transcript as old. */
function working(place: Place, minutes: number): Session {
  const session = openSession(place, "main");
  session.turn += 1;
  transcribePrompt(session, "/complete-work");
  age(session.transcript, minutes);
  // As if someone had just looked: the hook that arms it is not to look as well.
  age(put(join(place.home, LOOKED), ""), minutes);
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" }), "local", {
    env: ago(place, minutes),
  });
  return session;
}

function age(path: string, minutes: number): void {
  const at = new Date(Date.now() - minutes * MINUTE);
  utimesSync(path, at, at);
}

/** The event of another session; it looks again at once, as after the minute that lies between two looks. */
function another(place: Place, name: string): void {
  rmSync(join(place.home, LOOKED), { force: true });
  const { code } = runHook(place, payload(place, openSession(place, name), "UserPromptSubmit", { prompt: "x" }));
  expect(code).toBe(0);
  expect(existsSync(join(place.home, LOOKED))).toBe(true);
}

const runOfSilent = (place: Place) =>
  received(place)
    .flatMap(({ notices }) => notices)
    .filter(({ what }) => what === "silent");

test("the next event of any session tells, once", async () => {
  const place = listening(SETTINGS);
  const session = working(place, 12);
  another(place, "else");
  await until(() => received(place).length > 0 && isIdle(place), "the program is called");
  expect(runOfSilent(place)).toMatchObject([
    { text: "project: complete-work has been silent for 12 min at memory", session: session.id },
  ]);
  another(place, "third");
  // The sender of that look is waited for: what it may say comes before what is asked now.
  runHook(place, payload(place, openSession(place, "fourth"), "PermissionRequest", { tool_name: "Bash" }));
  await until(() => received(place).length > 1 && isIdle(place), "the program is called again");
  expect(runOfSilent(place)).toHaveLength(1);
  expect(errorsOf(place)).toBe("");
});

test.each<[string, (place: Place) => void]>([
  ["that lately wrote its transcript", (place) => age(working(place, 12).transcript, 5)],
  ["that began lately", (place) => void working(place, 5)],
  [
    "that the person paused",
    (place) => {
      working(place, 12);
      expect(runByPerson(place, ["runs", "pause"], { env: ago(place, 11) }).code).toBe(0);
    },
  ],
  ["of which nobody heard for two days", (place) => void working(place, 2 * 24 * 60)],
])("not a run %s", async (_, prepare) => {
  const place = listening(SETTINGS);
  prepare(place);
  another(place, "else");
  runHook(place, payload(place, openSession(place, "third"), "PermissionRequest", { tool_name: "Bash" }));
  await until(() => received(place).length > 0 && isIdle(place), "the program is called");
  expect(runOfSilent(place)).toEqual([]);
});

test("--watch tells and stays", async () => {
  const place = listening(SETTINGS);
  working(place, 12);
  const watching = Bun.spawn([PAWL, "notify", "--watch"], {
    cwd: place.root,
    env: place.env,
    stdout: "pipe",
  });
  await until(() => received(place).length > 0, "the program is called");
  expect(runOfSilent(place)).toHaveLength(1);
  expect(watching.exitCode).toBeNull();
  watching.kill();
  await watching.exited;
  expect(await new Response(watching.stdout).text()).toContain("complete-work has been silent for 12 min");
});

/** A process at a terminal of its own, and what is written there. */
function sitting() {
  let written = "";
  const data = (_: unknown, bytes: Uint8Array) => {
    written += new TextDecoder().decode(bytes);
  };
  const process = Bun.spawn(["sleep", "60"], { terminal: { cols: 80, rows: 24, data } });
  return { pid: process.pid, written: () => written, end: () => process.kill() };
}

test.each<[string, object, string]>([
  ["rings in the terminal of that very process", {}, "\u0007"],
  ["rings nowhere when the number was given again", { pid_start: "1" }, ""],
  ["rings nowhere when it was another boot", { boot: "another" }, ""],
])("a silent session %s", async (_, other, bell) => {
  const place = listening(SETTINGS);
  const session = working(place, 12);
  const client = sitting();
  const path = join(place.home, ".local/state/pawl/sessions", `claude-${session.id}`);
  const pointer = JSON.parse(readFileSync(path, "utf8"));
  put(path, JSON.stringify({ ...pointer, ...identify(client.pid), ...other }));
  another(place, "else");
  await until(() => received(place).length > 0 && isIdle(place), "the program is called");
  if (bell !== "") await until(() => client.written() !== "", "the bell");
  client.end();
  expect(client.written()).toBe(bell);
});
