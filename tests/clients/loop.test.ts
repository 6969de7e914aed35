/** `pawl loop build` with the real client: three ready tasks, each in a session of its own. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BROKEN_SUM, bash, suite, until } from "./gated.ts";
import {
  heard,
  isAlive,
  keptLoop,
  type Looped,
  type LoopedScene,
  only,
  openLooped,
  pause,
  recordsOf,
  sessionsOf,
} from "./looped.ts";
import { type Reply, say, use } from "./model.ts";
import { ours } from "./scenario.ts";

setDefaultTimeout(180_000);

const TASKS = `## Pending Tasks

- [ ] **Mend take** — | sonnet
- [ ] **Multiply** — | sonnet
- [ ] **Divide** — | sonnet
`;
const FILES = { ...suite(BROKEN_SUM), "session.md": TASKS, "notes.md": "How to end:\n\n<promise>SUCCESS</promise>\n" };

const success = (after: string) => say(`<promise>SUCCESS</promise>\n\n${after}`);

/** One task as a careful agent does it: claim, read, edit, test, record, commit. */
const doing = (title: string, from: string, to: string) => ({
  claim: bash(`pawl task list && pawl task start "${title}"`),
  work: [
    use("Read", { file_path: "src/sum.mjs" }),
    use("Edit", { file_path: "src/sum.mjs", old_string: from, new_string: to }),
    bash("node --test tests/"),
    bash(`pawl task done "${title}" && git add src session.md && git commit -q -m "${title}"`),
  ],
});
const all = ({ claim, work }: ReturnType<typeof doing>): Reply[] => [claim, ...work];

const MEND = doing("Mend take", "b - a", "a - b");
const MULTIPLY = doing("Multiply", "export const take", "export const mul = (a, b) => a * b;\nexport const take");
const DIVIDE = doing("Divide", "export const take", "export const div = (a, b) => a / b;\nexport const take");

const verdicts = ({ events }: Looped) => only(events, "iteration").map(({ verdict }) => verdict);
const sessionsIn = ({ events }: Looped) => only(events, "iteration_begun").map(({ session }) => session as string);

async function expectAllDone({ project }: LoopedScene): Promise<void> {
  expect((await project.git("log", "--format=%s", "-3")).split("\n")).toEqual(["Divide", "Multiply", "Mend take"]);
  expect(await project.git("status", "--porcelain")).toBe("");
  expect((await project.read("session.md")).match(/^- \[x\]/gm)).toHaveLength(3);
}

