import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENTS, groupFor, guarded, hookCommand } from "../../../src/setup/install/hooks.ts";
import {
  ignoredByHost,
  withHooks,
  withoutHooks,
  withoutStatusLine,
  withStatusLine,
} from "../../../src/setup/install/settings.ts";
import { SETTINGS } from "./ground.ts";

const added = (text: string | null) => {
  const edited = withHooks(text, "local");
  if (!edited.ok) throw new Error(edited.why);
  return edited.text;
};
const removed = (text: string, before: string | null) => {
  const edited = withoutHooks(text, before);
  if (!edited.ok) throw new Error(edited.why);
  return edited.text;
};

const wanted = (event: string) => groupFor(event, "local").hooks.map(({ command }) => command);

describe("what cannot be edited is refused with its place", () => {
  const hook = (fields: string) => `{"hooks":{"PreToolUse":[{"hooks":[{${fields}}]}]}}`;
  const cases: [string, string][] = [
    ['{"a": 1', "line 1, column 8: close brace expected"],
    ['{\n  "a": nope\n}', "line 2, column 8: invalid symbol"],
    ['{\r\n  "a": 1\r\n  "b": 2\r\n}', "line 3, column 3: comma expected"],
    ["[]", "line 1, column 1: the settings are not an object"],
    ['"text"', "line 1, column 1: the settings are not an object"],
    ["{} {}", "line 1, column 4: end of file expected"],
    ['{"hooks": []}', 'line 1, column 11: "hooks" is not an object'],
    ['{"hooks": null}', 'line 1, column 11: "hooks" is not an object'],
    ['{"hooks":{"Stop":{}}}', "line 1, column 18: hooks.Stop is not a list"],
    ['{"hooks":{},\n"hooks":{}}', 'line 2, column 1: "hooks" comes twice'],
    ['{"hooks":{"Stop":[],"Stop":[]}}', 'line 1, column 11: "hooks" has Stop twice'],
    ['{"hooks":{"X":[5]}}', "line 1, column 16: hooks.X: an entry is not an object"],
    ['{"hooks":{"X":[{"matcher":"a"}]}}', 'column 16: hooks.X: an entry has no list "hooks"'],
    ['{"hooks":{"X":[{"matcher":5,"hooks":[]}]}}', "column 27: hooks.X: matcher is not a text"],
    [hook('"type":"shell"'), "hooks.PreToolUse: a hook's type is none of command, http, prompt, agent, mcp_tool"],
    [hook('"type":"command"'), "a hook of type command has no command"],
    [hook('"type":"command","command":"x","timeout":"5"'), "a hook's timeout is not a number"],
    [hook('"type":"toString","command":"x"'), "a hook's type is none of"],
  ];
  for (const [text, why] of cases) {
    test(JSON.stringify(text), () => {
      const edited = withHooks(text, "local");
      expect(edited.ok ? "accepted" : edited.why).toContain(why);
    });
  }
});

