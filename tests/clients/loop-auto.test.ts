/** `pawl loop auto` with the real client: a fresh process for each task; the hooks take each through its stages. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LoopEvent } from "../loop/world.ts";
import { BROKEN_SUM, bash, suite, until } from "./gated.ts";
import { heard, type LoopedScene, only, openLooped, pause, sessionsOf } from "./looped.ts";
import { type Reply, type Script, say, use } from "./model.ts";

setDefaultTimeout(180_000);

const DOUBLES = resolve(import.meta.dir, "../doubles");
const TRACKED = { PATH: DOUBLES, DOUBLE_BUN: process.execPath };
const FILES = { ...suite(BROKEN_SUM), ".gitignore": ".beads/\n", "CLAUDE.md": "Write tests.\n" };

const marker = (name: string, before = "So be it.") => say(`${before}\n\n::: WORKFLOW_STAGE: ${name} :::`);
const edit = (from: string, to: string) => use("Edit", { file_path: "src/sum.mjs", old_string: from, new_string: to });
const review = use("Agent", { description: "Review", prompt: "Review the task.", subagent_type: "oracle-reviewer" });

/** All stages of a task; the last marker comes too early first. */
const task = (id: string, from: string, to: string): Reply[] => [
  bash(`bd show ${id}`),
  use("Read", { file_path: "src/sum.mjs" }),
  edit(from, to),
  marker("CODING_COMPLETE"),
  bash(`bd show ${id}`),
  marker("REQUIREMENTS_REVIEWED", "All of it is there."),
  bash("node --test tests/"),
  marker("TESTS_PASSING", "They pass."),
  bash(`git add -A && git commit -q -m "${id}"`),
  review,
  marker("ORACLE_APPROVED", "Approved."),
  marker("ISSUE_CLOSED", "Closed, I think."),
  bash(`bd close ${id} --reason done`),
  marker("ISSUE_CLOSED", "Closed."),
];

async function openTracked(script: Script): Promise<LoopedScene> {
  const scene = await openLooped(script, { files: FILES }, TRACKED);
  mkdirSync(join(scene.project.root, ".beads"));
  const create = (title: string, ...more: string[]) => bd(scene, "create", `--title=${title}`, ...more);
  create("Mend take", "--labels=auto-workflow", "--priority=1", "--description=take(3, 1) must be 2.");
  create("Multiply", "--labels=auto-workflow", "--description=mul(2, 3) must be 6.");
  create("Nobody asked for this", "--priority=0");
  return scene;
}

function bd({ project, env }: LoopedScene, ...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(DOUBLES, "bd"), ...args], { cwd: project.root, env });
  if (exitCode !== 0) throw new Error(`bd ${args.join(" ")}: ${stderr}`);
  return stdout.toString();
}

const statusOf = (scene: LoopedScene, id: string) => JSON.parse(bd(scene, "show", id, "--json"))[0].status;

const MEND = task("app-10", "b - a", "a - b");
const MULTIPLY = task("app-11", "export const take", "export const mul = (a, b) => a * b;\nexport const take");
const APPROVED = say("Nothing is left.\n\nAPPROVED");

/** Each stage of each task with what proved it, in one run that went from session to session. */
async function expectAllProved(scene: LoopedScene, sessions: string[], end: LoopEvent): Promise<void> {
  const { project, pawl } = scene;
  const { runs } = JSON.parse(pawl("runs", "--all", "--json"));
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ id: end.run, outcome: "completed", owner: { session: sessions.at(-1) } });
  expect(sessionsOf(project)).toEqual(sessions.toSorted());
  expect(["app-10", "app-11", "app-12"].map((id) => statusOf(scene, id))).toEqual(["closed", "closed", "open"]);
  expect((await project.git("log", "--format=%s", "-2")).split("\n")).toEqual(["app-11", "app-10"]);
  expect(await project.git("status", "--porcelain")).toBe("");
  const explained = pawl("explain", String(end.run));
  for (const id of ["app-10", "app-11"]) {
    const proofs = explained.slice(explained.indexOf(`\n${id}: `)).split("\n\n")[0]!;
    for (const proof of PROOFS) expect(proofs).toMatch(proof);
    expect(proofs).toContain(`the tracker says ${id} is closed`);
  }
}

const PROOFS = [
  /requirements-review: evidence task-read: the task was opened again/,
  /testing: evidence tests: `node --test tests\/`: 3 passed/,
  /oracle-review: evidence review: a reviewer approved/,
  /commit-close: git committed-or-clean: nothing is left to commit/,
];

test("two labelled tasks: a process for each, every stage proved, and it ends by itself", async () => {
  await using scene = await openTracked({ turns: [...MEND, ...MULTIPLY], agent: [APPROVED, APPROVED] });
  const { model } = scene;
  const told = await scene.loop("auto", "--no-preflight", "--json");

  expect([told.code, told.err, model.left()]).toEqual([0, "", 0]);
  expect(only(told.events, "iteration").map(({ verdict }) => verdict)).toEqual(["continue", "success"]);
  expect(told.events.at(-1)).toMatchObject({ outcome: "success", iterations: 2, cost_known: true });
  const second = model.main()[MEND.length]!;
  expect(model.main()[0]!.text).toContain("take(3, 1) must be 2.");
  expect(second.text).toContain("mul(2, 3) must be 6.");
  expect(second.text).not.toContain("take(3, 1)");
  expect(model.news(12)).toContain("ISSUE_CLOSED was not believed: tracker closed: the tracker says app-10 is claimed");
  const sessions = only(told.events, "iteration_begun").map(({ session }) => session as string);
  await expectAllProved(scene, sessions, told.events.at(-1)!);
});

test("kill -9 in the middle of a task: --resume takes the same task up where it stood", async () => {
  const coded = MULTIPLY.slice(0, 4);
  const later = MULTIPLY.slice(4);
  const script = {
    turns: [...MEND, ...coded, pause],
    agent: [APPROVED, APPROVED],
    otherwise: (nth: number) => later[nth - 1]!,
  };
  await using scene = await openTracked(script);
  const { project, model } = scene;
  const first = scene.start("auto", "--no-preflight", "--json");
  await until(() => existsSync(join(project.home, "here")));
  first.kill("SIGKILL");
  const cut = await heard(first);
  const told = await scene.loop("--resume", "--no-preflight", "--json");

  expect([told.code, told.err]).toEqual([0, ""]);
  const taken = model.main()[MEND.length + coded.length + 1]!;
  expect(taken.messages.filter(({ role }) => role === "assistant")).toEqual([]);
  expect(taken.text).toContain("CURRENT STAGE: REQUIREMENTS_REVIEW");
  expect(told.events.at(-1)).toMatchObject({ outcome: "success", iterations: 2 });
  const begun = [cut, told].flatMap(({ events }) => only(events, "iteration_begun"));
  expect(begun.map(({ iteration }) => iteration)).toEqual([1, 2, 2]);
  await expectAllProved(
    scene,
    begun.map(({ session }) => session as string),
    told.events.at(-1)!,
  );
});