/** One run for all of them, whose sessions are the iterations'; the client and Pawl agree on their ids. */
async function expectOneRun(scene: LoopedScene, sessions: string[], told: Looped): Promise<void> {
  expect(sessionsOf(scene.project)).toEqual(sessions.toSorted());
  const { runs } = JSON.parse(scene.pawl("runs", "--all", "--json"));
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({
    id: told.events.at(-1)?.run,
    outcome: "completed",
    owner: { session: sessions.at(-1) },
  });
  expect(recordsOf(await scene.run(), "iteration_begun").map(({ session }) => session)).toEqual(sessions);
  const journal = scene.pawl("log");
  expect(journal).not.toMatch(/paused|person's own|another session/);
  expect(scene.model.main().filter(({ text }) => /another session|paused it with a request/.test(text))).toEqual([]);
}

test("three tasks, three fresh sessions; SUCCESS counts when no task is left, and not before", async () => {
  const turns = [
    ...all(MEND),
    bash("cat notes.md"),
    success("take is mended."),
    say("Two tasks are ready yet."),
    ...all(MULTIPLY),
    bash("cat notes.md"),
    say("One is left."),
    ...all(DIVIDE),
    success("No task is left."),
  ];
  await using scene = await openLooped({ turns }, { files: FILES });
  const { model } = scene;
  const told = await scene.loop("build", "--no-preflight", "--json");

  expect([told.code, told.err, verdicts(told)]).toEqual([0, "", ["continue", "continue", "success"]]);
  expect([model.main().length, model.left()]).toEqual([turns.length, 0]);
  expect(model.news(6)).toContain("<promise>SUCCESS</promise>");
  expect(ours(model.news(7)).join()).toContain("step 1 of 1 (build)");
  expect(model.news(7)).toContain(
    "SUCCESS was not believed: no ready work remains: the tracker has ready work: multiply and 1 more.",
  );
  for (const [at, iteration] of [
    [0, 1],
    [8, 2],
    [15, 3],
  ] as const) {
    expect(model.main()[at]!.text).toContain(`[pawl] pawl loop build, iteration ${iteration}`);
    expect(model.main()[at]!.messages.filter(({ role }) => role === "assistant")).toEqual([]);
  }
  await expectAllDone(scene);
  await expectOneRun(scene, sessionsIn(told), told);
  const costs = only(told.events, "iteration").map(({ cost_usd }) => cost_usd as number);
  expect(costs.every((cost) => cost > 0)).toBe(true);
  expect(told.events.at(-1)).toMatchObject({ outcome: "success", exit: 0, iterations: 3, cost_known: true });
  expect(told.events.at(-1)?.cost_usd).toBeCloseTo(costs.reduce((sum, cost) => sum + cost, 0));
  expect(scene.pawl("explain")).toMatch(/✓ build: no ready work remains: no task is ready @ tree \w{10}\n/);
});

test("who insists on SUCCESS ends the iteration with it, but not the loop; the next one hears why", async () => {
  // The loop draws ten times a second: the first command lasts until it was drawn.
  const held = 'pawl task list && pawl task start "Mend take"; until [ -e "$HOME/seen" ]; do sleep 0.05; done';
  const turns = [
    bash(held),
    ...MEND.work,
    ...[1, 2, 3, 4].map((n) => success(`I insist (${n}).`)),
    ...all(MULTIPLY),
    say("One is left."),
    ...all(DIVIDE),
    success("No task is left."),
  ];
  await using scene = await openLooped({ turns }, { files: FILES });
  const { model } = scene;
  const drawn = until(() => scene.frames.some((frame) => SEEN[1]!.test(frame)));
  const done = scene.watch("build", "--no-preflight");
  await drawn;
  writeFileSync(join(scene.project.home, "seen"), "");
  const { code, frames } = await done;

  expect([code, model.left()]).toEqual([0, 0]);
  expect(model.main()[9]!.text).toContain("FROM THE LAST ITERATION");
  expect(model.main()[9]!.text).toContain("SUCCESS was not believed: no ready work remains");
  for (const part of SEEN) expect(frames.some((frame) => part.test(frame))).toBe(true);
  for (const part of SUMMARY) expect(frames.at(-1)).toMatch(part);
  await expectAllDone(scene);
});

/** While it works, and at the end: what happened and what it cost, on one screen. */
const SEEN = [
  /^pawl loop build with claude · at most 5 iterations/,
  /iteration 1 of 5 · \d+s · Bash pawl task list && pawl task start "Mend take"/m,
  /iteration 2 of 5 · \d+s · \$0\.0\d+ · 1 of 3 failed in a row · /,
];
const SUMMARY = [
  /^✔ build: SUCCESS$/m,
  /^✘ 1 refused · \S+ · \$0\.0\d+ · SUCCESS was not believed: no ready work remains/m,
  /^· 2 continue · \S+ · \$0\.0\d+ · One is left\.$/m,
  /^✔ 3 success · \S+ · \$0\.0\d+ · SUCCESS: No task is left\.$/m,
  /^ +3 iterations, 3 commits, \S+, \$0\.0\d+, \d+ tokens in, \d+ out$/m,
];

test("kill -9 in the middle of the second iteration: --resume has the same count and budget, and finishes", async () => {
  const turns = [...all(MEND), say("Two are left."), MULTIPLY.claim, pause];
  const later = [...MULTIPLY.work, say("One is left."), ...all(DIVIDE), success("No task is left.")];
  await using scene = await openLooped({ turns, otherwise: (nth) => later[nth - 1]! }, { files: FILES });
  const { project, model } = scene;
  const first = scene.start("build", "--no-preflight", "--json", "-n", "4", "--budget", "3");
  await until(() => existsSync(join(project.home, "here")));
  first.kill("SIGKILL");
  const cut = await heard(first);
  const left = keptLoop(project);
  expect(left).toMatchObject({ agent: { iteration: 2 }, state: { iterations: 1 } });
  // Its session is gone, once the killed client has been noticed: then someone has to take it up.
  expect(scene.pawl("runs")).toMatch(/ loop +(?:active|waiting) /);

  const told = await scene.loop("--resume", "--no-preflight", "--json");

  expect([told.code, told.err, isAlive(left.agent!.pid)]).toEqual([0, "", false]);
  expect(only(told.events, "iteration_begun").map(({ iteration, max }) => [iteration, max])).toEqual([
    [2, 4],
    [3, 4],
  ]);
  expect(model.main()[turns.length]!.text).toMatch(/USD budget: \$0\/\$2\.99\d*; /);
  const spent = [cut, told].flatMap(({ events }) => only(events, "iteration").map((one) => one.cost_usd as number));
  expect(told.events.at(-1)).toMatchObject({ id: left.state.id, iterations: 3, outcome: "success", cost_known: false });
  expect(told.events.at(-1)?.cost_usd).toBeCloseTo(spent.reduce((sum, cost) => sum + cost, 0));
  await expectAllDone(scene);
  await expectOneRun(scene, [...sessionsIn(cut), ...sessionsIn(told)], told);
});

test("work that is claimed and left is not done: SUCCESS is refused, and the tasks are ready again", async () => {
  const claims = ["Mend take", "Multiply", "Divide"].map((title) => `pawl task start "${title}"`).join(" && ");
  await using scene = await openLooped(
    { turns: [bash(`${claims} && git commit -qam Mine`), ...["One", "Two", "Three", "Four"].map(success)] },
    { files: FILES },
  );
  const { model } = scene;
  const told = await scene.loop("build", "--no-preflight", "--json", "-n", "1");
  expect([told.code, verdicts(told)]).toEqual([2, ["refused"]]);
  // In the session it hears of its own claims; when that is over they are free, and still to be done.
  expect(model.main()[2]!.text).toContain("mend-take was claimed in this session and is not done");
  expect(told.events.at(-2)?.why).toContain("the tracker has ready work: mend-take and 2 more");
  expect(await scene.project.read("session.md")).toBe(TASKS);
});

const MEANWHILE: [string[], Partial<Record<string, unknown>>][] = [
  [["runs", "pause"], { outcome: "interrupted", exit: 130 }],
  [["runs", "abort"], { outcome: "aborted", exit: 1 }],
];
test.each(MEANWHILE)(
  "`pawl %p` from another terminal: SUCCESS without checks is none, and no iteration follows",
  async (words, end) => {
    await using scene = await openLooped({ turns: [pause, success("All is done.")] }, { files: FILES });
    const { project, model } = scene;
    const loop = scene.start("build", "--no-preflight", "--json");
    await until(() => existsSync(join(project.home, "here")));
    scene.pawl(...words);
    writeFileSync(join(project.home, "seen"), "");
    const told = await heard(loop);
    expect([told.code, verdicts(told)]).toEqual([end.exit as number, ["refused"]]);
    expect(told.events.at(-1)).toMatchObject(end);
    expect(model.main()).toHaveLength(2);
  },
);
