/** One run through all its states: status, explain, runs, report, dashboard, status line and notification say the same. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../../src/engine/core/run-view.ts";
import type { Commit } from "../../src/kernel/types/run.ts";
import { buildNotice } from "../../src/notify/notice.ts";
import type { Answer } from "../../src/web/api.ts";
import { line } from "../controls/status-line.ts";
import { idOf, make, openShop, promise } from "../harness/evening.ts";
import { payload, removePlaces, runHook } from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { sessionOf, type World } from "../scenarios/scenario.ts";
import { type Client, enter, startDashboard, stopDashboards } from "./ground.ts";

setDefaultTimeout(60_000);

const WALK = `name: walk
signals: promise
arm: ["/walk"]
asks:
  which:
    reason: Two ways are open
    text: Ask the person.
    person: "Which way? {choices}"
    choices:
      left: { label: Go left, to: send }
      right: { label: Go right, to: send }
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { to: look, gates: [{ run: [sh, check.sh] }] }
      BROKEN: { halt: It cannot be built }
  - id: look
    say: Look at it.
    on:
      LOOKED: { ask: which }
  - id: send
    say: Send it.
    on:
      SENT: { end: completed, gates: [{ person: "Have you looked at the diff?" }] }
`;

let world: World;
let client: Client;
let id: string;

beforeAll(async () => {
  world = openShop();
  make(world, { write: { ".pawl/workflows/walk.yaml": WALK } }, { trust: true });
  client = await enter(await startDashboard(world.place));
  make(world, { session: "A", prompt: "/walk" });
  id = idOf(world, "A");
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

const pawl = (...args: string[]) => runByPerson(world.place, args).out;
const json = (...args: string[]) => JSON.parse(pawl(...args, "--json"));

/** What each surface says; null: it says that nothing is needed. */
async function surfaces() {
  const { runs } = json("status");
  const { needs, live } = await client.data("/api/now");
  const report = json("report").needs;
  const told = /^Needs you: (.*)$/m.exec(pawl("explain", id))?.[1] ?? null;
  const shown = /^ {2}needs you (.*)$/m.exec(pawl("runs", "show", id))?.[1] ?? null;
  const text = (one: { what: string; how: string } | null | undefined) => (one ? `${one.what}: ${one.how}` : null);
  expect(live.map(({ waits }: { waits: string | null }) => waits)).toEqual([needs[0]?.what ?? null]);
  expect([needs[0]?.kind, needs[0]?.since]).toEqual([runs[0].waits?.kind, runs[0].waits?.since]);
  expect(report[0]?.at).toBe(needs[0]?.since);
  const page = await client.data(`/api/run?${new URLSearchParams({ project: world.place.root, id })}`);
  await expectOneState(runs[0], live[0], page);
  return [text(runs[0].waits), text(needs[0]), text(report[0]), told, shown, text(page.waits)];
}

/** How it stands, in one word: in lists, on its own page, in STATUS and in the report. */
async function expectOneState(seen: RunView, live: { state: string }, { run, stages }: Answer<"run">) {
  const { state, waits } = seen;
  const { rows } = await client.data("/api/runs");
  const filtered = await client.data(`/api/runs?status=${state}`);
  const listed = pawl("runs").split("\n")[0]!.split(/\s+/)[2];
  const head = /^\S+: walk, (\S+) at /.exec(pawl("explain", id))?.[1];
  expect([live.state, rows[0].state, filtered.rows[0]?.state, run.state, listed, head]).toEqual(Array(6).fill(state));
  expect(state === "active").toBe(waits === null && !seen.paused);
  expect(json("report").running.map((one: { run: string }) => one.run)).toEqual(waits ? [] : [id]);
  const wanted =
    state === "waiting" ? "needs you" : state === "halted" ? "stopped" : state === "paused" ? state : "min";
  expect(/^- walk {2}.*?([a-z ]+)$/m.exec(pawl("status"))?.[1]?.trim()).toBe(wanted);
  // What it waited for the person is the same sum wherever it is shown.
  const waited = stages.reduce((sum, { waited_ms }) => sum + waited_ms, 0);
  expect(Math.abs(waited - run.waited_ms)).toBeLessThan(5);
  if (waits) expect(Math.abs(Date.now() - Date.parse(waits.since) - waited)).toBeLessThan(20_000);
}

async function expectAll(wanted: string | null) {
  expect(await surfaces()).toEqual(Array(6).fill(wanted));
}

const statusLine = () => line(world.place, { session: sessionOf(world).id }).out.trim();

/** What the notification for its newest commit says; null: the person is not notified. */
function notified(): string | null {
  const folder = join(world.place.root, ".pawl/runs", id);
  const last = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  const commit: Commit = JSON.parse(readFileSync(join(folder, last.sort().at(-1)!), "utf8"));
  return buildNotice(world.place.root, commit)?.text ?? null;
}

