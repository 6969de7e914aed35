import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readToolsSince, readTurn } from "../../../src/hosts/claude/transcript.ts";
import { assistant, call, other, prompt, result, say, temporary, write } from "./lines.ts";

const [folder, clean] = temporary();
afterAll(clean);

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, second)).toISOString();
const SINCE = at(0);

function tools(lines: string[], since = SINCE, waitMs = 0) {
  return toolsOf(write(folder, lines), since, waitMs);
}

function toolsOf(path: string, since = SINCE, waitMs = 0) {
  const found = readToolsSince(path, since, waitMs);
  if (!found.ok) throw new Error(found.why);
  return found.value;
}

/** Writes a sub-agent's file next to the transcript. */
function addAgent(path: string, agent: string, lines: string[]): string {
  const beside = join(path.replace(/\.jsonl$/, ""), "subagents");
  mkdirSync(beside, { recursive: true });
  const file = join(beside, `agent-${agent}.jsonl`);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

const ids = (calls: { id: string }[]) => calls.map((each) => each.id);

describe("calls and results", () => {
  test("a call with its result, in full", () => {
    const data = { stdout: "one", stderr: "" };
    expect(tools([prompt("p"), call("m1", "t1", at(1)), result("t1", "one", at(2), { toolUseResult: data })])).toEqual([
      {
        id: "t1",
        name: "Bash",
        input: { command: "t1" },
        result: { text: "one", error: false, data },
        at: at(1),
        agent: "",
      },
    ]);
  });

  test("results are joined by id, in whatever order they came", () => {
    const found = tools([
      call("m1", "t1", at(1)),
      call("m1", "t2", at(1)),
      call("m1", "t3", at(1)),
      result("t3", "r3", at(2), { is_error: true }),
      result("t1", "r1", at(3)),
      result("t2", "r2", at(4)),
    ]);
    expect(found.map((each) => [each.id, each.result?.text, each.result?.error])).toEqual([
      ["t1", "r1", false],
      ["t2", "r2", false],
      ["t3", "r3", true],
    ]);
  });

  test("several calls in one line keep their order", () => {
    const block = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} });
    expect(ids(tools([assistant("m1", [block("t1"), block("t2")], { timestamp: at(1) })]))).toEqual(["t1", "t2"]);
  });

  test.each<[string, unknown, string]>([
    ["text", "r", "r"],
    ["blocks", [{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }], "a\nb"],
    ["nothing", undefined, ""],
    ["nonsense", [1, null, { type: "text", text: 5 }], ""],
  ])("a result of %s", (_what, content, text) => {
    expect(tools([call("m1", "t1", at(1)), result("t1", content, at(2))])[0]?.result?.text).toBe(text);
  });

  test("an error's data may be a text; a result without data has none", () => {
    const failed = [call("m1", "t1", at(1)), result("t1", "x", at(2), { is_error: true, toolUseResult: "Error: x" })];
    expect(tools(failed)[0]?.result).toEqual({ text: "x", error: true, data: "Error: x" });
    expect(tools([call("m1", "t1", at(1)), result("t1", "x", at(2))])[0]?.result?.data).toBeNull();
  });

  test("data that stands beside several results belongs to none of them", () => {
    const block = (id: string) => ({ type: "tool_result", tool_use_id: id, content: id });
    const both = { type: "user", message: { content: [block("t1"), block("t2")] }, toolUseResult: { a: 1 } };
    const found = tools([call("m1", "t1", at(1)), call("m1", "t2", at(1)), other({ ...both, timestamp: at(2) })]);
    expect(found.map((each) => each.result)).toEqual([
      { text: "t1", error: false, data: null },
      { text: "t2", error: false, data: null },
    ]);
  });

  const nested = { content: [{ type: "tool_result", tool_use_id: "t1", content: "not its own" }] };
  const spaced = (text: string) => JSON.stringify(JSON.parse(text), null, 1).replaceAll("\n", " ");
  test.each<[string, string[], string | undefined]>([
    ["named only inside another's data", [result("t2", "two", at(2), { toolUseResult: nested })], undefined],
    ["named inside another's data, and its own", [result("t1", "one", at(2)), result("t2", "", at(3), nested)], "one"],
    ["quoted in a text", [result("t2", '{"type":"tool_result","tool_use_id":"t1"}', at(2))], undefined],
    ["with a space before its id", [result("t1", "one", at(2)).replace('_id":', '_id": ')], "one"],
    ["written with spaces", [spaced(result("t1", "one", at(2)))], "one"],
    ["of a sub-agent in the same file", [result("t1", "one", at(2), { isSidechain: true })], undefined],
    ["half written", [result("t1", "one", at(2)).slice(0, -9)], undefined],
    ["written twice", [result("t1", "one", at(2)), result("t1", "again", at(3))], "one"],
    ["beside a call's name", [result("t1", "one", at(2), { toolUseResult: { type: "tool_use" } })], "one"],
  ])("a result %s", (_what, lines, text) => {
    const [first] = tools([call("m1", "t1", at(1)), ...lines]);
    expect(first?.result?.text).toBe(text as string);
    expect(first?.result).toBe(first?.result as never);
  });

  test("a call without a result is told as such", () => {
    expect(tools([call("m1", "t1", at(1)), say("m2", "gave up", { timestamp: at(2) })])[0]?.result).toBeNull();
  });

  test("noise is passed over", () => {
    const noise = [
      other({ type: "attachment", attachment: { type: "tool_use" } }),
      '{"type":"assistant","message":{"content":[{"type":"tool_use","id":7}]}}',
      assistant("m3", { type: "tool_use", name: "NoId", input: {} }, { timestamp: at(3) }),
      call("m4", "t4", "not a time"),
      call("m5", "t5", at(5), { isSidechain: true }),
      '{"type":"user","message":{"content":[{"type":"tool_result"',
      "\xff\xfe tool_use",
      "null",
    ];
    expect(ids(tools([call("m1", "t1", at(1)), ...noise, result("t1", "r", at(6))]))).toEqual(["t1"]);
  });
});

