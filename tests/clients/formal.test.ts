import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HookOutput } from "./client.ts";
import { crowded, type Reply, SMALL_WINDOW, say, startModel, use } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { openScenario, ours, told } from "./scenario.ts";

/** Formal workflows on the real client: what its model is told after compaction, resume, kill, clear and fork. */
setDefaultTimeout(60_000);

const NAME = "Feature Implementation (User Auth)";
const STATE = "untracked/workflow-state";
const bash = (command: string) => use("Bash", { command, description: "Step" });
const START = bash(
  `${PAWL} runs start implementation --name "${NAME}" --phases "Design,Build,Test" --reading @README.md --reminder "Run tests"`,
);
const NEXT = bash(`${PAWL} runs phase next`);
const REMIND = bash(`sed -i 's/"Run tests"/"Run tests", "Ask before deploying"/' ${STATE}/*/*.json`);
const readme = (project: Project) => use("Read", { file_path: join(project.root, "README.md") });

const parts = (id: string, name: string, phase: string, reading = "@README.md") => [
  "⚠️ WORKFLOW RESTORED AFTER COMPACTION ⚠️",
  `Workflow: ${name}`,
  `Phase: ${phase} (in_progress)`,
  `REQUIRED READING (read ALL now with @ syntax):\n${reading}`,
  `✅ Workflow restored: ${name}, Phase ${phase.split(" ")[0]}`,
  `--run ${id}`,
];
const missing = (text: string, expected: string[]) => expected.filter((part) => !text.includes(part));
const spoken = (outputs: HookOutput[], event: string) =>
  outputs.filter((output) => output.event === event).map(({ stdout, stderr }) => stdout + stderr);

/** A scripted reply may need to know the project it is for. */
async function open(turns: ((project: Project) => Reply)[], otherwise?: (nth: number) => Reply) {
  const queue = [...turns];
  const scene: Awaited<ReturnType<typeof openScenario>> = await openScenario({
    turns: [],
    otherwise: (nth) => queue.shift()?.(scene.project) ?? otherwise?.(nth) ?? say("Nothing more."),
  });
  return scene;
}
const always = (reply: Reply) => () => reply;

describe("compaction", () => {
  test("by hand, twice: the next request has the guidance and what was written by hand in between", async () => {
    const turns = [always(START), always(say("Begun.")), always(REMIND), always(NEXT), readme, always(say("Built."))];
    await using scene = await open([always(say("Good morning.")), ...turns, readme, always(say("Tested."))]);
    const { model } = scene;
    const session = await scene.converse();
    await session.ask("Good morning"); // the client refuses to compact a single turn
    const begun = await session.ask("Begin");
    const { id, owner } = await scene.run();
    expect(owner?.session).toBe(begun.session);
    expect(model.main().at(-1)!.text).not.toContain("WORKFLOW RESTORED");

    await session.ask("/compact");
    const summary = model.received().find((one) => one.kind === "summary")!;
    expect(summary.asked).toContain(`"${NAME}" (run ${id}) is at phase 1/3 - Design`);
    const built = await session.ask("Go on");
    expect(missing(model.main()[3]!.text, parts(id, NAME, "1/3 - Design"))).toEqual([]);
    expect(spoken(built.hookOutputs, "Stop")).toEqual([""]);

    await session.ask("/compact");
    const tested = await session.ask("Go on");
    const again = [...parts(id, NAME, "2/3 - Build"), "- Run tests\n- Ask before deploying"];
    expect(missing(model.main()[7]!.text, again)).toEqual([]);
    expect(spoken(tested.hookOutputs, "Stop")).toEqual([""]);
    expect(await scene.run()).toMatchObject({ id, status: "active", formal: { phase: { current: 2 } } });
  });

  test("by itself, twice in one turn that also began the workflow: the same turn has it", async () => {
    const turns = [always(START), always(crowded(bash("echo one"))), always(REMIND), always(crowded(NEXT)), readme];
    await using scene = await open([...turns, always(say("Built."))]);

    const done = await scene.print("Begin", scene.model, { env: SMALL_WINDOW });

    const { id } = await scene.run();
    const requests = scene.model.main();
    expect(scene.model.received().filter(({ kind }) => kind === "summary")).toHaveLength(2);
    expect(spoken(done.hookOutputs, "UserPromptSubmit")).toEqual([""]);
    expect(missing(requests[2]!.text, parts(id, NAME, "1/3 - Design"))).toEqual([]);
    const again = [...parts(id, NAME, "2/3 - Build"), "- Run tests\n- Ask before deploying"];
    expect(missing(requests[4]!.text, again)).toEqual([]);
    expect(spoken(done.hookOutputs, "Stop")).toEqual([""]);
    expect(done.result).toBe("Built.");
  });
});

