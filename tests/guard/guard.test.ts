/** A session without a run claims that it is done: what the person hears, and what the agent. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { payload, removePlaces, runHook, runPawl } from "../harness/harness.ts";
import { CLAIM, type Guarded, openGuarded, PASSED } from "./guarded.ts";

let at: Guarded;
beforeEach(() => {
  at = openGuarded();
});
afterAll(removePlaces);

const inSubagent = () => join(at.session.transcript.replace(/\.jsonl$/, ""), "subagents/agent-a1.jsonl");

describe("the person hears one line", () => {
  test.each<[string, () => unknown[], RegExp]>([
    [
      "stale",
      () => [at.edit("src/a.ts"), at.green(), at.edit("src/b.ts")],
      /^Pawl: src\/b\.ts was edited after the last green run \(npm test, 14:0\d\)\. Nothing proves the claim\./,
    ],
    [
      "failed",
      () => [at.edit("src/a.ts"), at.red()],
      /^Pawl: the last run \(npm test, 14:0\d\) failed: 1 failed, 11 passed \(vitest\)\. Nothing proves the claim\./,
    ],
    [
      "never ran",
      () => [at.edit("src/a.ts")],
      /^Pawl: src\/a\.ts was edited, and no test run followed\. Nothing proves/,
    ],
    [
      "only a part",
      () => [at.edit("src/a.ts"), at.tool("Bash", { command: "npm test -- -t one" }, PASSED)],
      /^Pawl: src\/a\.ts was edited, and the run \(npm test -- -t one, .*\) proves nothing: only a part/,
    ],
    [
      "edited by a sub-agent",
      () => [
        at.edit("src/a.ts"),
        at.green(),
        at.tool("Edit", { file_path: join(at.place.root, "src/c.ts") }, "ok", false, inSubagent()),
      ],
      /^Pawl: src\/c\.ts was edited after the last green run/,
    ],
    [
      "edited by a command, by its absolute path",
      () => [at.green(), at.tool("Bash", { command: `echo x > ${at.place.root}/src/d.ts` })],
      /^Pawl: src\/d\.ts was edited after the last green run/,
    ],
    [
      "edited by a command",
      () => [at.green(), at.tool("Bash", { command: "sed -i s/a/b/ src/d.ts" })],
      /^Pawl: src\/d\.ts was edited after the last green run/,
    ],
  ])("%s", (_, work, line) => {
    at.prompt();
    work();
    const said = at.stop();
    expect(said.person).toMatch(line);
    expect(said.person).not.toContain("\n");
    expect(said.agent).toBeUndefined();
  });

  test("once a turn, and how to switch it off once a session", () => {
    at.prompt();
    at.edit("a.ts");
    expect(at.stop().person).toContain("`guard: off` in pawl.yaml");
    expect(at.stop("Done, really.")).toEqual({});
    at.prompt();
    at.edit("a.ts");
    const again = at.stop().person;
    expect(again).toContain("Nothing proves the claim.");
    expect(again).not.toContain("pawl.yaml");
  });

  test("from one of two hooks", () => {
    at.prompt();
    at.edit("a.ts");
    const both = [at.stop(CLAIM, { via: "local" }), at.stop(CLAIM, { via: "plugin", written: false })];
    expect(both.filter((said) => said.person !== undefined)).toHaveLength(1);
  });

  test("from one of two hooks that start at the same moment", async () => {
    for (let turn = 0; turn < 8; turn++) {
      at.prompt();
      at.edit("a.ts");
      const said = await Promise.all(at.stopBoth(["local", "plugin"]));
      expect(said.filter((out) => out.includes("Nothing proves the claim"))).toHaveLength(1);
    }
  });

  test("what sessions of long ago left behind goes", () => {
    const folder = join(at.place.home, ".local/state/pawl/guard");
    mkdirSync(folder, { recursive: true });
    for (const [name, days] of [
      ["claude-old", 40],
      ["claude-new", 20],
    ] as const) {
      writeFileSync(join(folder, name), "x local\n");
      const then = new Date(Date.now() - days * 86_400_000);
      utimesSync(join(folder, name), then, then);
    }
    at.prompt();
    at.edit("a.ts");
    at.stop();
    expect(readdirSync(folder).sort()).toEqual([`claude-${at.session.id}`, "claude-new"].sort());
  });

  test("no run is made for it, and nothing is written in the project", () => {
    at.prompt();
    at.edit("a.ts");
    at.stop();
    const state = join(at.place.home, ".local/state/pawl");
    expect(readdirSync(at.place.root)).not.toContain(".pawl");
    expect(readdirSync(state)).toEqual(["guard"]);
    expect(readFileSync(join(state, "guard", `claude-${at.session.id}`), "utf8")).toMatch(/^[0-9a-f]{16} local\n$/);
  });
});

describe("a client that writes its transcript late", () => {
  const NOT_WRITTEN = { written: false } as const;

  test("the whole first turn", () => {
    at.late(() => [at.prompt(), at.edit("src/a.ts"), at.say()]);
    expect(at.stop(CLAIM, NOT_WRITTEN).person).toContain("src/a.ts was edited, and no test run followed.");
  });

  test("the last edit and the claim", () => {
    at.prompt();
    at.edit("src/a.ts");
    at.green();
    at.late(() => [at.edit("src/b.ts"), at.say()]);
    expect(at.stop(CLAIM, NOT_WRITTEN).person).toContain("src/b.ts was edited after the last green run");
  });

  test.each<[string, boolean]>([
    ["a green run", false],
    ["a green run, and the trace of the stop before", true],
  ])("%s, and a claim in the same words as before", (_, isTraceLate) => {
    at.config("guard: send-back\n");
    at.prompt();
    at.edit("src/a.ts");
    if (isTraceLate) at.say();
    const before = readFileSync(at.session.transcript);
    const first = at.stop(CLAIM, isTraceLate ? NOT_WRITTEN : {});
    expect(first.agent).toContain("(1 of 3)");
    if (isTraceLate) writeFileSync(at.session.transcript, before);
    at.late(() => [isTraceLate && at.sentBack(), at.green(), at.say()]);
    expect(at.stop(CLAIM, NOT_WRITTEN)).toEqual({});
  });

  test.each<[string, () => unknown]>([
    ["nothing at all", () => undefined],
    ["an edit, in the same words", () => at.edit("src/b.ts")],
  ])("%s after it was sent back: sent back again", (_, work) => {
    at.config("guard: send-back\n");
    at.prompt();
    at.edit("src/a.ts");
    at.stop();
    at.late(() => [work(), at.say()]);
    expect(at.stop(CLAIM, NOT_WRITTEN).agent).toContain("(2 of 3)");
  });
});

describe("silence", () => {
  interface Ending {
    before?: () => unknown;
    message?: string;
    how?: Parameters<Guarded["stop"]>[1];
  }
  /** each begins with a prompt and an edit of a.ts */
  const edited: [string, Ending][] = [
    ["a green run after the last edit", { before: () => at.green() }],
    ["no claim", { message: "Which of the two do you prefer?" }],
    ["words of a claim that claim nothing", { message: "It is not done yet." }],
    ["an edit of the turn before", { before: () => at.prompt("and what is this?") }],
    ["PAWL=0", { how: { env: { PAWL: "0" } } }],
    ["pawl off", { before: () => runPawl(at.place, ["off"]) }],
    ["guard: off", { before: () => at.config("guard: off\n") }],
    ["a pawl.yaml with mistakes", { before: () => at.config("guard: loud\n") }],
    ["no transcript", { before: () => rmSync(at.session.transcript), how: { written: false } }],
    ["the last message is not written yet", { how: { written: false } }],
    ["a host that names no turn", { how: { fields: { prompt_id: undefined } } }],
    ["a stop inside a sub-agent", { how: { fields: { agent_id: "a1" } } }],
    ["a folder that is gone", { how: { fields: { cwd: "/gone/for/good" } } }],
    [
      "a sub-agent's stop",
      { how: { fields: { hook_event_name: "SubagentStop", agent_id: "a1", agent_type: "general-purpose" } } },
    ],
  ];
  test.each(edited)("%s", (_, { before, message, how }) => {
    at.prompt();
    at.edit("a.ts");
    before?.();
    expect(at.stop(message, how)).toEqual({});
  });

  const harmless: [string, () => void][] = [
    ["nothing edited", () => at.green()],
    ["an edit that failed", () => at.tool("Edit", { file_path: join(at.place.root, "a.ts") }, "no match", true)],
    ["prose edited", () => at.edit("README.md")],
    ["scratch files written", () => at.tool("Bash", { command: `echo x > ${at.place.root}-scratch.ts` })],
    ["something outside the project edited", () => at.tool("Write", { file_path: "/somewhere/else/a.ts" })],
  ];
  test.each(harmless)("%s", (_, work) => {
    at.prompt();
    work();
    expect(at.stop()).toEqual({});
  });

  test("a transcript from before turns had ids", () => {
    at.prompt("fix it", false);
    at.tool("Edit", { file_path: join(at.place.root, "a.ts") }, "ok", false, at.session.transcript, false);
    expect(at.stop()).toEqual({});
  });

  test("a session with a run", () => {
    at.prompt("/complete-work");
    const begun = runHook(at.place, payload(at.place, at.session, "UserPromptSubmit", { prompt: "/complete-work" }));
    expect(begun.out).not.toBe("");
    at.edit("a.ts");
    expect(JSON.stringify(at.stop())).not.toContain("Nothing proves the claim");
  });
});

