/** Several agents in one project: each has its own task, and what a dead one left behind is taken up, once. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openSession, payload, removePlaces } from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import {
  type AutoWorld,
  ageClaims,
  asDeadClient,
  claim,
  gh,
  type Heard,
  holders,
  KINDS,
  openAuto,
  prompt,
  put,
  sendHook,
  sh,
} from "./world.ts";

setDefaultTimeout(90_000);
afterAll(removePlaces);

const NAMES = ["A", "B", "C", "D", "E", "F", "G", "H"];

/** `/auto` typed in each of these sessions at the same moment. */
async function allAtOnce(world: AutoWorld, names: string[], vias = ["local"]): Promise<Heard[]> {
  const calls = names.flatMap((name) => vias.map((via) => sendHook(world, typed(world, name), {}, via)));
  return Promise.all(calls);
}

const typed = ({ place }: AutoWorld, name: string) =>
  payload(place, { ...openSession(place, name), turn: 1 }, "UserPromptSubmit", { prompt: "/auto" });

const given = (heard: Heard[]) => heard.flatMap(({ agent }) => /^- The task: (\S+)/m.exec(agent)?.[1] ?? []);

describe.each(KINDS)("%s", (kind) => {
  test("two sessions with /auto at once never get the same task", async () => {
    const world = openAuto(kind, 2);
    const tasks = given(await allAtOnce(world, ["A", "B"]));
    expect(tasks).toHaveLength(2);
    expect(new Set(tasks).size).toBe(2);
  });

  test("eight at once: one task each, and whoever is left without one is told so", async () => {
    const world = openAuto(kind, 5);
    const heard = await allAtOnce(world, NAMES);
    const tasks = given(heard);
    expect(new Set(tasks).size).toBe(tasks.length);
    expect(tasks).toHaveLength(5);
    expect(new Set(Object.values(holders(world))).size).toBe(5);
    expect(heard.map(({ code }) => code)).toEqual(NAMES.map(() => 0));
    const without = heard.filter(({ agent }) => agent === "");
    expect(without).toHaveLength(3);
    for (const { person } of without)
      expect(person).toMatch(/^Pawl: No auto-workflow task is free: 5 are being worked on \(\S+ by pawl-\S+, .*, …\)$/);
  });

  test("a prompt that two hooks deliver takes one task only", async () => {
    const world = openAuto(kind, 3);
    const heard = await allAtOnce(world, ["A"], ["local", "project", "plugin", "user"]);
    expect(given(heard)).toHaveLength(1);
    expect(Object.keys(holders(world))).toHaveLength(1);
  });

  test("a claim of a dead session expires and is taken, and it is said", () => {
    const world = openAuto(kind, 1);
    const left = asDeadClient(world.place, typed(world, "dead"));
    expect(left.agent).toContain("CURRENT STAGE: CODING");
    const [held] = Object.values(holders(world));
    const taken = prompt(world, "/auto");
    expect(taken.agent).toContain("CURRENT STAGE: CODING");
    expect(taken.person).toContain(held!.split("@")[0]!);
    expect(Object.values(holders(world))[0]).not.toBe(held!);
    expect(claim(world, "CODING_COMPLETE").agent).toContain("CURRENT STAGE: REQUIREMENTS_REVIEW");
  });

  test("a claim of a session that is still there does not expire, however old", () => {
    const world = openAuto(kind, 1);
    expect(prompt(world, "/auto").agent).toContain("CURRENT STAGE: CODING");
    const before = holders(world);
    ageClaims(world);
    world.current = "B";
    expect(prompt(world, "/auto").agent).toBe("");
    expect(holders(world)).toEqual(before);
  });

  test("eight at once take up what one dead session left behind once", async () => {
    const world = openAuto(kind, 1);
    asDeadClient(world.place, typed(world, "dead"));
    ageClaims(world);
    const heard = await allAtOnce(world, NAMES);
    expect(given(heard)).toHaveLength(1);
    expect(Object.keys(holders(world))).toHaveLength(1);
  });

  test("where Pawl is switched off, nothing is claimed", () => {
    const world = openAuto(kind, 1);
    expect(runByPerson(world.place, ["off"]).code).toBe(0);
    expect(prompt(world, "/auto").agent).toBe("");
    expect(holders(world)).toEqual({});
  });
});

