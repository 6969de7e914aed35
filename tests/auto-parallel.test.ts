/** Several agents in one project: each has its own task, and what a dead one left behind is taken up, once. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  type AutoWorld,
  ageClaims,
  asDeadClient,
  claim,
  type Heard,
  holders,
  KINDS,
  openAuto,
  prompt,
  put,
  sendHook,
} from "./auto-world.ts";
import { openSession, payload, removePlaces, runPawl } from "./harness.ts";

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
    for (const { agent, person, code } of heard)
      expect({ code, told: agent !== "" || person !== "" }).toEqual({ code: 0, told: true });
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
    expect(prompt(world, "/auto").agent).toBe("");
    expect(Object.values(holders(world))).toEqual([held!]);

    ageClaims(world);
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
    expect(runPawl(world.place, ["off"]).code).toBe(0);
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