describe("guard: send-back", () => {
  beforeEach(() => {
    at.config("guard: send-back\n");
    at.prompt();
    at.edit("src/a.ts");
  });

  test("sends the agent back with the evidence, three times a turn, then tells the person", () => {
    const rounds = ["Done.", "It is fixed.", "Done.", "Done.", "Done."].map((message) => at.stop(message));
    for (const [index, said] of rounds.slice(0, 3).entries()) {
      expect(said.agent).toStartWith("[pawl] You said that the work is done, but src/a.ts was edited, and no test run");
      expect(said.agent).toContain(`(${index + 1} of 3)`);
      expect(said.person).toBeUndefined();
    }
    expect(rounds[3]!.person).toContain("Nothing proves the claim. The agent was asked 3 times.");
    expect(rounds[4]).toEqual({});
  });

  test("lets go once the tests passed", () => {
    expect(at.stop().agent).toBeDefined();
    at.green();
    expect(at.stop("All tests pass.")).toEqual({});
  });

  test("lets go when the agent no longer claims it", () => {
    expect(at.stop().agent).toBeDefined();
    expect(at.stop("There are no tests in this project that I could run.")).toEqual({});
  });

  test("begins anew with the next turn", () => {
    for (let round = 0; round < 5; round++) at.stop();
    at.prompt();
    at.edit("a.ts");
    expect(at.stop().agent).toContain("(1 of 3)");
  });
});
