/** Chains that end with handoff, commit and STATUS in the real client: carried out, left early, and not armed at all. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { complaints } from "./client.ts";
import { openControls, pawl } from "./controls.ts";
import { ALLOWED, BROKEN_SUM, bash, suite } from "./gated.ts";
import { type Model, type Reply, say, use } from "./model.ts";
import { installPlugin, installProgram } from "./plugin.ts";
import { answers, told } from "./scenario.ts";

setDefaultTimeout(120_000);

type Scene = Awaited<ReturnType<typeof openControls>>;

const SESSION = `# Session

## Pending Tasks

- [ ] **Mend take** — \`node --test tests/\` | sonnet
- [ ] **Multiply** — | opus | restart
`;
const FILES = { ...suite(BROKEN_SUM), "session.md": SESSION };
const PAWL = "~/.local/share/pawl/bin/pawl";
const STATUS = /^(Next: |No pending tasks\.)/gm;

const edit = (file_path: string, old_string: string, new_string: string) =>
  use("Edit", { file_path, old_string, new_string });
const look = (file_path: string) => use("Read", { file_path });

const WORK: Reply[] = [
  look("src/sum.mjs"),
  bash("node --test tests/"),
  edit("src/sum.mjs", "b - a", "a - b"),
  bash("node --test tests/"),
];
const EARLY = say("take is mended, and all 3 tests pass.");
const TAIL: Reply[] = [
  bash(`${PAWL} task done mend-take`),
  look("session.md"),
  edit("session.md", "## Pending Tasks", "## Current State\n\ntake subtracts the right way round.\n\n## Pending Tasks"),
  bash("git add src/sum.mjs session.md && git commit -q -m 'Mend take' -- src/sum.mjs session.md"),
  bash(`${PAWL} status`),
];

/** The model ends with what its last tool said, as it was asked to. */
async function openWork(turns: Reply[]): Promise<Scene> {
  const last = () => scene.model.main().at(-1)!.asked;
  const scene = await openControls(
    { turns, otherwise: () => say(`Mended and committed.\n\n${last()}`) },
    { files: FILES },
  );
  return scene;
}

/** What the hook wrote into the conversation after the nth reply. */
const feedback = (model: Model, nth: number) => model.news(nth).split("Stop hook additional context: ")[1] ?? "";

