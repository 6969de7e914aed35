/** What a run is called on the pages: by its task, by what was asked for, and only then by its workflow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, removePlaces } from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { journalOf, runOf, runsOf } from "../harness/run-files.ts";
import { type Step, sessionOf, type World } from "../scenarios/scenario.ts";
import { type Client, enter, newWorld, play, startDashboard, stopDashboards } from "./ground.ts";

let place: Place;
let world: World;
let client: Client;

beforeAll(async () => {
  place = makePlace();
  world = newWorld(place);
  client = await enter(await startDashboard(place));
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

const pageOf = (id: string) => client.data(`/api/run?${new URLSearchParams({ project: place.root, id })}`);
const TASKS = "# Session\n\n## Pending Tasks\n\n- [ ] **Show the tax** — | sonnet | #auto-workflow\n";
const LONG = `Please do ${"many things and ".repeat(40)}more`;

test.each<[string, Step[], { title: string; workflow: string }]>([
  ["its workflow", [{ prompt: "/complete-work" }], { title: "Complete the work", workflow: "complete-work" }],
  [
    "what was asked for before",
    [{ prompt: "Mend the\n  rounding of \u001b[31mrefunds" }, { prompt: "/complete-work" }],
    { title: "Mend the rounding of refunds", workflow: "complete-work" },
  ],
  [
    "no more of it than a title holds",
    [{ prompt: LONG }, { prompt: "/complete-work" }],
    { title: `${LONG.slice(0, 159)}…`, workflow: "complete-work" },
  ],
  ["the command that is to pass", [{ prompt: "/until npm test" }], { title: "npm test", workflow: "until" }],
  [
    "a task",
    [{ write: { "session.md": TASKS } }, { prompt: "Whatever I said before" }, { prompt: "/auto" }],
    { title: "Show the tax", workflow: "auto-workflow" },
  ],
])("%s", async (name, steps, wanted) => {
  world.current = name;
  play(world, steps);
  const { id } = runOf(place.root, sessionOf(world).id)!;
  expect((await pageOf(id)).run).toMatchObject(wanted);
  const { live } = await client.data("/api/now");
  expect(live.find(({ run }: { run: string }) => run === id)).toMatchObject(wanted);
});

test("what is being done names the stage as the page does, however the workflow writes it", async () => {
  world.current = "a task";
  play(world, [{ stop: "I go on with it." }]);
  const { live } = await client.data("/api/now");
  const { doing, stage } = live.find(({ workflow }: { workflow: string }) => workflow === "auto-workflow");
  expect(stage).toBe("coding");
  expect(doing).toStartWith("Coding: ");
});

const PLAIN = `name: plain
title: Plain work
about: Says something.
success: It is done.
again: It is not.
failure: It cannot be done.
gates: [{ name: it is there, artefact: made.md }]
phases:
  act: [{ content: "Do it." }]
`;

test.each<[string, string[], string]>([
  ["the procedure", [], "Plain work"],
  ["what it was given", ["-c", "\n\n## Make the cart faster\n\nIt is slow."], "Make the cart faster"],
  ["the plan it was given", ["-c", "PLAN.md"], "Refunds in yen"],
])("a loop: %s", async (_, args, title) => {
  const agent = join(place.base, "agent");
  writeFileSync(
    agent,
    "#!/bin/sh\ncat >/dev/null\ndate >made.md\nprintf '\\n<promise>SUCCESS</promise>\\n\\nDone.\\n'\n",
  );
  chmodSync(agent, 0o755);
  play(world, [{ write: { ".pawl/procedures/plain.yaml": PLAIN, "PLAN.md": "---\ntitle: Refunds in yen\n---\n" } }]);
  const before = new Set(runsOf(place.root).map(({ id }) => id));
  expect(runByPerson(place, ["loop", "plain", "--ai-cmd", agent, "--no-preflight", ...args])).toMatchObject({
    code: 0,
  });
  const { id } = runsOf(place.root).find((run) => !before.has(run.id))!;
  expect((await pageOf(id)).run).toMatchObject({ title, workflow: "loop" });
  expect(journalOf(place.root).find((line) => line.run === id && line.kind === "armed")).toMatchObject({ title });
});
