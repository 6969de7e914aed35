/** What the pages read: the story of a run, its checks, the journal page by page, tasks and figures. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, removePlaces } from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import type { World } from "../scenarios/scenario.ts";
import {
  type Client,
  type Data,
  enter,
  newWorld,
  play,
  startDashboard,
  stopDashboards,
  TO_QUESTION,
  until,
} from "./ground.ts";

const CHECKED = `name: checked
title: Build and check
signals: promise
arm: ["/checked"]
stages:
  - id: build
    title: Building
    say: Build it.
    on:
      BUILT: { to: send, gates: [{ shell: "echo looking closely; echo and found a fault; test -f good", name: a good look }] }
      BROKEN: { halt: "It cannot be built" }
  - id: send
    title: Sending
    say: Send it.
    on:
      SENT: { end: completed }
      AGAIN: { to: build }
`;

let place: Place;
let world: World;
let client: Client;

beforeAll(async () => {
  place = makePlace();
  world = newWorld(place);
  play(world, [{ write: { ".pawl/workflows/checked.yaml": CHECKED } }, { trust: true }]);
  client = await enter(await startDashboard(place));
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

const ask = (path: string, query: Record<string, string> = {}): Promise<Data> =>
  client.data(`/api/${path}?${new URLSearchParams(query)}`);
const id = () => runOf(place.root, "")!.id;
const story = () => ask("run", { project: place.root, id: id() });
const texts = ({ timeline }: Data) => timeline.map(({ text }: { text: string }) => text);

test("nothing there is an answer, too", async () => {
  expect(await ask("now")).toMatchObject({
    needs: [],
    live: [],
    readOnly: false,
    projects: [{ root: place.root, name: "project" }],
  });
  expect(await ask("journal")).toEqual({ rows: [], next: null, partial: false, unread: [] });
  expect(await ask("runs")).toEqual({ rows: [], next: null });
  expect(await ask("loops")).toEqual({ rows: [], next: null });
  expect(await ask("stats")).toMatchObject({ counts: { runs: 0 }, stages: [], bottleneck: null });
});

test("a folder that is no project is none because the dashboard was started there, until it becomes one", async () => {
  const nowhere = makePlace({ git: false });
  const page = await enter(await startDashboard(nowhere));
  const projects = async () => (await page.data("/api/now")).projects.length;
  expect(await projects()).toBe(0);
  expect((await page.data("/api/stats")).counts.runs).toBe(0);
  writeFileSync(join(nowhere.root, "session.md"), "# Session\n");
  await until(async () => (await projects()) === 1);
});

describe("a run under way", () => {
  test("is a track of stages", async () => {
    play(world, [{ prompt: "/checked" }, { stop: "<promise>BUILT</promise>" }]);
    const { live } = await ask("now");
    expect(live).toMatchObject([
      {
        project: place.root,
        run: id(),
        workflow: "checked",
        title: "Build and check",
        stage: "build",
        stages: [
          { id: "build", title: "Building", state: "now" },
          { id: "send", title: "Sending", state: "open" },
        ],
        host: "claude",
        waits: null,
        cost_usd: null,
      },
    ]);
    expect(Date.parse(live[0].since)).toBeGreaterThan(Date.now() - 60_000);
  });

  test("tells what was claimed, checked and found, with the check's output", async () => {
    const page = await story();
    expect(texts(page)).toContainEqual("it claims BUILT");
    const gated = page.timeline.find(({ kind }: { kind: string }) => kind === "gated");
    expect(gated.text).toStartWith("gate a good look: fail");
    expect(gated.detail).toMatchObject({ exit: 1, output: expect.stringContaining("and found a fault") });
    expect(page.gates).toMatchObject([{ stage: "build", gate: "a good look", pass: 0, fail: 1, last: "fail" }]);
    expect(page.evidence).toMatchObject([
      { gate: "a good look", verdict: "fail", tail: expect.stringContaining("found a fault") },
    ]);
    expect(page.run).toMatchObject({ status: "active", gate_fails: 1, workflow: "checked", outcome: null });
    expect(page).toMatchObject({ question: null, canApprove: true, paused: false });
    expect(page.stages).toMatchObject([{ stage: "build", how: "open" }]);
  });

  test("has the graph of its workflow, with where it stands", async () => {
    play(world, [{ write: { good: "x" } }, { trust: true }, { stop: "Now.\n\n<promise>BUILT</promise>" }]);
    const { graph, proofs } = await story();
    expect(graph.stages).toEqual([
      { id: "build", title: "Building", state: "done" },
      { id: "send", title: "Sending", state: "now" },
    ]);
    expect(graph.edges).toEqual([
      { from: "build", to: "send", label: "BUILT" },
      { from: "build", to: "halt", label: "BROKEN" },
      { from: "send", to: "end:completed", label: "SENT" },
      { from: "send", to: "build", label: "AGAIN" },
    ]);
    expect(proofs).toMatchObject([{ stage: "build", lines: [expect.stringContaining("a good look")] }]);
  });
});

test("a run that is over keeps its story, and so does one whose files are gone", async () => {
  const ended = id();
  play(world, [{ stop: "<promise>SENT</promise>" }]);
  const page = await story();
  expect(page.run).toMatchObject({ status: "ended", outcome: "completed" });
  expect(page.canApprove).toBe(false);
  expect(page.graph.edges.length).toBe(4);
  expect((await ask("runs")).rows).toMatchObject([
    { project: place.root, id: ended, status: "ended", outcome: "completed" },
  ]);
  expect((await ask("stats")).stages.map(({ stage }: { stage: string }) => stage)).toEqual(["build", "send"]);
  rmSync(join(place.root, ".pawl/archive", ended), { recursive: true });
  const told = await ask("run", { project: place.root, id: ended });
  expect(told.run).toMatchObject({ id: ended, outcome: "completed" });
  expect(texts(told)).toContainEqual("it claims BUILT");
});

test("a run and a loop that only figures know of: the project was removed", async () => {
  const root = join(place.base, "removed");
  mkdirSync(join(root, ".git"), { recursive: true });
  play(newWorld({ ...place, root }), [{ session: "gone", prompt: "/complete-work" }]);
  const left = () => ask("runs", {}).then(({ rows }) => rows.find((run: Data) => run.project === root));
  const { id: run } = await until(left);
  const looped = { workflow: "complete-work", stage: "memory", host: "claude", session: "s", kind: "looped" };
  const line = {
    v: 1,
    at: new Date().toISOString(),
    run,
    seq: 2,
    i: 0,
    ...looped,
    procedure: "plain",
    verdict: "failure",
  };
  for (const name of readdirSync(join(root, ".pawl/journal")))
    appendFileSync(join(root, ".pawl/journal", name), `${JSON.stringify(line)}\n`);
  expect((await ask("loops")).rows).toMatchObject([
    { project: root, id: run, running: false, waiting: null, lines: [] },
  ]);
  rmSync(root, { recursive: true });
  await until(async () => (await ask("now")).projects.every((one: Data) => one.root !== root) || undefined);
  const page = await ask("run", { project: root, id: run });
  expect(page).toMatchObject({ run: { id: run, status: "ended", outcome: "gone" }, timeline: [], canApprove: false });
  expect(page.stages).toMatchObject([{ stage: "memory", how: "ended" }]);
  expect((await left()).outcome).toBe("gone");
  expect((await ask("stats")).counts.live).toBe(0);
});

describe("the journal", () => {
  test("is newest first, and can be filtered and searched", async () => {
    const { rows } = await ask("journal");
    const times = rows.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort().reverse());
    expect(rows[0]).toMatchObject({ kind: "ended", project: place.root });
    const gated = (await ask("journal", { kind: "gated" })).rows;
    expect(gated.map(({ text }: { text: string }) => text.slice(0, 22))).toEqual([
      "gate a good look: pass",
      "gate a good look: fail",
    ]);
    expect((await ask("journal", { q: "A GOOD LOOK: FAIL" })).rows.length).toBe(1);
    expect((await ask("journal", { q: "no such words" })).rows).toEqual([]);
    expect((await ask("journal", { run: "nobody" })).rows).toEqual([]);
  });

  test("comes page by page: nothing twice, nothing left out, also while more is written", async () => {
    const dir = join(place.root, ".pawl/journal");
    mkdirSync(dir, { recursive: true });
    const line = (n: number) =>
      JSON.stringify({
        v: 1,
        at: new Date(Date.UTC(2020, 0, 1) + n).toISOString(),
        run: "old-run",
        seq: n,
        i: 0,
        kind: "missing",
        why: `${n} ${"ä".repeat(Math.abs(n) % 400)}`,
        gates: ["\u202egnp.exe"],
      });
    writeFileSync(join(dir, "2020-01.jsonl"), `${Array.from({ length: 700 }, (_, n) => line(n)).join("\n")}\n{"torn`);
    writeFileSync(join(dir, "2019-12.jsonl"), `${line(-1)}\n\n${line(-1)}\n`);
    const odd = ["constructor", "__proto__"].map((kind, seq) =>
      line(seq).replace("missing", kind).replace("old", "odd"),
    );
    writeFileSync(join(dir, "2018-01.jsonl"), `${odd.join("\n")}\n`);
    expect(texts({ timeline: (await ask("journal", { run: "odd-run" })).rows })).toEqual(["__proto__", "constructor"]);
    const found: number[] = [];
    let after = "";
    for (let pages = 0; pages < 20; pages++) {
      const page = await ask("journal", { run: "old-run", after });
      expect(page.rows[0].detail.gates).toEqual(["gnp.exe"]);
      found.push(...page.rows.map(({ seq }: { seq: number }) => seq));
      if (pages === 1) appendFileSync(join(dir, "2020-01.jsonl"), `\n${line(5000)}\n`);
      if (page.next === null) break;
      after = page.next;
    }
    expect(found).toEqual(Array.from({ length: 701 }, (_, n) => 699 - n));
  });
});

test("tasks are those of the tracker, in its order", async () => {
  writeFileSync(
    join(place.root, "session.md"),
    "# Session\n\n## Pending Tasks\n\n- [ ] **First <b>things</b>** — `/design` | opus\n- [ ] **Second** | sonnet\n",
  );
  const { tasks, problems } = await ask("tasks", { project: place.root });
  expect(problems).toEqual([]);
  expect(tasks).toMatchObject([
    { project: place.root, title: "First <b>things</b>", status: "ready", next: true, model: "opus" },
    { project: place.root, title: "Second", status: "ready", next: false },
  ]);
});

test("a question waits with its words on the run's own page, too", async () => {
  const other = makePlace();
  play(newWorld(other), TO_QUESTION);
  const page = await enter(await startDashboard(other));
  const waiting = runOf(other.root, "")!.id;
  const told = await page.data(`/api/run?${new URLSearchParams({ project: other.root, id: waiting })}`);
  expect(told.question.choices).toEqual([
    { name: "abort", label: "Abort and fix" },
    { name: "view", label: "View report" },
    { name: "continue", label: "Continue anyway" },
  ]);
  const reported = told.timeline.find(({ kind }: { kind: string }) => kind === "reported");
  expect(reported.detail.report).toContain("an empty catch (api.ts:42)");
});