describe("xc", () => {
  test("runs its whole chain; a stop in its middle is sent on once, with what is missing", async () => {
    await using scene = await openWork([...WORK, EARLY, ...TAIL]);
    const { model, project } = scene;

    const done = await scene.print("xc", model, ALLOWED);

    expect(model.news(0)).toContain(
      "Start this task, it is yours and marked as in progress: **Mend take** (mend-take)",
    );
    expect(model.news(2)).toContain("fail 1");
    expect(model.news(4)).toContain("pass 3");
    const lines = feedback(model, WORK.length + 1).split("\n");
    expect(lines[0]).toBe(
      "[pawl] The chain Work → handoff → commit → STATUS has not come to its end. What is missing:",
    );
    expect(lines.filter((line) => line.startsWith("- ")).map((line) => line.split(" ")[1])).toEqual([
      "handoff",
      "commit",
      "STATUS",
    ]);
    expect(model.main()).toHaveLength(WORK.length + 1 + TAIL.length + 1);
    expect(answers(done.hookOutputs, "Stop")).toHaveLength(1);

    expect(await scene.run()).toMatchObject({ workflow: "tail", status: "ended", outcome: "completed" });
    expect(await project.read("session.md")).toContain("- [x] **Mend take**");
    expect(await project.read("session.md")).toContain("- [ ] **Multiply** — | opus | restart");
    expect(await project.git("status", "--porcelain")).toBe("");
    expect(await project.git("log", "-1", "--format=%s")).toBe("Mend take");
    expect(done.result).toContain("Next: Multiply\n  Model: opus | Restart: yes");
    expect(done.result.match(STATUS)).toHaveLength(1);
    expect(done.result).toContain((await pawl(project, "status")).trimEnd());
    expect(told(done.hookOutputs).join("")).not.toContain("ended without");
    expect(complaints(done.events)).toEqual([]);
    expect(done.hookOutputs.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);
  });

  test("carried out without a stop: nobody says anything", async () => {
    await using scene = await openWork([...WORK, ...TAIL]);

    const done = await scene.print("xc", scene.model, ALLOWED);

    expect(scene.model.main()).toHaveLength(WORK.length + TAIL.length + 1);
    expect(answers(done.hookOutputs, "Stop")).toEqual([]);
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
  });

  test("left early twice: the turn ends, and the person hears what is missing", async () => {
    await using scene = await openWork([...WORK, EARLY, say("As I said, it is done.")]);

    const done = await scene.print("xc", scene.model, ALLOWED);

    expect(done.result).toBe("As I said, it is done.");
    expect(scene.model.main()).toHaveLength(WORK.length + 2);
    const said = told(done.hookOutputs).filter((line) => line.includes("ended without"));
    expect(said).toEqual([
      expect.stringMatching(/^Pawl: the agent ended without handoff \(.*\); commit \(.*src\/sum\.mjs.*\); STATUS \(/),
    ]);
    expect(said[0]).toEndWith("It was reminded once.");
    expect(await scene.run()).toMatchObject({ workflow: "tail", status: "ended", outcome: "failed" });
    expect(await scene.project.read("session.md")).toContain("- [>] **Mend take**");
  });

  test("the person says something else meanwhile: the watch is over", async () => {
    await using scene = await openWork([...WORK, fail(), say("It is 3."), say("You are welcome.")]);
    const session = await scene.converse(scene.model, ALLOWED);
    await session.ask("xc");

    const next = await session.ask("What is take(5, 2)?");

    expect(next.result).toBe("It is 3.");
    expect(answers(next.hookOutputs, "Stop")).toEqual([]);
    expect(await scene.run()).toMatchObject({ workflow: "tail", status: "ended", outcome: "aborted" });
    await session.close();
  });
});

/** The API gives up in the middle of the turn: no stop is ever judged. */
function fail(): Reply {
  return { status: 500 };
}

// ── Skills ──────────────────────────────────────────────────────────────────

const OWN = "---\nname: commit\ndescription: Our way to commit.\n---\nCommit as this team does it.\n";
const DIRTY = bash("echo more >> README.md");
const TWICE = [DIRTY, say("All done."), say("All done, really.")];

interface Skill {
  typed: string;
  /** null: no one watches */
  chain: string | null;
  by: "init" | "plugin";
  files?: Record<string, string>;
  /** the skill's own text, as the model has to get it */
  text?: string;
}

const TEXT = "Tail: `[work] → handoff → commit → STATUS`";
const SKILLS: Skill[] = [
  { typed: "/handoff", by: "init", chain: "handoff → STATUS" },
  { typed: "/handoff --commit", by: "init", chain: "handoff → commit → STATUS" },
  { typed: "/commit", by: "init", chain: "commit → STATUS" },
  { typed: "/design a login", by: "init", chain: "Work → handoff → commit → STATUS" },
  { typed: "/pawl:handoff --commit", by: "plugin", chain: "handoff → commit → STATUS" },
  { typed: "/pawl:commit", by: "plugin", chain: "commit → STATUS" },
  { typed: "/commit", by: "init", chain: null, files: { ".claude/skills/commit/SKILL.md": OWN }, text: "as this team" },
  {
    typed: "/commit",
    by: "plugin",
    chain: null,
    files: { ".claude/skills/commit/SKILL.md": OWN },
    text: "as this team",
  },
  {
    typed: "/commit",
    by: "init",
    chain: null,
    files: { ".claude/commands/commit.md": "Commit as this team does it.\n" },
    text: "as this team",
  },
  { typed: "/pawl:commit", by: "init", chain: "commit → STATUS", files: { ".claude/skills/commit/SKILL.md": OWN } },
];

async function openSkills({ by, files = {} }: Skill): Promise<Scene> {
  const given = { files: { "session.md": SESSION, ...files } };
  if (by === "init") return openControls({ turns: TWICE }, given);
  const scene = await openControls({ turns: TWICE }, { ...given, init: null });
  await installProgram(scene.project);
  await installPlugin(scene.project);
  return scene;
}

describe("skills", () => {
  const named = SKILLS.map((skill) => [`${skill.typed} by ${skill.by}, ${skill.chain ?? "the person's own"}`, skill]);
  test.each(named as [string, Skill][])("%s", async (_, skill) => {
    await using scene = await openSkills(skill);
    const { model } = scene;

    const done = await scene.print(skill.typed, model, ALLOWED);

    expect(model.main()[0]!.text).toContain(skill.text ?? TEXT);
    expect(complaints(done.events)).toEqual([]);
    if (skill.chain === null) {
      expect([model.main().length, done.result]).toEqual([2, "All done."]);
      expect(told(done.hookOutputs).join("")).not.toContain("ended without");
      expect(await scene.project.list(".pawl/runs")).toEqual([]);
      return;
    }
    expect(feedback(model, 2)).toStartWith(`[pawl] The chain ${skill.chain} has not come to its end.`);
    expect([model.main().length, done.result]).toEqual([3, "All done, really."]);
    expect(told(done.hookOutputs).join("")).toContain("Pawl: the agent ended without ");
    expect(await scene.run()).toMatchObject({ workflow: "tail", outcome: "failed" });
  });
});

test("installed twice, by the plugin and by init: each chain is watched once, and sent on once", async () => {
  const rounds = 4;
  await using scene = await openControls(
    { turns: [], otherwise: (nth) => say(`All done, ${nth}.`) },
    { files: { "session.md": SESSION }, init: ["--team"] },
  );
  await installPlugin(scene.project);
  const session = await scene.converse();
  for (let round = 0; round < rounds; round++) {
    const { hookOutputs } = await session.ask("h");
    const asked = hookOutputs.filter(({ event }) => event === "UserPromptSubmit");
    // Both are called, one answers, and the model gets the shortcut's meaning once.
    expect([asked.length, asked.filter(({ stdout }) => stdout !== "").length]).toEqual([2, 1]);
    expect(scene.model.news(2 * round).split("[SHORTCUT: ")).toHaveLength(2);
    expect(scene.model.main()).toHaveLength(2 * (round + 1));
    expect(feedback(scene.model, 2 * round + 1)).toStartWith("[pawl] The chain handoff → STATUS has not come");
    expect(told(hookOutputs).filter((line) => line.includes("ended without"))).toHaveLength(1);
  }
  await session.close();
  expect(await scene.project.list(".pawl/archive")).toHaveLength(rounds);
});
