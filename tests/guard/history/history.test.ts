import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { TurnVerdict } from "../../../src/guard/core/turns.ts";
import { edit, green, ground, line, prompt, red, say, tool } from "./ground.ts";

let place: ReturnType<typeof ground>;
beforeEach(() => {
  place = ground();
});
afterEach(() => place.remove());

const CLAIM = "Done. All tests pass.";
const shop = (...lines: string[]) => place.write("-code-shop/s1.jsonl", lines);
const none = { verified: 0, stale: 0, failed: 0, never: 0 };

describe("the verdict of a turn", () => {
  test.each<[TurnVerdict | "not counted", () => string[]]>([
    ["verified", () => [...edit("a.ts"), ...green(), say(CLAIM)]],
    ["stale", () => [...edit("a.ts"), ...green(), ...edit("a.ts"), say(CLAIM)]],
    ["failed", () => [...edit("a.ts"), ...red(), say(CLAIM)]],
    ["never", () => [...edit("a.ts"), say(CLAIM)]],
    ["never", () => [...edit("a.ts"), ...tool("Bash", { command: "npm test", run_in_background: true }), say(CLAIM)]],
    ["never", () => [edit("a.ts")[0]!, say(CLAIM)]],
    ["never", () => [...edit("a.ts"), say("Two tests still fail."), say(CLAIM)]],
    ["not counted", () => [...edit("a.ts"), say("What now?")]],
    ["not counted", () => [...edit("a.ts"), say("I've changed a.ts, but the tests still fail.")]],
    ["not counted", () => [...green(), say(CLAIM)]],
    ["not counted", () => [...edit("README.md"), say(CLAIM)]],
    ["not counted", () => [...edit("a.ts"), say(CLAIM), ...tool("Bash", { command: "ls" })]],
    ["not counted", () => [...tool("Edit", { file_path: "a.ts" }, "no match", true), say(CLAIM)]],
    ["not counted", () => [...edit("a.ts"), say(CLAIM, { isSidechain: true })]],
    ["not counted", () => [...edit("a.ts"), say(CLAIM, { isApiErrorMessage: true })]],
    ["stale", () => [...edit("a.ts"), ...green(), ...edit("b.ts", { isSidechain: true }), say(CLAIM)]],
  ])("%s", async (verdict, lines) => {
    shop(prompt("fix it"), ...lines());
    const { total } = await place.read();
    expect(total).toEqual(verdict === "not counted" ? none : { ...none, [verdict]: 1 });
  });
});

describe("turns", () => {
  test("each prompt of the person begins one", async () => {
    shop(prompt("one"), ...edit("a.ts"), ...green(), say(CLAIM), prompt("two"), ...edit("a.ts"), say(CLAIM));
    expect((await place.read()).total).toEqual({ ...none, verified: 1, never: 1 });
  });

  test.each<[string, () => string]>([
    ["feedback of a hook", () => prompt("Stop hook feedback:\n[pawl] go on", { isMeta: true })],
    ["what the client adds", () => prompt("Expanded text of a command", { isMeta: true })],
    ["a summary", () => prompt("This session is being continued", { isCompactSummary: true })],
    ["a notification", () => prompt("<task-notification>done</task-notification>")],
    ["a sub-agent's task", () => prompt("do this", { isSidechain: true })],
    ["an interruption", () => prompt("[Request interrupted by user]")],
  ])("%s begins none", async (_, injected) => {
    shop(prompt("one"), ...edit("a.ts"), injected(), ...green(), say(CLAIM));
    expect((await place.read()).total).toEqual({ ...none, verified: 1 });
  });

  test("lines with the same prompt id belong together", async () => {
    const same = { promptId: "p1" };
    shop(prompt("one", same), ...edit("a.ts"), prompt("and this", same), ...green(), say(CLAIM));
    expect((await place.read()).total).toEqual({ ...none, verified: 1 });
  });

  test("a turn that a fork repeats is counted once", async () => {
    const lines = [prompt("one"), ...edit("a.ts"), say(CLAIM)];
    place.write("-code-shop/s1.jsonl", lines);
    place.write("-code-shop/s2.jsonl", lines);
    const { total, sessions } = await place.read();
    expect({ total, sessions }).toEqual({ total: { ...none, never: 1 }, sessions: 2 });
  });

  test.each([
    [["I've fixed it.", "Two tests still fail."], 0],
    [["I've fixed it.", "Have a look at a.ts."], 1],
  ])("a message in several blocks is one: %j", async (texts, never) => {
    const parts = texts.map((text) =>
      line({ type: "assistant", message: { id: "m", content: [{ type: "text", text }] } }),
    );
    shop(prompt("one"), ...edit("a.ts"), ...parts);
    expect((await place.read()).total).toEqual({ ...none, never });
  });
});

describe("sub-agents", () => {
  test.each([
    ["in the session's folder", "-code-shop/s1/subagents/agent-a1.jsonl"],
    ["beside it", "-code-shop/agent-a1.jsonl"],
  ])("their edits and runs count, %s", async (_, name) => {
    const begin = [prompt("one"), ...edit("a.ts"), ...green()];
    const inside = edit("b.ts", { isSidechain: true });
    shop(...begin, say(CLAIM));
    place.write(name, inside);
    expect((await place.read()).total).toEqual({ ...none, stale: 1 });
  });

  test("in the turn in which they happened", async () => {
    const first = [prompt("one"), ...edit("a.ts"), ...green()];
    const inside = edit("b.ts", { isSidechain: true });
    shop(prompt("zero"), say(CLAIM), ...first, say(CLAIM), prompt("two"), say(CLAIM));
    place.write("-code-shop/s1/subagents/agent-a1.jsonl", inside);
    expect((await place.read()).total).toEqual({ ...none, stale: 1 });
  });
});