test("one run, one story", async () => {
  const notify = (raw: Record<string, unknown>) =>
    runHook(world.place, payload(world.place, sessionOf(world), "PermissionRequest", raw));
  // Working.
  await expectAll(null);
  expect(statusLine()).toBe("walk  ◉ ○ ○  BUILD  1 of 3, 0 min");
  // The client asks for a permission. Its own screen shows that, so the status line need not.
  notify({ tool_name: "Bash", tool_input: {} });
  await expectAll("the agent asks for a permission for Bash: answer in its session");
  // The agent ended its turn and claimed nothing: it is the person's turn.
  make(world, { prompt: "/pawl:go" }, { stop: "I looked around." });
  const stopped = "the agent stopped without a valid signal: type /pawl:go in its session";
  await expectAll(stopped);
  expect(statusLine()).toBe("BUILD  type /pawl:go in its session: the agent stopped without a valid signal");
  // Paused for the person's own prompt, then by command, then resumed: an instruction is on its way.
  make(world, { prompt: "What time is it?" });
  await expectAll(null);
  expect((await client.data("/api/now")).live[0].doing).toBe("paused for your own prompt");
  make(world, { stop: "It is noon." });
  await expectAll("paused for your own prompt: type /pawl:go in its session");
  pawl("runs", "pause", id);
  await expectAll(`paused by command: \`pawl runs resume ${id}\``);
  expect(statusLine()).toEndWith(`paused by command: \`pawl runs resume ${id}\``);
  pawl("runs", "resume", id);
  await expectAll("its next instruction waits for your prompt: type /pawl:go in its session");
  expect(pawl("runs", "show", id)).toContain("an instruction: the agent gets it with the next prompt in its session");
  // Halted.
  make(world, { prompt: "go on" }, { stop: promise("BROKEN") });
  await expectAll(`stopped (It cannot be built): \`pawl runs resume ${id}\``);
  expect(statusLine()).toEndWith(`stopped (It cannot be built): \`pawl runs resume ${id}\``);
  expect(notified()).toBe("project: walk stopped at build: It cannot be built");
  pawl("runs", "resume", id);
  // Unproven: its command is not the one that was trusted.
  make(world, { prompt: "go on" }, { write: { "check.sh": "exit 0 # changed\n" } }, { stop: promise("BUILT") });
  const [unproven] = await surfaces();
  expect(unproven).toBe(
    "BUILT is unproven (commands not approved: sh check.sh): run `pawl trust` in its project, then type /pawl:go in its session",
  );
  await expectAll(unproven!);
  expect(notified()).toStartWith(
    "project: walk needs your approval: BUILT is unproven (commands not approved: sh check.sh)",
  );
  // A question is open.
  make(world, { prompt: "/pawl:approve it is fine" }, { stop: promise("LOOKED") });
  await expectAll("your decision is needed (Two ways are open): answer in its session: 1 Go left · 2 Go right");
  expect(statusLine()).toContain("your decision is needed (Two ways are open)");
  expect(notified()).toBe("project: walk needs you: Two ways are open");
  // An approval is needed.
  make(world, { prompt: "1" }, { stop: promise("SENT") });
  await expectAll(`your approval is needed (Have you looked at the diff?): \`pawl approve ${id}\``);
  expect(statusLine()).toContain(`\`pawl approve ${id}\`: your approval is needed`);
  expect(notified()).toBe("project: walk needs your approval: Have you looked at the diff?");
  // Its session is over.
  make(world, { end: "prompt_input_exit" });
  await expectAll(`your approval is needed (Have you looked at the diff?): \`pawl approve ${id}\``);
  // Ended: no surface asks for anything.
  pawl("runs", "abort", id);
  expect(json("status").runs).toEqual([]);
  expect((await client.data("/api/now")).needs).toEqual([]);
  expect(json("report").needs).toEqual([]);
  expect(pawl("explain", id)).toStartWith(`${id}: walk, aborted at send\n\n`);
  expect(statusLine()).toBe("");
});

test("the journal without bookkeeping, unless that is asked for", async () => {
  const kinds = async (query: string) =>
    new Set((await client.data(`/api/journal?${query}`)).rows.map(({ kind }: { kind: string }) => kind));
  expect(await kinds("")).toContain("owed");
  const hidden = await kinds("hide=bookkeeping");
  for (const kind of ["owed", "delivered", "noticed", "left"]) expect(hidden).not.toContain(kind);
  expect(hidden).toContain("gated");
  expect(await kinds("hide=bookkeeping&kind=owed")).toEqual(new Set(["owed"]));
});
