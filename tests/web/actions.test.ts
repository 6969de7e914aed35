/** What the person does on the page reaches the waiting run, as if it had been said in the session or at a terminal. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { makePlace, type Place, removePlaces } from "../harness/harness.ts";
import { journalOf, runOf } from "../harness/run-files.ts";
import { perform, sessionOf, type World } from "../scenarios/scenario.ts";
import { type Client, enter, newWorld, play, startDashboard, stopDashboards, TO_QUESTION } from "./ground.ts";

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

const run = () => runOf(place.root, sessionOf(world).id)!;
const act = (action: string, more: Record<string, string> = {}) =>
  client.act({ project: place.root, run: run().id, action, ...more });
const said = (step: Parameters<typeof perform>[1]) => perform(world, step).ran!.out;
const recorded = (kind: string) => journalOf(place.root).filter((line) => line.kind === kind);
const needs = async () => (await client.data("/api/now")).needs;

describe("an answer to a question", () => {
  beforeEach(() => play(world, TO_QUESTION));

  test("moves the run, and the agent gets it with the next prompt in its session", async () => {
    const [need] = await needs();
    expect(need).toMatchObject({ project: place.root, run: run().id, workflow: "complete-work", kind: "question" });
    expect(need).toMatchObject({
      what: "your decision is needed (Critical review issues detected)",
      how: "answer in its session: 1 Abort and fix · 2 View report · 3 Continue anyway",
    });
    expect(need.question.text).toContain("an empty catch (api.ts:42)");
    expect(need.question.text).not.toContain("3. Continue anyway");
    expect(need.question.choices.map((one: { name: string }) => one.name)).toEqual(["abort", "view", "continue"]);
    const done = await act("answer", { choice: "continue", asked: need.question.asked });
    expect(done).toMatchObject({ status: 200, ok: true });
    expect(done.waits).toBe("the agent gets it with the next prompt in its session");
    expect(run()).toMatchObject({ stage: "cleanup", status: "active" });
    expect(recorded("decided")).toMatchObject([{ choice: "continue", how: "dashboard" }]);
    expect(await needs()).toMatchObject([{ kind: "stopped", what: "its next instruction waits for your prompt" }]);
    // The agent stops before it could have heard: that is no arrival.
    play(world, [{ stop: "I wait for you." }]);
    expect(recorded("delivered").filter(({ given_by }) => given_by === "nothing")).toEqual([]);
    expect(said({ prompt: "and?" })).toContain("step 3 of 4 (cleanup)");
    play(world, [{ stop: "<promise>CLEANUP_SKIPPED</promise>" }]);
    expect(run().outcome).toBe("completed");
  });

  test("that ends the run ends it", async () => {
    const done = await act("answer", { choice: "abort" });
    expect(done).toMatchObject({ status: 200, ok: true });
    expect(done.message).toContain("Not completed:");
    expect(done.waits).toBeUndefined();
    expect(run()).toMatchObject({ status: "ended", outcome: "aborted" });
    expect(await act("answer", { choice: "continue" })).toMatchObject({
      status: 409,
      ok: false,
      message: `run ${run().id} has ended`,
    });
  });

  test("that asks for the report shows it here, and the question stays", async () => {
    const done = await act("answer", { choice: "view" });
    expect(done.message).toContain("an empty catch (api.ts:42)");
    expect(run().status).toBe("waiting");
    expect((await needs())[0].kind).toBe("question");
    expect(said({ prompt: "hello" })).not.toContain("Print it to them");
  });

  test.each(["", "maybe", "1", "Continue anyway", "constructor", "__proto__"])(
    "%s is none of the choices",
    async (choice) => {
      const done = await act("answer", { choice });
      expect([400, 409]).toContain(done.status);
      expect(run()).toMatchObject({ status: "waiting", stage: "review" });
      expect(recorded("decided")).toEqual([]);
    },
  );

  test("to a question that was put before counts for no later one", async () => {
    const done = await act("answer", { choice: "continue", asked: "2020-01-01T00:00:00.000Z" });
    expect(done).toMatchObject({ status: 409, message: "not accepted: another question was put meanwhile." });
    expect(run().status).toBe("waiting");
  });

  test("given twice counts once", async () => {
    const both = await Promise.all([act("answer", { choice: "continue" }), act("answer", { choice: "continue" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(recorded("decided").length).toBe(1);
  });
});

test("where no question is open, nothing is answered", async () => {
  play(world, [{ prompt: "/complete-work" }]);
  const before = run();
  const done = await act("answer", { choice: "continue" });
  expect(done).toMatchObject({ status: 409, message: `not accepted: no question is open in run ${before.id}.` });
  expect(run()).toMatchObject({ stage: before.stage, status: "active" });
});

const SHIP = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { to: send, gates: [{ person: "Have you looked at the diff?" }] }
  - id: send
    say: Send it.
    on:
      SENT: { end: completed }
`;

describe("an approval", () => {
  test("is the person's own, with name and way on record", async () => {
    play(world, [
      { write: { ".pawl/workflows/ship.yaml": SHIP } },
      { prompt: "/ship" },
      { stop: "<promise>BUILT</promise>" },
    ]);
    const [need] = await needs();
    expect(need).toMatchObject({
      kind: "approval",
      canApprove: true,
      what: "your approval is needed (Have you looked at the diff?)",
    });
    const page = await client.data(`/api/run?${new URLSearchParams({ project: place.root, id: run().id })}`);
    expect(page).toMatchObject({ canApprove: true, claimed: need.claimed });
    const early = await act("approve", { asked: "2020-01-01T00:00:00.000Z" });
    expect(early).toMatchObject({ status: 409, message: "not accepted: the agent has claimed again since." });
    expect(recorded("approved")).toEqual([]);
    const done = await act("approve", { why: "seen", asked: need.claimed });
    expect(done).toMatchObject({
      status: 200,
      ok: true,
      waits: "the agent gets it with the next prompt in its session",
    });
    expect(recorded("approved")).toMatchObject([{ how: "dashboard", gate: "Have you looked at the diff?" }]);
    expect(recorded("approved")[0]!.who).not.toBe("someone");
    expect(run().stage).toBe("send");
    expect(said({ prompt: "well?" })).toContain("Send it.");
  });

  test("is not offered where the commands of a gate wait for `pawl trust`", async () => {
    const untrusted = SHIP.replace('{ person: "Have you looked at the diff?" }', '{ shell: "true", name: a look }');
    play(world, [
      { write: { ".pawl/workflows/ship.yaml": untrusted } },
      { prompt: "/ship" },
      { stop: "<promise>BUILT</promise>" },
    ]);
    const waits = {
      what: "BUILT is unproven (commands not approved: a look)",
      how: "run `pawl trust` in its project, then type /pawl:go in its session",
    };
    expect(await needs()).toMatchObject([{ canApprove: false, ...waits }]);
    const page = await client.data(`/api/run?${new URLSearchParams({ project: place.root, id: run().id })}`);
    expect(page).toMatchObject({ canApprove: false, waits });
    play(world, [{ trust: true }, { prompt: "/pawl:go" }, { stop: "Again.\n\n<promise>BUILT</promise>" }]);
    expect(run().stage).toBe("send");
  });

  test("is offered for a claim that nobody can prove, for as long as it is the newest", async () => {
    const unproven = SHIP.replace('{ person: "Have you looked at the diff?" }', '{ shell: "exit 127", name: a look }');
    play(world, [
      { write: { ".pawl/workflows/ship.yaml": unproven } },
      { trust: true },
      { prompt: "/ship" },
      { stop: "<promise>BUILT</promise>" },
    ]);
    const [need] = await needs();
    expect(need).toMatchObject({ kind: "approval", canApprove: true, how: `\`pawl approve ${run().id}\`` });
    expect(need.what).toStartWith("BUILT is unproven (a look: ");
    expect(await act("approve", { asked: need.claimed })).toMatchObject({ status: 200 });
    expect(run().stage).toBe("send");
    expect(await needs()).toMatchObject([{ kind: "stopped", what: "its next instruction waits for your prompt" }]);
  });

  test("of nothing is refused", async () => {
    play(world, [{ prompt: "/complete-work" }]);
    const done = await act("approve");
    expect(done.status).toBe(409);
    expect(done.message).toStartWith("nothing waits for an approval");
  });
});

describe("the other commands", () => {
  beforeEach(() => play(world, [{ prompt: "/complete-work" }]));

  test("pause and resume", async () => {
    expect(await act("pause", { why: "lunch" })).toMatchObject({ status: 200, ok: true });
    expect(run().paused).toMatchObject({ firm: true });
    expect((await needs())[0]).toMatchObject({ kind: "paused", what: "paused by command" });
    const done = await act("resume");
    expect(done).toMatchObject({ status: 200, waits: "the agent gets it with the next prompt in its session" });
    expect(run().paused).toBeUndefined();
    expect(said({ prompt: "go on" })).toContain("step 1 of 4");
  });

  test("abort", async () => {
    expect(await act("abort", { why: "another time" })).toMatchObject({ status: 200, ok: true });
    expect(run()).toMatchObject({ status: "ended", outcome: "aborted" });
    expect(recorded("commanded")).toMatchObject([{ name: "abort", why: "another time" }]);
    expect((await client.data("/api/now")).live).toEqual([]);
  });

  test("adopt frees it for another session", async () => {
    const { id } = run();
    expect((await act("adopt")).message).toContain(`Run ${id} is free.`);
    expect((await needs())[0]).toMatchObject({ kind: "free", what: "no session has it" });
    world.current = "two";
    expect(said({ prompt: "/complete-work" })).toContain("step 1 of 4");
    expect(runOf(place.root, sessionOf(world).id)!.id).toBe(id);
  });
});