describe("what lies on a disk", () => {
  const good = () => [prompt("one"), ...edit("a.ts"), say(CLAIM)];
  test("broken lines, foreign lines, empty lines", async () => {
    const [first, ...rest] = good();
    const junk = [
      "{",
      "",
      "null",
      "[1]",
      '"assistant"',
      '{"type":"user"}',
      '{"type":"assistant","message":"tool_use"}',
    ];
    shop(first!, ...junk, '{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}', ...rest, '{"type":"as');
    expect((await place.read()).total).toEqual({ ...none, never: 1 });
  });

  test("bytes that are no text", async () => {
    place.write("-code-shop/s1.jsonl", [Buffer.from([0xff, 0xfe, 0, 10, 0xc3]), ...good()]);
    expect((await place.read()).total).toEqual({ ...none, never: 1 });
  });

  test("line ends of Windows", async () => {
    place.write("-code-shop/s1.jsonl", good(), "\r\n");
    expect((await place.read()).total).toEqual({ ...none, never: 1 });
  });

  test("a line half written, and finished later", async () => {
    const [one, two, ...rest] = good();
    const path = place.write("-code-shop/s1.jsonl", [one!, two!, ...rest]);
    truncateSync(path, one!.length + two!.length + 40);
    expect((await place.read()).total).toEqual(none);
    appendFileSync(path, `\n${rest.join("\n")}`);
    expect((await place.read()).total.never).toBe(1);
  });

  test("a line longer than the buffer is read, one of a hundred megabytes is passed over", async () => {
    const long = tool("Write", { file_path: "long.ts", content: "A".repeat(9_000_000) });
    shop(
      prompt("one"),
      ...long,
      say(CLAIM),
      prompt("two"),
      `{"assistant":"${"A".repeat(100_000_000)}"}`,
      ...edit("a.ts"),
      say(CLAIM),
    );
    expect((await place.read()).total).toEqual({ ...none, never: 2 });
  });

  test("spaces in the JSON, as other writers have them", async () => {
    const spaced = good().map((one) => JSON.stringify(JSON.parse(one), null, 1).replaceAll("\n", " "));
    shop(...spaced);
    expect((await place.read()).total).toEqual({ ...none, never: 1 });
  });

  test("no folder is an answer, not an error", async () => {
    place.remove();
    expect(await place.read()).toMatchObject({ there: false, sessions: 0, unread: [] });
  });

  test("folders, links and pipes named like transcripts", async () => {
    shop(...good());
    mkdirSync(join(place.projects, "-code-shop/x.jsonl"));
    symlinkSync("/nowhere/at/all", join(place.projects, "-code-shop/y.jsonl"));
    expect(spawnSync("mkfifo", [join(place.projects, "-code-shop/z.jsonl")]).status).toBe(0);
    const { total, unread } = await place.read();
    expect(total.never).toBe(1);
    expect(unread.map(({ path }) => path)).toEqual([join(place.projects, "-code-shop/y.jsonl")]);
  });

  test.skipIf(process.getuid?.() === 0)("what cannot be read is told", async () => {
    shop(...good());
    chmodSync(place.write("-code-shop/s2.jsonl", good()), 0);
    const { total, unread } = await place.read();
    expect({ never: total.never, unread: unread.length }).toEqual({ never: 1, unread: 1 });
  });
});

describe("which turns", () => {
  test("since a time: by the file's time and by the turn's", async () => {
    const early = [prompt("one"), ...edit("a.ts"), say(CLAIM)];
    const between = JSON.parse(early.at(-1)!).timestamp;
    shop(...early, prompt("two"), ...edit("b.ts"), say(CLAIM));
    expect((await place.read({ since: Date.parse(between) })).total).toEqual({ ...none, never: 1 });
    utimesSync(join(place.projects, "-code-shop/s1.jsonl"), new Date(0), new Date(0));
    expect((await place.read({ since: Date.parse(between) })).sessions).toBe(0);
  });

  test("of a project: the folder and what is below, not its namesakes", async () => {
    const turn = (cwd: string) => [prompt(`in ${cwd}`, { cwd }), ...edit("a.ts"), say(CLAIM)];
    place.write("-code-shop/a.jsonl", turn("/code/shop"));
    place.write("-code-shop-web/b.jsonl", turn("/code/shop/web"));
    place.write("-code-shop-web/c.jsonl", turn("/code/shop-web"));
    place.write("-code-other/d.jsonl", turn("/code/other"));
    const { projects } = await place.read({ project: "/code/shop" });
    expect(projects.map(({ project }) => project)).toEqual(["/code/shop", "/code/shop/web"]);
  });

  test("the worst examples come first, the newest of a kind before the older", async () => {
    const a = () => edit("/code/shop/a.ts");
    const older = [prompt("1"), ...a(), say(CLAIM), prompt("2"), ...a(), ...red(), say(CLAIM)];
    shop(...older, prompt("3"), ...a(), ...green(), ...edit("/code/shop/b.ts"), say(CLAIM));
    const { examples } = await place.read();
    expect(examples.map(({ verdict, why }) => `${verdict}: ${why}`)).toEqual([
      expect.stringContaining("failed: the last run (npm test) failed"),
      "stale: b.ts was edited after the last green run (npm test)",
      "never: no test run followed",
    ]);
  });
});
