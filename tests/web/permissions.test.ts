/** The host asks the person for a permission: each time it does, the dashboard shows it, however often the hook is installed. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { makePlace, PAWL, type Place, payload, removePlaces, runHook } from "../harness/harness.ts";
import { journalOf } from "../harness/run-files.ts";
import { sessionOf, type World } from "../scenarios/scenario.ts";
import { type Client, type Data, enter, newWorld, play, startDashboard, stopDashboards, until } from "./ground.ts";

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
    expect(await shown()).toEqual(["the agent stopped without a valid signal"]);
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

/** As the client writes it: the call stands there while it asks, the result comes when the tool is through or was refused. */
const used = (use: Record<string, unknown>, ago = 10_000, fields = {}) => {
  const timestamp = new Date(Date.now() - ago).toISOString();
  const message = { id: `msg_${ago}`, role: "assistant", content: [{ type: "tool_use", input: {}, ...use }] };
  return { type: "assistant", isSidechain: false, timestamp, message, ...fields };
};
const answered = (id: string) => ({
  type: "user",
  isSidechain: false,
  timestamp: new Date().toISOString(),
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "done" }] },
});

const TRANSCRIPTS: Record<string, object[]> = {
  "not through": [used({ id: "a", name: "Bash" })],
  through: [used({ id: "a", name: "Bash" }), answered("a")],
  "one before it": [used({ id: "a", name: "Bash" }, 20_000), answered("a"), used({ id: "b", name: "Bash" })],
  "another tool": [used({ id: "a", name: "Read" }), answered("a")],
  nothing: [],
};

test("answered, and the tool is through: it is shown no longer, though no event of the session came", async () => {
  for (const [session, lines] of Object.entries(TRANSCRIPTS)) {
    play(world, [{ session, prompt: "/complete-work" }]);
    writeFileSync(sessionOf(world).transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    send(request());
  }
  const nameOf = (id: string) => Object.keys(TRANSCRIPTS).find((name) => world.sessions[name]!.id === id)!;
  const waiting = async () => {
    const { live } = await client.data("/api/now");
    const asks = live.filter(({ waits }: Data) => waits === "the agent asks for a permission for Bash");
    return asks.map(({ session }: Data) => nameOf(session)).sort();
  };
  const open = Object.keys(TRANSCRIPTS).filter((name) => name !== "through");
  await until(async () => (await waiting()).length === open.length || undefined);
  expect(await waiting()).toEqual(open.sort());
  // Who has waited longest comes first.
  const since = (await needs()).map((need: Data) => need.since);
  expect(since).toEqual(since.toSorted());
  expect(new Set(since).size).toBe(open.length);
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
