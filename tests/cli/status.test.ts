/** `pawl status` as a person types it: whole output and exit code, from real processes. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bd, KINDS, openAuto } from "../auto/world.ts";
import { makePlace, openSession, type Place, payload, removePlaces, runHook, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { runOf } from "../harness/run-files.ts";
import { armed } from "./hook/hostile.ts";

afterAll(removePlaces);

const status = (place: Place, ...args: string[]) => runInProcess(place, ["status", ...args]);
const json = (place: Place, ...args: string[]) => JSON.parse(status(place, "--json", ...args).out);
const put = (place: Place, name: string, text: string) => writeFileSync(join(place.root, name), text);

const EXAMPLE = `## Pending Tasks
- [ ] **Implement ambient awareness** — \`/plan-adhoc plans/ambient-awareness/design.md\` | sonnet | no restart
- [ ] **Design runbook identifiers** — \`/design plans/runbook-identifiers/problem.md\` | opus
`;
const SHOWN = `Next: Implement ambient awareness
  \`/plan-adhoc plans/ambient-awareness/design.md\`
  Model: sonnet | Restart: no

Pending:
- Design runbook identifiers (opus)
`;

describe("tasks", () => {
  test("a project without any", () => {
    expect(status(makePlace())).toEqual({ code: 0, out: "No pending tasks.\n", err: "" });
    expect(status(makePlace({ git: false }))).toEqual({ code: 0, out: "No pending tasks.\n", err: "" });
  });

  test("session.md, also from a folder below; the tree is told apart", () => {
    const place = makePlace();
    put(place, "session.md", EXAMPLE);
    const changed = "\n1 file changed and not committed.\n";
    expect(status(place)).toEqual({ code: 0, out: SHOWN + changed, err: "" });
    mkdirSync(join(place.root, "deep/er"), { recursive: true });
    expect(runInProcess(place, ["status"], { cwd: join(place.root, "deep/er") }).out).toBe(SHOWN + changed);
    shell(place, "git add . && git commit -qm tasks");
    expect(status(place).out).toBe(SHOWN);
    shell(place, "git mv session.md agents-session.md && mkdir agents && git mv agents-session.md agents/session.md");
    expect(status(place).out).toBe(`${SHOWN}\n2 files changed and not committed.\n`);
  });

  test.each(KINDS)("%s: the next one first", (kind) => {
    const { place } = openAuto(kind, 3);
    expect(status(place)).toEqual({
      code: 0,
      out: "Next: Task 1\n  Model: sonnet | Restart: no\n\nPending:\n- Task 2\n- Task 3\n",
      err: "",
    });
    expect(json(place)).toMatchObject({ tracker: kind, failed: null, next: { title: "Task 1" }, pending: [{}, {}] });
  });

  test("beads knows best what is ready: what waited for a closed task is free", () => {
    const world = openAuto("beads", 2);
    const [first, second] = (JSON.parse(bd(world, "list --json")) as { id: string; title: string }[])
      .toSorted((a, b) => a.title.localeCompare(b.title))
      .map(({ id }) => id);
    bd(world, `dep add ${second} ${first}`);
    expect(status(world.place).out).toEndWith(`\n\nBlocked:\n- Task 2 (after ${first})\n`);
    bd(world, `close ${first} --reason=done`);
    expect(status(world.place).out).toBe("Next: Task 2\n  Model: sonnet | Restart: no\n");
  });

  test.each(["locked", "no-database", "truncated", "plain"])("a bd that answers “%s”: not known, exit 1", (fault) => {
    const { place } = openAuto("beads", 1);
    const { code, out } = runInProcess(place, ["status"], { env: { BD_DOUBLE_FAULT: fault } });
    expect(code).toBe(1);
    expect(out).toStartWith("Tasks not known: ");
  });

  test("tasks in beads and no bd to ask: not known, which is not none", () => {
    const place = makePlace();
    mkdirSync(join(place.root, ".beads"));
    const { code, out } = runInProcess(place, ["status"], { env: { PATH: "/usr/bin:/bin" } });
    expect(code).toBe(1);
    expect(out).toStartWith("Tasks not known: ");
    expect(out).toContain("bd is not installed");
    expect(out).not.toContain("No pending tasks");
  });

  test.each([
    ["session.md is a folder", (place: Place) => mkdirSync(join(place.root, "session.md"))],
    ["pawl.yaml has a mistake", (place: Place) => put(place, "pawl.yaml", "tracker: { kind: nope }\n")],
  ])("%s: says so, shows the rest, and exits with 1", (_name, spoil) => {
    const state = armed();
    spoil(state.place);
    const { code, out } = status(state.place);
    expect(code).toBe(1);
    expect(out.split("\n")[0]).toStartWith("Tasks not known: ");
    expect(out).toContain("- complete-work  ◉ ○ ○ ○  MEMORY  1 of 4, 0 min\n");
    expect(json(state.place)).toMatchObject({ failed: expect.any(String), next: null, runs: [{}] });
  });
});

describe("runs", () => {
  test("one at work is shown, and waits for nobody", () => {
    const { place, session } = armed();
    expect(status(place)).toEqual({
      code: 0,
      out: "No pending tasks.\n\nRuns:\n- complete-work  ◉ ○ ○ ○  MEMORY  1 of 4, 0 min\n",
      err: "",
    });
    expect(json(place).runs).toMatchObject([
      {
        id: runOf(place.root, session.id)!.id,
        workflow: "complete-work",
        session: session.id,
        stage: "MEMORY",
        step: 1,
        steps: 4,
        minutes: 0,
        task: "",
        paused: false,
        waits: null,
      },
    ]);
  });

  test("what waits comes with the command that resolves it", () => {
    const { place, session } = armed();
    const { id } = runOf(place.root, session.id)!;
    runInProcess(place, ["runs", "pause"]);
    const { out } = status(place);
    expect(out).toContain(`Waiting for you:\n- complete-work (${id}): paused by command: \`pawl runs resume ${id}\`\n`);
    const [, ...words] = /`([^`]+)`/.exec(out)![1]!.split(" ");
    expect(runInProcess(place, words).code).toBe(0);
    expect(status(place).out).not.toContain("Waiting for you:");
  });

  test("one whose session ended waits for another", () => {
    const { place, session } = armed();
    runHook(place, payload(place, session, "SessionEnd", { reason: "exit" }));
    expect(status(place).out).toContain(": no session has it: type /complete-work in one\n");
  });

  test("one that cannot be read keeps nothing else from being shown", () => {
    const { place, session } = armed();
    put(place, "session.md", EXAMPLE);
    const { id } = runOf(place.root, session.id)!;
    writeFileSync(join(place.root, ".pawl/runs", id, "workflow.json"), "{}");
    const { code, out } = status(place);
    expect(code).toBe(0);
    expect(out).toStartWith(SHOWN);
    expect(out).toContain(`Waiting for you:\n- run ${id} is damaged`);
  });
});

describe("--all", () => {
  test("every project with a session, those where something waits first, this one too", () => {
    const first = armed();
    const second: Place = { ...first.place, root: join(first.place.base, "a-second") };
    const third: Place = { ...first.place, root: join(first.place.base, "a-third") };
    for (const { root } of [second, third])
      shell(first.place, `cp -r README.md .git ${root} 2>/dev/null || git init -q ${root}`);
    const session = { ...openSession(second, "B"), turn: 1 };
    runHook(second, payload(second, session, "UserPromptSubmit", { prompt: "/complete-work" }), "local", {
      cwd: second.root,
    });
    runInProcess(first.place, ["runs", "pause"]);
    const { code, out } = runInProcess(third, ["status", "--all"], { cwd: third.root });
    expect(code).toBe(0);
    const heads = out.split("\n").filter((line) => line.startsWith("── "));
    expect(heads).toEqual([first.place.root, third.root, second.root].map((root) => `── ${root}`));
    const { projects } = JSON.parse(runInProcess(third, ["status", "--all", "--json"], { cwd: third.root }).out);
    expect(projects.map(({ root }: { root: string }) => root)).toEqual([first.place.root, third.root, second.root]);
    rmSync(second.root, { recursive: true });
    expect(runInProcess(third, ["status", "--all"], { cwd: third.root }).out).not.toContain(second.root);
  });
});

test("wrong use", () => {
  const place = makePlace();
  expect(status(place, "--bogus").code).toBe(2);
  expect(status(place, "now")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("unknown argument now"),
  });
});
