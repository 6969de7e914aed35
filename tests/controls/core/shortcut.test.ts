/** The table itself, which prompts it matches, what overrides make of it, and that nothing drifts apart from it. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { FRAGMENT, shippedFragment } from "../../../scripts/fragment.ts";
import {
  findShortcut,
  fragmentText,
  helpText,
  type Overrides,
  renderExpansion,
  SHORTCUTS,
  type Shortcut,
  withOverrides,
} from "../../../src/controls/core/shortcut.ts";
import { mayBeShortcut } from "../../../src/fast-path.ts";

const DEFAULT = withOverrides(SHORTCUTS, []);
const keys = (table: readonly Shortcut[]) => table.map(({ key }) => key).join(" ");
const byKey = (key: string, table: readonly Shortcut[] = SHORTCUTS) => table.find((one) => one.key === key)!;

describe("the table", () => {
  test("what is on by default, and what is not", () => {
    expect(keys(DEFAULT)).toBe("s x xc r h hc ci ? d: p:");
    expect(keys(SHORTCUTS.filter(({ optional }) => optional))).toBe("c y b: q: learn:");
  });

  test("x and d: to the letter", () => {
    expect(renderExpansion(byKey("x"))).toBe(
      "[SHORTCUT: #execute] Smart execute: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then stop.",
    );
    expect(renderExpansion(byKey("d:"))).toBe(
      "[DIRECTIVE: DISCUSS] Discussion mode. Analyze and discuss only — do not execute, implement, or invoke workflow skills. The user's topic follows in their message.",
    );
  });

  test.each([
    ["s", "[SHORTCUT: #status] ", "status", undefined],
    ["x", "[SHORTCUT: #execute] ", "execute", undefined],
    ["xc", "[SHORTCUT: #execute --commit] ", "execute", "work handoff commit status"],
    ["r", "[SHORTCUT: #resume] ", "resume", undefined],
    ["h", "[SHORTCUT: /handoff] ", undefined, "handoff status"],
    ["hc", "[SHORTCUT: /handoff --commit] ", undefined, "handoff commit status"],
    ["ci", "[SHORTCUT: /commit] ", undefined, "commit status"],
    ["?", "[SHORTCUT: #help] ", "help", undefined],
    ["d:", "[DIRECTIVE: DISCUSS] ", undefined, undefined],
    ["p:", "[DIRECTIVE: PENDING] ", "record", undefined],
    ["c", "[SHORTCUT: #continue] ", undefined, undefined],
    ["y", "[SHORTCUT: #yes] ", undefined, undefined],
    ["b:", "[DIRECTIVE: BRAINSTORM] ", undefined, undefined],
    ["q:", "[DIRECTIVE: QUESTION] ", undefined, undefined],
    ["learn:", "[DIRECTIVE: LEARN] ", undefined, undefined],
  ])("%s", (key, bracket, does, tail) => {
    const shortcut = byKey(key);
    expect(renderExpansion(shortcut)).toStartWith(bracket);
    expect([shortcut.does, shortcut.tail?.join(" ")]).toEqual([does, tail]);
  });

  test("every expansion sets a bound", () => {
    for (const { text } of SHORTCUTS) expect(text).toMatch(/\b(do not|no tools|then stop|never|nothing)\b/i);
  });

  test("every key is written as a configured one must be, and none stands there twice", () => {
    for (const { key } of SHORTCUTS) expect(key).toMatch(/^(?:[^\s:/][^\s:]{0,2}|\w{1,10}:)$/);
    expect(new Set(SHORTCUTS.map(({ key }) => key)).size).toBe(SHORTCUTS.length);
  });
});

describe("a prompt that is a shortcut", () => {
  test.each([
    ["s", "s", ""],
    [" x ", "x", ""],
    ["\n\txc\r\n", "xc", ""],
    ["?", "?", ""],
    ["d: trade-offs of A and B", "d:", "trade-offs of A and B"],
    ["  d: trade-offs ", "d:", "trade-offs"],
    ["\n\n d:  trade-offs", "d:", "trade-offs"],
    ["d:\ttrade-offs", "d:", "trade-offs"],
    ["d:\nfirst\n\nsecond\n", "d:", "first\n\nsecond"],
    ["p: fix login bug", "p:", "fix login bug"],
    ["p: d: x", "p:", "d: x"],
    ["d: look at\n```\nx\n```", "d:", "look at\n```\nx\n```"],
    ["d: ?", "d:", "?"],
  ])("%j", (prompt, key, rest) => {
    expect(findShortcut(prompt, DEFAULT)).toEqual({ shortcut: byKey(key), rest });
    expect(mayBeShortcut(prompt)).toBe(true);
  });
});

describe("a prompt that is none", () => {
  test.each(
    [
      ["", " ", "\n"],
      ["S", "X", "XC", "Xc", "D: x", "P: x"],
      ["d:x", "d:", "d: ", "d:\n", "d :x", "d : x", "d;x", "dd: x", "xd: x", "d:: x"],
      ["do you think so", "x y", "x.", "x!", "xx", "s?", "??", "hci", "x\ny", "x\n\nx", "first\nx", "x\n```"],
      [
        "```\nx\n```",
        "```\nd: x\n```",
        "`x`",
        "> x",
        "> d: x",
        ">d: x",
        "    d: x",
        "\td: x",
        "\n\n    d: x",
        " \t d: x",
      ],
      ["please d: x", "- d: x", '"d: x"', "(d: x)", "http://x", "d:\\path", "d:/path", "note: x", "TODO: x"],
      ["y", "c", "b: x", "q: x", "learn: x"],
    ].flat(),
  )("%j", (prompt) => {
    expect(findShortcut(prompt, DEFAULT)).toBeNull();
  });

  test("optional ones match once they are on", () => {
    const table = withOverrides(SHORTCUTS, [{ y: "on", "learn:": "on" }]);
    expect(findShortcut("y", table)?.shortcut.name).toBe("#yes");
    expect(findShortcut("learn: no mocks", table)).toMatchObject({ shortcut: { name: "LEARN" }, rest: "no mocks" });
    expect(findShortcut("learn", table)).toBeNull();
  });
});

describe("overrides", () => {
  const cases: [string, Overrides[], string][] = [
    ["none", [], "s x xc r h hc ci ? d: p:"],
    ["all off", ["off"], ""],
    ["one off", [{ ci: "off" }], "s x xc r h hc ? d: p:"],
    ["an optional one on", [{ "b:": "on" }], "s x xc r h hc ci ? d: p: b:"],
    ["on although it is", [{ s: "on" }], "s x xc r h hc ci ? d: p:"],
    ["all off below, one on above", ["off", { x: "on" }], "x"],
    ["one on below, all off above", [{ y: "on" }, "off"], ""],
    ["off below, on above", [{ x: "off" }, { x: "on" }], "s x xc r h hc ci ? d: p:"],
    [
      "own keys follow the shipped ones",
      [{ t: "Run the tests." }, { "rv:": "Review." }],
      "s x xc r h hc ci ? d: p: t rv:",
    ],
    ["an own key of a layer below, off", [{ t: "Run the tests." }, { t: "off" }], "s x xc r h hc ci ? d: p:"],
    ["on or off of what nobody knows", [{ zz: "on", yy: "off" }], "s x xc r h hc ci ? d: p:"],
    ["a key that every object has", [{ "constructor:": "on" }], "s x xc r h hc ci ? d: p:"],
  ];
  test.each(cases)("%s", (_what, layers, expected) => {
    expect(keys(withOverrides(SHORTCUTS, layers))).toBe(expected);
  });

  test("an own text is a plain expansion, in the place of the key", () => {
    const table = withOverrides(SHORTCUTS, [{ xc: "Ship it.\nReally.", "d:": "Talk." }]);
    expect(table[2]).toEqual({ key: "xc", name: "xc", text: "Ship it.\nReally.", means: "Ship it.…" });
    expect(renderExpansion(byKey("xc", table))).toBe("[SHORTCUT: xc] Ship it.\nReally.");
    expect(renderExpansion(byKey("d:", table))).toBe("[DIRECTIVE: D] Talk.");
  });

  test("on gives the shipped meaning back; of a key that is not shipped, the one below", () => {
    const table = withOverrides(SHORTCUTS, [
      { x: "Mine all coins.", t: "Test." },
      { x: "on", t: "on" },
    ]);
    expect(byKey("x", table)).toEqual(byKey("x"));
    expect(byKey("t", table).text).toBe("Test.");
  });

  test("an own text steers no terminal and hides nothing", () => {
    const table = withOverrides(SHORTCUTS, [{ t: "\u001b[31mred\u001b[0m\u202e and\u200b this\u0007" }]);
    expect(byKey("t", table).text).toBe("red and this");
  });

  test("the table itself is not changed", () => {
    const before = JSON.stringify(SHORTCUTS);
    withOverrides(SHORTCUTS, [{ x: "own", y: "on" }, "off"]);
    expect(JSON.stringify(SHORTCUTS)).toBe(before);
  });
});

describe("help and fragment hold exactly the table", () => {
  const own = withOverrides(SHORTCUTS, [{ x: "off", t: "Test | all.", "review:": "Review.", "||": "Or." }]);
  const tables: [string, readonly Shortcut[]][] = [
    ["by default", DEFAULT],
    ["everything", SHORTCUTS],
    ["with own ones", own],
    ["only directives", SHORTCUTS.filter(({ key }) => key.endsWith(":"))],
    ["only commands", SHORTCUTS.filter(({ key }) => !key.endsWith(":"))],
  ];

  const inOrder = (table: readonly Shortcut[]) => [
    ...table.filter(({ key }) => !key.endsWith(":")),
    ...table.filter(({ key }) => key.endsWith(":")),
  ];

  test.each(tables)("%s: help", (_what, table) => {
    const rows = [...helpText(table).matchAll(/^ {2}(\S+) +(.+)$/gm)].map(([, key, means]) => ({ key, means }));
    expect(rows).toEqual(inOrder(table).map(({ key, means }) => ({ key, means })));
    const columns = [...helpText(table).matchAll(/^( {2}\S+ +)/gm)].map((match) => match[1]!.length);
    expect(new Set(columns).size).toBe(1);
  });

  test.each(tables)("%s: fragment", (_what, table) => {
    const rows = fragmentText(table).matchAll(/^\| `(\S+?)( <text>)?` \| (.+?) \| (.+?) \|$/gm);
    const parsed = [...rows].map(([, key, text, name, means]) => ({ key, directive: text !== undefined, name, means }));
    const written = (cell: string) => cell.replaceAll("|", "\\|");
    expect(parsed).toEqual(
      inOrder(table).map(({ key, name, means }) => ({
        key: written(key),
        directive: key.endsWith(":"),
        name: written(name),
        means: written(means),
      })),
    );
  });

  test("help is short", () => {
    const lines = helpText(DEFAULT).split("\n");
    expect(lines.length).toBeLessThan(20);
    for (const line of lines) expect(line.length).toBeLessThan(110);
    expect(helpText([])).toBe("No shortcuts are on here.");
  });

  test("the fragment has the four modes, STATUS, the default and the matrix", () => {
    const text = fragmentText(DEFAULT);
    for (const row of [
      "| STATUS (default) | `s` (`#status`) |",
      "| EXECUTE | `x` (`#execute`) |",
      "| EXECUTE+COMMIT | `xc` (`#execute --commit`) |",
      "| RESUME | `r` (`#resume`) |",
      'Ambiguous prompts ("next?", "what\'s next?", start-up) default to STATUS.',
      "Next: <first pending task name>\n  `<command to start it>`\n  Model: <recommended model> | Restart: <yes/no>\n\nPending:\n",
      "| State | `x` (`#execute`) | `r` (`#resume`) |",
      '| No in-progress, pending exists | Start first pending | Error: "Nothing in progress" |',
      '| No tasks at all | "No pending tasks" | Error: "Nothing in progress" |',
    ])
      expect(text).toContain(row);
    expect(fragmentText(own)).toContain("| EXECUTE | `#execute` |");
  });

  test("the committed file is fresh; if not: node_modules/.bin/bun scripts/fragment.ts", () => {
    expect(readFileSync(FRAGMENT, "utf8")).toBe(shippedFragment());
  });
});