describe("a killed client", () => {
  const ends: [string, ((project: Project) => Reply)[], string | null][] = [
    ["the model reads the file and is left alone", [readme, always(say("Read."))], null],
    [
      "the model does not read and is sent back once",
      [always(say("I know.")), always(say("Still not."))],
      "@README.md",
    ],
  ];
  test.each(ends)("is resumed in the right phase: %s", async (_, after, back) => {
    let kill = () => {};
    const turns = [always(START), always(say("Begun.")), always(NEXT)];
    const crash = () => {
      kill();
      return say("Nobody hears this.");
    };
    await using scene = await open([...turns, crash, ...after]);
    const session = await scene.converse();
    kill = session.kill;
    const begun = await session.ask("Begin");
    expect(await session.ask("Go on").then(String, String)).toContain("the client ended");

    const done = await scene.print("Where were we?", scene.model, { resume: begun.session });

    const { id } = await scene.run();
    const requests = scene.model.main();
    expect(missing(requests[4]!.text, parts(id, NAME, "2/3 - Build"))).toEqual([]);
    expect(done.session).toBe(begun.session);
    const stops = spoken(done.hookOutputs, "Stop");
    expect(stops.filter((said) => said.includes("additionalContext") || said.includes('"block"'))).toHaveLength(
      back ? 1 : 0,
    );
    if (back) expect(scene.model.news(5)).toContain(`${back}\nRead these files`);
    else expect(stops).toEqual([""]);
    expect(requests).toHaveLength(6);
  });
});