describe("where our lines go", () => {
  const short = (text: string) => text.replace(/"hooks":\s*\{[\s\S]*/, "…");
  const cases: [string, string][] = [
    ['{\n\t"a": 1 // one\n}', '{\n\t"a": 1, // one\n\t…'],
    ['{\n  "a": 1, /* two\n */ }', '{\n  "a": 1,\n  …'],
    ['{"a":1}', '{"a":1,…'],
    ['{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    …'],
    ["{}", "{\n  …"],
    ["{\n  // mine\n}", "{\n  …"],
  ];
  for (const [text, expected] of cases) test(JSON.stringify(text), () => expect(short(added(text))).toBe(expected));
  test("line ends and indentation are the file's own", () => {
    const text = added('{\r\n    "a": 1\r\n}\r\n');
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(text).toContain('\r\n    "hooks": {\r\n        "SessionStart": [\r\n            {');
    expect(added('{\n\t"a": 1\n}')).toContain('\n\t"hooks": {\n\t\t"SessionStart"');
    expect(added('{"a":1}')).not.toContain("\n");
  });
});

/** Space in an emptied place and a comma too many come back only with the record's help. */
const LOOSE = ["empty", "an empty object on two lines", "commas too many", "odd spacing"];

describe("every sample", () => {
  for (const [name, text] of Object.entries(SETTINGS)) {
    test(name, () => {
      const text1 = added(text);
      expect(added(text1)).toBe(text1);
      const back = removed(text1, text);
      if (name !== "empty") expect(tokens(back)).toBe(tokens(text));
      if (!LOOSE.includes(name)) expect(back).toBe(text);
      for (const event of EVENTS) expect(commandsOf(text1, event).filter(isOurs)).toEqual(wanted(event));
    });
  }
  test("what the host cannot read is found", () => {
    expect(ignoredByHost(SETTINGS.comments!)).toBe("line 1, column 1: a comment");
    expect(ignoredByHost(SETTINGS["commas too many"]!)).toContain("line 3, column 26: a comma too many");
    expect(ignoredByHost(SETTINGS["a byte order mark"]!)).toBeNull();
  });
});

describe("an older installation", () => {
  const OLD = JSON.stringify(guarded("hook claude --via local").replace(/ hook claude.*/, "")).slice(1, -1);
  const old = (event: string, command = hookCommand("local")) => ({
    [event]: [{ hooks: [{ type: "command", command }] }],
  });
  const cases: [string, object][] = [
    ["an event we no longer hear", { ...JSON.parse(added("{}")).hooks, ...old("PostToolUse") }],
    [
      "without the script",
      JSON.parse(added("{}").replace(/h=\\"[^;]*; \[ -x \\"\$h\\" \] \|\| exit 0; exec \\"\$h\\"/g, OLD)).hooks,
    ],
    ["another timeout", { ...JSON.parse(added("{}")).hooks, ...old("Stop") }],
    ["another way", JSON.parse(added("{}").replaceAll("--via local", "--via project")).hooks],
    ["twice", { ...JSON.parse(added("{}")).hooks, Stop: [...old("Stop").Stop!, ...old("Stop").Stop!] }],
  ];
  for (const [name, hooks] of cases) {
    test(`${name}: becomes what a new one would be`, () => {
      const text = JSON.stringify({ hooks, z: 1 }, null, 2);
      expect(JSON.parse(added(text))).toEqual({ z: 1, ...JSON.parse(added("{}")) });
      expect(JSON.parse(removed(text, null))).toEqual({ z: 1 });
    });
  }
});

test("a hook of someone else in our group stays", () => {
  const mine = { type: "command", command: "say hello" };
  const settings = JSON.parse(added("{}"));
  settings.hooks.Stop[0].hooks.push(mine);
  expect(JSON.parse(removed(JSON.stringify(settings, null, 2), null))).toEqual({
    hooks: { Stop: [{ hooks: [mine] }] },
  });
});

// ── Random files ────────────────────────────────────────────────────────────

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;
interface Group {
  hooks?: { command?: string }[];
}

const isOurs = (command: string) => /\.local\/share\/pawl\/(hook|bin\/pawl)"/.test(command);
/** Another reader than the code under test uses. */
const read = (text: string) => Bun.JSONC.parse(text.replace("\uFEFF", "")) as Record<string, Record<string, unknown>>;
const commandsOf = (text: string, event: string): string[] =>
  (read(text).hooks![event] as Group[]).flatMap(({ hooks = [] }) => hooks.map(({ command = "" }) => command));

const command = fc.record({ type: fc.constant("command"), command: fc.string() });
const group = fc.record(
  { matcher: fc.string(), hooks: fc.array(command, { maxLength: 2 }) },
  { requiredKeys: ["hooks"] },
);
const event = fc.constantFrom("Stop", "SessionStart", "PreToolUse", "Notification");
const key = fc.oneof(fc.string(), fc.constantFrom("model", "__proto__", "a"));
const settings = fc.record(
  {
    rest: fc.array(
      fc.tuple(
        key.filter((name) => name !== "hooks" && name !== "statusLine"),
        fc.jsonValue({ maxDepth: 2 }),
      ),
      { maxLength: 3 },
    ),
    hooks: fc.dictionary(event, fc.array(group, { maxLength: 2 }), { maxKeys: 3 }),
    at: fc.nat(3),
    line: fc.record({ type: fc.constant("command"), command: fc.string(), padding: fc.nat(3) }),
  },
  { requiredKeys: ["rest", "at"] },
);
/** Spaces, line ends and comments, as anyone may put them between two words. */
const gap = fc.constantFrom("", "", " ", "\n", "\r\n", "\t", "  \n ", " /* c */ ", " // c\n", "\n// , }\n", "/*{*/");

/** The same value, written down by someone with peculiar habits. */
function written(value: Json, gaps: () => string, trailing: () => boolean): string {
  const list = (open: string, parts: string[], close: string) => {
    const comma = parts.length > 0 && trailing() ? `,${gaps()}` : "";
    return `${open}${gaps()}${parts.join(`${gaps()},${gaps()}`)}${gaps()}${comma}${close}`;
  };
  if (Array.isArray(value))
    return list(
      "[",
      value.map((part) => written(part, gaps, trailing)),
      "]",
    );
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}${gaps()}:${gaps()}${written(part, gaps, trailing)}`,
  );
  return list("{", pairs, "}");
}

const text = fc
  .tuple(settings, fc.infiniteStream(gap), fc.infiniteStream(fc.boolean()), fc.constantFrom("", "\uFEFF"), fc.boolean())
  .map(([{ rest, hooks, at, line }, gaps, trailing, bom, pretty]) => {
    const pairs: [string, Json][] = rest.map(([name, value]) => [name, value as Json]);
    if (line) pairs.splice(at, 0, ["statusLine", line]);
    if (hooks) pairs.splice(at, 0, ["hooks", hooks as unknown as Json]);
    const value = Object.fromEntries(pairs) as Json;
    if (pretty) return bom + JSON.stringify(value, null, 2);
    const next = () => gaps.next().value;
    return `${bom}${next()}${written(value, next, () => trailing.next().value)}${next()}`;
  });

/** Taken apart by other means than the code under test uses. */
function withoutOurs(value: Record<string, unknown>, before: Record<string, unknown>): Record<string, unknown> {
  const { hooks, ...rest } = value as { hooks?: Record<string, Group[]> };
  const had = (before.hooks ?? {}) as Record<string, unknown>;
  const kept = Object.entries(hooks ?? {}).flatMap(([name, groups]) => {
    const others = groups.filter(({ hooks: own = [] }) => !own.some(({ command: said = "" }) => isOurs(said)));
    return others.length > 0 || name in had ? [[name, others]] : [];
  });
  return "hooks" in before ? { ...rest, hooks: Object.fromEntries(kept) } : rest;
}

describe("random files", () => {
  test("after adding, all the rest is untouched, in meaning and in its bytes", () => {
    fc.assert(
      fc.property(text, (before) => {
        const after = added(before);
        for (const name of EVENTS) expect(commandsOf(after, name).filter(isOurs)).toEqual(wanted(name));
        expect(withoutOurs(read(after), read(before))).toEqual(read(before));
        expect(isWithin(before, after)).toBe(true);
        expect(added(after)).toBe(after);
      }),
      { numRuns: 300 },
    );
  });
  test("removing gives back what was there", () => {
    fc.assert(
      fc.property(text, (before) => {
        const back = removed(added(before), before);
        expect(read(back)).toEqual(read(before));
        expect(tokens(back)).toBe(tokens(before));
      }),
      { numRuns: 300 },
    );
  });
});

describe("random files, with a status line", () => {
  test("ours is there once, theirs is in it; removing gives back what was there", () => {
    fc.assert(
      fc.property(text, (before) => {
        const there = withStatusLine(added(before), null).text;
        const { command: said } = read(there).statusLine as { command: string };
        expect(isOurs(said)).toBe(true);
        expect(said.startsWith("w=")).toBe("statusLine" in read(before));
        expect(withStatusLine(there, null).text).toBe(there);
        const back = withoutStatusLine(removed(there, before), before).text;
        expect(read(back)).toEqual(read(before));
        expect(tokens(back)).toBe(tokens(before));
      }),
      { numRuns: 300 },
    );
  });
});

/** Every character of the one, in its order, is in the other: nothing was taken away or moved. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const char of whole) if (at < part.length && part.startsWith(char, at)) at += char.length;
  return at === part.length;
}

/** Without spaces, and without a comma too many, which may go. */
const tokens = (from: string) => from.replace(/\s+/g, "").replace(/,(?=[}\]]|\/)/g, "");