describe("since", () => {
  test("only calls made at that time or later", () => {
    const lines = [0, 10, 20, 30].map((second) => call(`m${second}`, `t${second}`, at(second)));
    expect(ids(tools(lines, at(10)))).toEqual(["t10", "t20", "t30"]);
    expect(ids(tools(lines, at(31)))).toEqual([]);
  });

  test("a line somewhat out of order does not end the search", () => {
    const lines = [call("m1", "t1", at(20)), prompt("late", { timestamp: at(12) }), call("m2", "t2", at(21))];
    expect(ids(tools(lines, at(15)))).toEqual(["t1", "t2"]);
  });

  test("a line that is clearly older ends it", () => {
    const lines = [call("m1", "t1", at(50)), prompt("old", { timestamp: at(1) }), call("m2", "t2", at(51))];
    expect(ids(tools(lines, at(40)))).toEqual(["t2"]);
  });

  test("a result that came later belongs to no call of ours if the call is older", () => {
    expect(tools([call("m1", "t1", at(1)), result("t1", "r", at(30))], at(20))).toEqual([]);
  });

  test("no time at all is refused", () => {
    expect(readToolsSince(write(folder, []), "yesterday")).toEqual({ ok: false, why: "not a time: yesterday" });
  });
});

describe("sub-agents", () => {
  test("their calls are there too, in order of time and under their names", () => {
    const path = write(folder, [call("m1", "t1", at(1)), result("t1", "done", at(9)), call("m2", "t9", at(10))]);
    addAgent(path, "a1", [
      prompt("task", { isSidechain: true, timestamp: at(2) }),
      call("n1", "u1", at(3), { isSidechain: true, agentId: "a1", attributionAgent: "reviewer" }),
      result("u1", "text", at(4), { isSidechain: true }),
    ]);
    addAgent(path, "a2", [call("n2", "u2", at(2), { isSidechain: true })]);
    expect(toolsOf(path).map((each) => [each.id, each.agent, each.result?.text])).toEqual([
      ["t1", "", "done"],
      ["u2", "a2", undefined],
      ["u1", "reviewer", "text"],
      ["t9", "", undefined],
    ]);
  });

  test("files untouched since then are not opened, other files neither", () => {
    const path = write(folder, [call("m1", "t1", at(1))]);
    const old = addAgent(path, "old", [call("n1", "u1", at(2))]);
    utimesSync(old, new Date(at(0)), new Date(Date.parse(at(0)) - 60_000));
    writeFileSync(join(old, "..", "notes.jsonl"), `${call("n2", "u2", at(2))}\n`);
    mkdirSync(join(old, "..", "agent-folder.jsonl"));
    expect(ids(toolsOf(path))).toEqual(["t1"]);
  });

  test("lines repeated from the parent count once, as the parent's", () => {
    const path = write(folder, [call("m1", "t1", at(1)), result("t1", "r", at(2))]);
    addAgent(path, "fork", [call("m1", "t1", at(1)), call("n1", "u1", at(3))]);
    expect(toolsOf(path).map((each) => [each.id, each.agent])).toEqual([
      ["t1", ""],
      ["u1", "fork"],
    ]);
  });

  test("at most 200 files, the newest", () => {
    const path = write(folder, []);
    for (let i = 0; i < 205; i++) {
      const file = addAgent(path, `a${i}`, [call("n", `u${i}`, at(1))]);
      utimesSync(file, new Date(), new Date(Date.parse(at(10)) + i * 1000));
    }
    const found = ids(toolsOf(path));
    expect(found.length).toBe(200);
    expect(found).not.toContain("u4");
    expect(found).toContain("u5");
  });

  test("one that cannot be looked at leaves it unproven", () => {
    const path = write(folder, []);
    const file = addAgent(path, "a1", []);
    symlinkSync("agent-loop.jsonl", join(file, "..", "agent-loop.jsonl"));
    expect(readToolsSince(path, SINCE)).toMatchObject({ ok: false, why: expect.stringContaining("sub-agent") });
  });
});

