import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CONTEXT_LIMIT, renderAnswer } from "../../../src/hosts/claude/wire.ts";
import type { Answer } from "../../../src/kernel/types/run.ts";

const NEW = "2.1.197";
const goOn = (rest: Partial<Answer>): Answer => ({ turn: "continue", ...rest });
const render = (name: string, answer: Answer, version: string | null = NEW) => renderAnswer(name, answer, { version });
const back = (name: string, answer: Answer, version: string | null = NEW) => JSON.parse(render(name, answer, version));
const context = (name: string, text: string) => ({
  hookSpecificOutput: { hookEventName: name, additionalContext: text },
});

describe("Stop", () => {
  test.each([
    ["context", goOn({ agent: "a" }), NEW, context("Stop", "a")],
    ["context and a word", goOn({ agent: "a", person: "p" }), NEW, { ...context("Stop", "a"), systemMessage: "p" }],
    ["just short enough", goOn({ agent: "a".repeat(10_000) }), NEW, context("Stop", "a".repeat(10_000))],
    ["too long", goOn({ agent: "a".repeat(10_001) }), NEW, { decision: "block", reason: "a".repeat(10_001) }],
    ["a reason", goOn({ agent: "a", reason: "r" }), NEW, { decision: "block", reason: "r\n\na" }],
    ["only a reason", goOn({ reason: "r", person: "p" }), NEW, { decision: "block", reason: "r", systemMessage: "p" }],
    ["end", { turn: "end", agent: "a", reason: "r", person: "p" }, NEW, { systemMessage: "p" }],
    ["none", { turn: "none", agent: "a", person: "p" }, NEW, { systemMessage: "p" }],
  ] as [string, Answer, string | null, object][])("%s", (_what, answer, version, output) => {
    expect(back("Stop", answer, version)).toEqual(output);
  });

  test.each([
    ["2.1.197", true],
    ["2.1.198", true],
    ["2.2.0", true],
    ["3.0.0", true],
    ["2.1.196", false],
    ["2.0.999", false],
    ["1.9.999", false],
    ["2.1", false],
    ["latest", false],
    ["", false],
    [null, false],
  ])("version %s knows context: %s", (version, knows) => {
    const expected = knows ? context("Stop", "a") : { decision: "block", reason: "a" };
    expect(back("Stop", goOn({ agent: "a" }), version)).toEqual(expected);
  });

  test("a continue never comes out as an end, even without words", () => {
    expect(back("Stop", goOn({}))).toEqual({ decision: "block", reason: expect.stringMatching(/^\[pawl\] ./) });
  });
});

describe("other events", () => {
  test.each(["UserPromptSubmit", "SessionStart"])("%s: context and a word", (name) => {
    expect(back(name, { turn: "none", agent: "a", person: "p" })).toEqual({
      ...context(name, "a"),
      systemMessage: "p",
    });
    expect(back(name, { turn: "none", agent: "a" }, null)).toEqual(context(name, "a"));
  });

  test.each(["SubagentStop", "StopFailure", "SessionEnd", "UserPromptExpansion", "PermissionRequest", "Notification"])(
    "%s: a word to the person at most",
    (name) => {
      expect(back(name, goOn({ agent: "a", reason: "r", person: "p" }))).toEqual({ systemMessage: "p" });
      expect(render(name, goOn({ agent: "a", reason: "r" }))).toBe("");
    },
  );

  test.each(["Stop", "UserPromptSubmit", "SessionStart", "PreCompact", "SubagentStop", "Nonsense"])(
    "%s: nothing to say is no output",
    (name) => {
      expect(render(name, { turn: "none" })).toBe("");
      expect(render(name, { turn: "end", agent: "", person: "" })).toBe("");
    },
  );

  test("an event we do not know gets nothing", () => {
    expect(render("PreToolUse", goOn({ agent: "a", person: "p" }))).toBe("");
  });

  test("PreCompact speaks plainly", () => {
    expect(render("PreCompact", { turn: "none", agent: "[pawl] keep the plan", person: "p" })).toBe(
      "[pawl] keep the plan",
    );
  });

  test("PreCompact text that looks like JSON cannot block the compaction", () => {
    const output = render("PreCompact", { turn: "none", agent: ' {"decision":"block"}' });
    expect(output).toBe('[pawl]  {"decision":"block"}');
  });
});

describe("what is too long is cut, visibly", () => {
  const long = "x".repeat(12_345);

  test.each([
    ["context", back("SessionStart", { turn: "none", agent: long }).hookSpecificOutput.additionalContext],
    ["message", back("Stop", { turn: "end", person: long }).systemMessage],
    ["compaction", render("PreCompact", { turn: "none", agent: long })],
  ])("%s", (_what, output) => {
    expect(output.length).toBe(CONTEXT_LIMIT);
    expect(output).toMatch(/^x{9000,}\n\[pawl\] \(cut here: 12345 characters, the host takes 10000\)$/);
  });

  test("a pair is not cut in two", () => {
    for (const shift of ["", "a"]) {
      const { systemMessage } = back("Stop", { turn: "end", person: shift + "😀".repeat(9000) });
      expect(systemMessage.isWellFormed()).toBe(true);
      expect(systemMessage).not.toContain("\uFFFD");
    }
  });
});

test("one valid JSON object for any text", () => {
  const words = fc.string({ unit: "binary", maxLength: 40 });
  const nasty = fc.constantFrom("\0", "\ud800", "a\udc00b", "\u2028", "</script>", '"', "\\", "{}", "__proto__");
  const text = fc.oneof(
    words,
    nasty,
    fc.tuple(nasty, words, nasty).map((parts) => parts.join("")),
  );
  const answer = fc.record(
    { turn: fc.constantFrom<Answer["turn"]>("continue", "end", "none"), agent: text, person: text, reason: text },
    { requiredKeys: ["turn"] },
  );
  const name = fc.constantFrom("Stop", "UserPromptSubmit", "SessionStart", "SubagentStop");
  fc.assert(
    fc.property(name, answer, fc.constantFrom(NEW, null), (event, given, version) => {
      const output = render(event, given as Answer, version);
      expect(output.isWellFormed()).toBe(true);
      if (output === "") return;
      const parsed = JSON.parse(output);
      expect(output).toBe(JSON.stringify(parsed));
      expect(parsed.systemMessage ?? "").toBe((given.person ?? "").toWellFormed());
      expect(parsed.hookSpecificOutput?.hookEventName ?? event).toBe(event);
    }),
  );
});
