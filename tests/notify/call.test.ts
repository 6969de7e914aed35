/** A call that cannot be made is no reason for anything else to go wrong. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { Commit } from "../../src/kernel/types/run.ts";
import { callFor, callOfHost } from "../../src/notify/call.ts";
import { errorsOf, makePlace, type Place, removePlaces } from "../harness/harness.ts";
import { put } from "./ground.ts";

const HOME = process.env.HOME;
let place: Place;
beforeEach(() => {
  place = makePlace({ git: false });
  process.env.HOME = place.home;
});
afterEach(() => {
  process.env.HOME = HOME;
});
afterAll(removePlaces);

const STATE = ".local/state/pawl";
const ended = {
  run: { id: "r1", workflow: "ship", stage: "tell" },
  event: { id: "e1", at: "2026-01-01T00:00:00.000Z", host: "claude", session: "s1", via: "local", kind: "stop" },
  records: [{ kind: "ended", outcome: "completed" }],
  effects: [],
} as unknown as Commit;

test("with the mark there is a call, without a bell none for the terminal", () => {
  put(join(place.home, STATE, "notify-on"), '{"bell":false,"silent":15}\n');
  expect(callFor(place.root, ended)).toEqual({
    notice: {
      what: "completed",
      text: "project: ship is done",
      root: place.root,
      run: "r1",
      session: "s1",
      at: ended.event.at,
    },
  });
  expect(callFor(place.root, ended)).toBeNull();
});

test("a permission that is asked for again counts as a double only at nearly the same moment", () => {
  put(join(place.home, STATE, "notify-on"), '{"bell":true,"silent":15}\n');
  const about = { session_id: "s1", cwd: place.root, prompt_id: "t1" };
  const asked = { ...about, hook_event_name: "PermissionRequest", tool_name: "Bash", tool_input: { command: "ls" } };
  const told = { ...about, hook_event_name: "Notification", notification_type: "permission_prompt" };
  const called = (raw: unknown, second: number) =>
    callOfHost(raw, new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()) !== null;
  const calls: [unknown, number][] = [
    [asked, 0],
    [asked, 1],
    [told, 6],
    [asked, 45],
    [asked, 46],
    [told, 51],
  ];
  expect(calls.map(([raw, second]) => called(raw, second))).toEqual([true, false, false, true, false, false]);
});

test.each<[string, string]>([
  ["no mark", ""],
  ["a mark that is none", "on"],
])("%s: no call", (_, mark) => {
  if (mark !== "") put(join(place.home, STATE, "notify-on"), mark);
  expect(callFor(place.root, ended)).toBeNull();
});

test("what was said lately cannot be kept: no call, and the log says why", () => {
  put(join(place.home, STATE, "notify-on"), '{"bell":true}\n');
  put(join(place.home, STATE, "notify"), "a file in the way");
  expect(callFor(place.root, ended)).toBeNull();
  expect(errorsOf(place)).toContain("notify: ");
});