describe("waiting", () => {
  test("for the result of the newest message's call", async () => {
    const path = write(folder, [call("m1", "t1", at(1))]);
    const more = write(folder, [result("t1", "late", at(2))]);
    const writer = Bun.spawn(["/bin/sh", "-c", 'sleep 0.1; cat "$0" >> "$1"', more, path]);
    expect(toolsOf(path, SINCE, 20_000)[0]?.result?.text).toBe("late");
    expect(await writer.exited).toBe(0);
  });

  test("not for one that a later message has left behind, nor for a sub-agent", () => {
    const path = write(folder, [call("m1", "t1", at(1)), say("m2", "on", { timestamp: at(2) })]);
    addAgent(path, "a1", [call("n1", "u1", at(3))]);
    const started = performance.now();
    expect(ids(toolsOf(path, SINCE, 20_000))).toEqual(["t1", "u1"]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("what is no file is said at once", () => {
    expect(readToolsSince(folder, SINCE, 10_000)).toEqual({ ok: false, why: "not a regular file" });
    expect(readToolsSince(join(folder, "none.jsonl"), SINCE, 0)).toMatchObject({ ok: false });
  });
});

describe("a sub-agent in the background", () => {
  const launch = (at_ = at(1)) =>
    assistant("m1", { type: "tool_use", id: "t1", name: "Agent", input: { subagent_type: "r" } }, { timestamp: at_ });
  const data = { isAsync: true, status: "async_launched", agentId: "a1" };
  const launched = result("t1", "Async agent launched successfully.", at(2), { toolUseResult: data });
  const own = { isSidechain: true, timestamp: at(5) };
  const edit = assistant("m2", { type: "tool_use", id: "e1", name: "Edit", input: { file_path: "a.ts" } }, own);
  const report = say("m3", "All <b>fine</b>.\n\nAPPROVED", own);

  function resultOf(lines: string[] | null) {
    const path = write(folder, [prompt("p"), launch(), launched]);
    if (lines) addAgent(path, "a1", lines);
    return toolsOf(path).find(({ id }) => id === "t1")!.result!;
  }

  test("its report is the result of its call, once it has ended", () => {
    const ended = resultOf([prompt("Review.", own), edit, result("e1", "ok", at(5), own), report]);
    expect(ended).toEqual({
      text: "All <b>fine</b>.\n\nAPPROVED",
      error: false,
      data: { ...data, status: "completed" },
    });
  });

  test("a report of several lines, and a second one after it was sent on", () => {
    const again = [report, prompt("Once more.", own), say("m4", "Now", own), say("m4", "REJECTED", own)];
    expect(resultOf(again).text).toBe("Now\nREJECTED");
  });

  test.each<[string, string[] | null]>([
    ["has not begun", null],
    ["is at work", [prompt("Review.", own), say("m2", "I look.", own), edit]],
    ["has a tool's result before it", [edit, result("e1", "ok", at(5), own)]],
    ["was sent on", [report, prompt("Once more.", own)]],
    ["was cut off by the API", [say("m3", "API Error", { ...own, model: "<synthetic>" })]],
  ])("one that %s has no report", (_what, lines) => {
    expect(resultOf(lines)).toMatchObject({ text: "Async agent launched successfully.", data });
  });

  const note = "<task-notification>\n<task-id>a1</task-id>\n</task-notification>";
  const turn = (lines: string[], id: string) => {
    const path = write(folder, lines);
    addAgent(path, "a1", [edit, result("e1", "ok", at(5), own), report]);
    const found = readTurn(path, { turn: id, message: "Done.", continuing: false }, 0);
    if (!found.ok) throw new Error(found.why);
    return [found.value.began, ids(found.value.calls)];
  };
  const before = [
    prompt("earlier", { promptId: "p0", timestamp: at(0) }),
    prompt("fix it", { promptId: "p1", timestamp: at(1) }),
    launch(),
    result("t1", "Async agent launched successfully.", at(2), { toolUseResult: data, promptId: "p1" }),
    say("m5", "Waiting.", { timestamp: at(3) }),
  ];

  test("a turn goes on after the notification, with what the sub-agent did", () => {
    const after = [
      prompt("<system-reminder>x", { promptId: "p2", isMeta: true, timestamp: at(8) }),
      prompt(note, { promptId: "p2", timestamp: at(8) }),
      say("m6", "Done.", { timestamp: at(9) }),
    ];
    expect(turn([...before, ...after], "p2")).toEqual(["p1", ["t1", "e1"]]);
  });

  test("a prompt of the person begins a turn of its own", () => {
    const after = [prompt("and?", { promptId: "p2", timestamp: at(8) }), say("m6", "Done.", { timestamp: at(9) })];
    expect(turn([...before, ...after], "p2")).toEqual(["p2", []]);
  });
});