test("a tracker without atomic claims is refused when another machine's claim is seen", () => {
  const world = openAuto("session-md", 1);
  const away =
    "- [>] **Elsewhere** — | sonnet | #auto-workflow | @pawl-1a2b3c4d on laptop-3f2a since 2026-11-15T10:00:00Z\n";
  put(world, "session.md", `## Pending Tasks\n${away}- [ ] **Here** — | sonnet | #auto-workflow\n`);
  const { agent, person } = prompt(world, "/auto");
  expect(agent).toBe("");
  expect(person).toContain("laptop-3f2a");
  expect(Object.keys(holders(world))).toEqual(["Elsewhere"]);
});

// ── GitHub: a claim is a comment, and nothing is atomic ─────────────────────

/** The same repository at GitHub, in another checkout; by another home it is another machine's. */
function checkout(world: AutoWorld, name: string, home: "this machine" | "another machine"): AutoWorld {
  const root = join(world.place.base, name);
  sh(world, `git clone -q . ${root} && git -C ${root} remote set-url origin https://github.com/o/r.git`);
  if (home === "this machine") return { ...world, place: { ...world.place, root } };
  const elsewhere = join(world.place.base, `${name}-home`);
  mkdirSync(elsewhere);
  const env = { ...world.place.env, HOME: elsewhere };
  return { ...world, place: { ...world.place, root, home: elsewhere, env } };
}

const wordsOn = (world: AutoWorld, number: string) =>
  (JSON.parse(gh(world, `view ${number} --json comments`)).comments as { body: string }[]).map(
    ({ body }) => /pawl:(\w+) /.exec(body)![1],
  );

describe("issues at GitHub", () => {
  test("comments that are shown late do not make two sessions share one", async () => {
    const world = openAuto("github", 4);
    world.place.env.GH_DOUBLE_FAULT = "lag";
    const tasks = given(await allAtOnce(world, NAMES.slice(0, 4)));
    world.place.env.GH_DOUBLE_FAULT = "";
    expect(tasks.sort()).toEqual(["1", "2", "3", "4"]);
    for (const task of tasks) expect(wordsOn(world, task)).toEqual(["claim"]);
  });

  test("sessions in several checkouts of one machine, which share no lock, never share one", async () => {
    const world = openAuto("github", 4);
    const places = ["one", "two", "three"].map((name) => checkout(world, name, "this machine"));
    const heard = await Promise.all([world, ...places].map((at, nth) => sendHook(at, typed(at, NAMES[nth]!))));
    const tasks = given(heard);
    expect(tasks.sort()).toEqual(["1", "2", "3", "4"]);
    expect(new Set(Object.values(holders(world))).size).toBe(4);
  });

  test("a claim seen from another machine is refused, and it is said whose it is and why", () => {
    const world = openAuto("github", 2);
    expect(prompt(world, "/auto").agent).toContain("- The task: 1");
    const before = holders(world);
    const { agent, person } = prompt({ ...checkout(world, "away", "another machine"), sessions: {} }, "/auto");
    expect(agent).toBe("");
    expect(person).toMatch(
      /^Pawl: auto-workflow did not start: 1 is claimed by pawl-\S+ on \S+, and github is not safe to share: work through its tasks on one machine$/,
    );
    expect(holders(world)).toEqual(before);
    expect(wordsOn(world, "2")).toEqual([]);
  });

  test("two machines at once: one has it, the other is told so and has let go", async () => {
    const world = openAuto("github", 2);
    const away = checkout(world, "away", "another machine");
    const heard = await Promise.all([sendHook(world, typed(world, "A")), sendHook(away, typed(away, "B"))]);
    expect(given(heard)).toEqual(["1"]);
    expect(Object.keys(holders(world))).toEqual(["1"]);
    expect(heard.find(({ agent }) => agent === "")!.person).toMatch(/did not start: 1 is .*machine/);
  });
});
