import { expect, setDefaultTimeout, test } from "bun:test";
import { makeClock } from "../harness/clock.ts";
import type { HookOutput } from "./client.ts";
import { type Received, say, use } from "./model.ts";
import { PAWL } from "./project.ts";
import { openScenario } from "./scenario.ts";

/** A long life of one formal workflow on the real client: three compactions, a crash, a night, and on it goes. */
setDefaultTimeout(90_000);

const DAY = 24 * 3600_000;
const NAME = "Feature Implementation (User Auth)";
const bash = (command: string) => use("Bash", { command, description: "Step" });
const START = bash(
  `${PAWL} runs start implementation --name "${NAME}" --phases "Design,Build,Test" --reading @README.md --reminder "Run tests"`,
);
const NEXT = bash(`${PAWL} runs phase next`);
const REMIND = bash(
  `sed -i 's/"Run tests"/"Run tests", "Ask before deploying"/' untracked/workflow-state/*/*.json && echo kept`,
);
const READ = bash("cat README.md");

const count = (text: string, part: string) => text.split(part).length - 1;
const stops = (outputs: HookOutput[]) =>
  outputs.filter(({ event }) => event === "Stop").map(({ stdout, stderr }) => stdout + stderr);

/** How often a request has each part of the guidance for a phase. */
const told = ({ text }: Received, id: string, phase: string) => ({
  phase: count(text, `\nPhase: ${phase} (in_progress)`),
  workflow: count(text, `\nWorkflow: ${NAME}\n`),
  reading: count(text, "REQUIRED READING (read ALL now with @ syntax):\n@README.md\n"),
  action: count(text, "ACTION REQUIRED:"),
  line: count(text, `✅ Workflow restored: ${NAME}, Phase ${phase.split(" ")[0]}`),
  run: count(text, `runs phase next --run ${id}`),
});
const ONCE = { phase: 1, workflow: 1, reading: 1, action: 1, line: 1, run: 1 };

test("three compactions, a killed client, a day: the agent goes on in the right phase with its reading done", async () => {
  let kill = () => {};
  const begin = [say("Good morning."), START, say("Begun.")];
  const rounds = [
    [READ, NEXT, say("Designed.")],
    [READ, REMIND, say("Building.")],
    [READ, NEXT],
  ];
  const resumed = [READ, say("Tested.")];
  await using scene = await openScenario({
    turns: [...begin, ...rounds.flat()],
    otherwise: (nth) => {
      if (nth === 1) kill();
      return resumed[nth - 2] ?? say("Nobody hears this.");
    },
  });
  const { model, project } = scene;
  const session = await scene.converse();
  kill = session.kill;
  await session.ask("Good morning"); // the client refuses to compact a single turn
  const { session: name } = await session.ask("Begin");
  const { id } = await scene.run();

  for (const phase of ["1/3 - Design", "2/3 - Build"]) {
    await session.ask("/compact");
    const first = model.main().length;
    const done = await session.ask("Go on");
    expect(told(model.main()[first]!, id, phase)).toEqual(ONCE);
    expect(stops(done.hookOutputs)).toEqual([""]);
  }
  await session.ask("/compact");
  const first = model.main().length;
  expect(await session.ask("Go on").then(String, String)).toContain("the client ended");
  expect(told(model.main()[first]!, id, "2/3 - Build")).toEqual(ONCE);
  expect(model.main()[first]!.text).toContain("- Run tests\n- Ask before deploying");
  const summaries = model.received().filter(({ kind }) => kind === "summary");
  expect(summaries.map(({ asked }) => count(asked, `"${NAME}" (run ${id}) is at phase`))).toEqual([1, 1, 1]);

  const clock = makeClock(project.home);
  clock.step(DAY);
  const next = model.main().length;
  const done = await scene.print("Where were we?", model, { resume: name, env: clock.env });

  const request = model.main()[next]!;
  expect(done.session).toBe(name);
  expect(told(request, id, "3/3 - Test")).toMatchObject({ phase: 1, line: 1 });
  expect(request.text.lastIndexOf("\nPhase: 3/3")).toBeGreaterThan(request.text.lastIndexOf("\nPhase: 2/3"));
  expect(request.text).toContain("- Run tests\n- Ask before deploying");
  expect(done.result).toBe("Tested.");
  expect(stops(done.hookOutputs)).toEqual([""]);
  const run = await scene.run();
  expect(run).toMatchObject({ id, status: "active", owner: { session: name }, formal: { phase: { current: 3 } } });
  expect(run.formal?.restored).toBeUndefined(); // the reading was looked at, and nothing was missing
  expect(Math.abs(Date.parse(run.updated_at) - clock.now())).toBeLessThan(DAY / 24);
});