describe("workflows that nobody registered", () => {
  const document = {
    workflow: "Migrate the Database",
    workflow_type: "custom",
    phase: { current: 2, total: 4, name: "Copy rows", status: "in_progress" },
    required_reading: ["README.md", "@docs/rows.md"],
    context: { table: "users" },
    key_reminders: ["Keep a backup"],
    created_at: "2026-01-02T03:04:05Z",
  };
  const PATH = `${STATE}/db-move/state-db-move-20260102_030405.json`;

  test("an agent's own document becomes its session's run at the next compaction, mended", async () => {
    const write = (project: Project) =>
      use("Write", { file_path: join(project.root, PATH), content: JSON.stringify(document) });
    await using scene = await open([always(say("Good morning.")), write, always(say("Written."))]);
    const session = await scene.converse(scene.model, { allow: ["Write"] });
    await session.ask("Good morning");
    const { session: name } = await session.ask("Plan it");
    expect(scene.project.exists(".pawl")).toBe(false);

    await session.ask("/compact");
    await session.ask("Go on");

    const { id, owner, formal, created_at } = await scene.run();
    expect(owner?.session).toBe(name);
    const expected = parts(id, document.workflow, "2/4 - Copy rows", "@README.md\n@docs/rows.md");
    expect(missing(scene.model.main()[3]!.text, [...expected, "- Keep a backup", '"table": "users"'])).toEqual([]);
    expect(formal?.required_reading).toEqual(["@README.md", "@docs/rows.md"]);
    expect(Date.parse(created_at)).toBe(Date.parse(document.created_at));
    expect(JSON.parse(await scene.project.read(PATH))).toMatchObject({ workflow: document.workflow, run: id });
    expect(await scene.project.list(STATE)).toEqual(["db-move"]);
  });

  const notes: [string, string, boolean][] = [
    ["with a workflow's name", "# Notes\n\nWorkflow: Ship the Parser\nPhase: 2/3 - Build it\n\n@README.md\n", true],
    ["without one", "# Notes\n\nPhase: 2/3 - Build it\n\n@README.md\n", false],
  ];
  test.each(notes)("CLAUDE.local.md %s", async (_, text, isFound) => {
    await using scene = await open([]);
    writeFileSync(join(scene.project.root, "CLAUDE.local.md"), text);
    const session = await scene.converse();
    for (const prompt of ["Good morning", "Go on", "/compact", "Go on"]) await session.ask(prompt);

    const heard = scene.model.main()[2]!.text;
    expect(scene.project.exists(".pawl")).toBe(isFound);
    expect(scene.project.exists(STATE)).toBe(isFound);
    if (!isFound) return expect(ours(heard)).toEqual([]);
    const { id } = await scene.run();
    expect(missing(heard, parts(id, "Ship the Parser", "2/3 - Build it"))).toEqual([]);
  });

  test("what was found in notes and finished does not come back, though the notes still name it", async () => {
    const quiet = [say("One."), say("Two.")].map(always);
    await using scene = await open([...quiet, always(bash(`${PAWL} runs finish`)), always(say("Finished."))]);
    writeFileSync(join(scene.project.root, "CLAUDE.local.md"), notes[0]![1]);
    const session = await scene.converse();
    for (const prompt of ["Good morning", "Go on", "/compact", "Finish"]) await session.ask(prompt);

    const again = await session.ask("/compact");
    expect(spoken(again.hookOutputs, "SessionStart")).toEqual([""]);
    expect(await scene.project.list(".pawl/archive")).toHaveLength(1);
    expect(await scene.project.list(".pawl/runs")).toEqual([]);
  });
});

describe("nobody else hears of it", () => {
  const begun = async () => {
    const scene = await open([always(START), always(say("Begun."))]);
    const session = await scene.converse();
    const { session: name } = await session.ask("Begin");
    return { scene, session, name, before: await scene.run() };
  };

  test("a second session", async () => {
    const { scene, name, before } = await begun();
    await using _ = scene;
    expect(before.owner?.session).toBe(name);
    const stranger = startModel({ turns: [] });
    const other = await scene.print("Say something", stranger);
    stranger.stop();

    expect(other.hookOutputs.map(({ stdout }) => stdout).join("")).toBe("");
    expect(ours(stranger.main()[0]!.text)).toEqual([]);
    expect(await scene.run()).toEqual(before);
  });

  test("a fork", async () => {
    const { scene, session, name, before } = await begun();
    await using _ = scene;
    const stranger = startModel({ turns: [] });
    const fork = await scene.print("And you?", stranger, { resume: name, args: ["--fork-session"] });
    stranger.stop();

    expect(fork.session).not.toBe(name);
    expect(stranger.main()[0]!.text).toContain("Begun.");
    expect(ours(stranger.main()[0]!.text)).toEqual([]);
    const original = await session.ask("Still here?");
    expect(original.hookOutputs.map(({ stdout }) => stdout).join("")).toBe("");
    expect(await scene.run()).toMatchObject({ id: before.id, status: "active", owner: { session: name } });
  });

  test("what follows /clear", async () => {
    const { scene, session, name, before } = await begun();
    await using _ = scene;
    const cleared = await session.ask("/clear");
    const after = await session.ask("What now?");

    expect(after.session).not.toBe(name);
    expect(ours(scene.model.main().at(-1)!.text)).toEqual([]);
    expect(scene.model.main().at(-1)!.text).not.toContain(before.id);
    expect(told([...cleared.hookOutputs, ...after.hookOutputs]).join("")).toContain(before.id);
    expect(await scene.run()).toMatchObject({ id: before.id, status: "active", owner: { session: name } });
  });
});
