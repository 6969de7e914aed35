/** The host asks the person for a permission: each time it does, the dashboard shows it, however often the hook is installed. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { makePlace, PAWL, type Place, payload, removePlaces, runHook } from "../harness.ts";
import { journalOf } from "../run-files.ts";
import { sessionOf, type World } from "../scenario.ts";
import { type Client, enter, newWorld, play, startDashboard, stopDashboards } from "./ground.ts";

let place: Place;
let world: World;
let client: Client;

beforeEach(async () => {
  stopDashboards();
  place = makePlace();
  world = newWorld(place);
  client = await enter(await startDashboard(place));
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

/** As the client sends it: no id tells the tool call it is about. */
const ASKED = {
  effort: { level: "high" },
  tool_name: "Bash",
  tool_input: { command: "touch zzz.txt && mkdir qq", description: "d" },
  permission_suggestions: [
    {
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "touch zzz.txt" }],
      behavior: "allow",
      destination: "localSettings",
    },
  ],
};
const NOTIFIED = { message: "Claude needs your permission", notification_type: "permission_prompt" };

const request = () => payload(place, sessionOf(world), "PermissionRequest", ASKED);
const notification = () => payload(place, sessionOf(world), "Notification", NOTIFIED);
const send = (body: unknown, via = "local") => expect(runHook(place, body, via)).toMatchObject({ out: "", err: "" });
const needs = async () => (await client.data("/api/now")).needs;
const noticed = () => journalOf(place.root).filter(({ kind }) => kind === "noticed").length;

async function sendAtOnce(body: unknown, ways: string[]): Promise<void> {
  const input = new TextEncoder().encode(`${JSON.stringify(body)}\n`);
  const all = ways.map((via) =>
    Bun.spawn([PAWL, "hook", "claude", "--via", via], { cwd: place.root, env: place.env, stdin: input }),
  );
  expect(await Promise.all(all.map(({ exited }) => exited))).toEqual(ways.map(() => 0));
}

test("the same one again in one turn is a new one", async () => {
  play(world, [{ prompt: "/complete-work" }]);
  send(request());
  const [first] = await needs();
  expect(first).toMatchObject({ kind: "permission", what: "the agent asks for a permission for Bash" });
  send(notification());
  expect(await needs()).toEqual([first]);
  play(world, [{ stop: "<promise>MEMORY_UPDATED</promise>" }]);
  expect(sessionOf(world).continuing).toBe(true);
  expect(await needs()).toEqual([]);
  send(request());
  const [second, ...more] = await needs();
  expect(more).toEqual([]);
  expect(second).toEqual({ ...first, since: second.since });
  expect(second.since > first.since).toBe(true);
  send(request());
  expect((await needs())[0].since > second.since).toBe(true);
  const { timeline } = await client.data(`/api/run?${new URLSearchParams({ project: place.root, id: first.run })}`);
  const told = timeline.filter(({ kind }: { kind: string }) => kind === "noticed");
  expect(told.map(({ text }: { text: string }) => text)).toEqual([
    "the agent asks for a permission for Bash",
    "the host asks the person for a permission",
    "the agent asks for a permission for Bash",
    "the agent asks for a permission for Bash",
  ]);
});

test("the hook is installed twice: one each time, whichever way comes first", async () => {
  play(world, [{ prompt: "/complete-work" }]);
  const shown = async () => (await needs()).map(({ what }: { what: string }) => what);
  const one = ["the agent asks for a permission for Bash"];
  for (const ways of [
    ["local", "project"],
    ["project", "local"],
  ]) {
    const before = noticed();
    for (const via of ways) send(request(), via);
    expect(await shown()).toEqual(one);
    expect(noticed()).toBe(before + 1);
    play(world, [{ stop: `A stop by ${ways}.` }]);
    expect(await shown()).toEqual([]);
  }
});

test("four ways at the same moment, three times: three are recorded", async () => {
  play(world, [{ prompt: "/complete-work" }]);
  for (const round of [1, 2, 3]) {
    await sendAtOnce(request(), ["local", "project", "plugin", "user"]);
    expect(noticed()).toBe(round);
    expect(await needs()).toHaveLength(1);
  }
});

test.each<[string, Record<string, string>, string[]]>([
  ["it waits", { notification_type: "idle_prompt" }, ["its session waits for you"]],
  ["a form", { notification_type: "elicitation_dialog" }, ["its session asks you something"]],
  ["news that ask for nothing", { notification_type: "auth_success" }, []],
])("a notification: %s", async (_, fields, wanted) => {
  play(world, [{ prompt: "/complete-work" }]);
  send(payload(place, sessionOf(world), "Notification", { message: "…", ...fields }));
  expect((await needs()).map(({ what }: { what: string }) => what)).toEqual(wanted);
});
