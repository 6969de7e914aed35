import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { guidance } from "../../../src/formal/core/guidance.ts";
import {
  type FormalFrame,
  importContent,
  makeSlug,
  mergeContent,
  type ParsedFormal,
  parseFormal,
  pickContent,
  renderFormal,
  STATUSES,
} from "../../../src/formal/core/state.ts";
import type { Content, Formal } from "../../../src/kernel/types/formal.ts";
import type { Json } from "../../../src/kernel/types/run.ts";
import { CREATED, formalWorld, take, turns } from "./formal-world.ts";

const RUNS = { numRuns: 200 };
const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== "");
const json = fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }) as fc.Arbitrary<Json>;
const RESERVED = [
  ["workflow", "workflow_type", "created_at", "updated_at", "run", "session_id", "stage", "status"],
  ["phase", "required_reading", "context", "key_reminders"],
].flat();
const odd = fc.constantFrom("__proto__", "constructor", "toString", "1", "");
const key = fc.oneof(word, odd).filter((name) => !RESERVED.includes(name));
const map = fc.array(fc.tuple(key, json), { maxLength: 5 }).map((list) => Object.fromEntries(list.map(tidy)));
const tidy = ([name, value]: [string, Json]) => [name, JSON.parse(JSON.stringify(value))] as [string, Json];
const counts = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.nat(99))
  .map(([current, more]) => [current, current + more]);
const phase = fc
  .tuple(counts, word, fc.constantFrom(...STATUSES))
  .map(([[current, total], name, status]) => ({ current: current!, total: total!, name, status }));
const reading = fc.uniqueArray(
  word.map((path) => `@${path}`),
  { maxLength: 5 },
);
const content: fc.Arbitrary<Content> = fc.record({
  phase,
  required_reading: reading,
  context: map,
  key_reminders: fc.uniqueArray(word, { maxLength: 5 }),
  extra: map,
});
const formal: fc.Arbitrary<Formal> = fc
  .tuple(content, word, word)
  .map(([inner, name, type]) => ({ ...inner, name, type, phases: [], bases: [] }));

const frame: FormalFrame = {
  id: "r1",
  owner: null,
  stage: "s",
  status: "active",
  created_at: CREATED,
};
const STAMP = "2026-01-01T00:00:00.000Z";
const parsed = (text: string) => {
  const result = parseFormal(text);
  if (typeof result === "string") throw new Error(result);
  return result;
};
const plain = (value: unknown) => JSON.stringify(sorted(value));
const sorted = (value: unknown): unknown =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

describe("a document", () => {
  test("comes back as it was written, whatever stands in it", () => {
    fc.assert(
      fc.property(formal, (one) => {
        const { repaired, content: back, ...rest } = parsed(renderFormal(frame, one, STAMP));
        expect(repaired).toEqual([]);
        expect(JSON.stringify(back)).toBe(JSON.stringify(pickContent(one)));
        expect(rest).toEqual({
          name: one.name,
          type: one.type,
          created_at: CREATED,
          run: "r1",
          stamp: STAMP,
        });
      }),
      RUNS,
    );
  });

  test("of any shape is parsed or refused, never thrown at, and is whole after one mending", () => {
    const shape = fc.dictionary(fc.constantFrom(...RESERVED, "other"), json).map((value) => JSON.stringify(value));
    const named = json.map((value) =>
      JSON.stringify({ workflow: "W", phase: value, required_reading: value, context: value, key_reminders: value }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), shape, named), (text) => {
        const result = parseFormal(text);
        if (typeof result === "string") return;
        const again = parsed(renderFormal(frame, { ...result.content, ...result, phases: [], bases: [] }, STAMP));
        expect(again.repaired).toEqual([]);
        expect(JSON.stringify(again.content)).toBe(JSON.stringify(result.content));
      }),
      RUNS,
    );
  });

  test("too deep to be written again is refused", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (const where of ["phase", "context", "other", "required_reading"])
      expect(typeof parseFormal(`{"workflow":"W","${where}":${deep}}`)).toBe("string");
  });
});

const first = { current: 1, total: 1, name: "In Progress", status: "in_progress" } as const;
const REPAIRED: [string, object, Partial<Content>, number][] = [
  ["nothing but a name", {}, { phase: first, required_reading: [], context: {}, key_reminders: [] }, 4],
  ["a path without @", { required_reading: ["a.md", "@b.md"] }, { required_reading: ["@a.md", "@b.md"] }, 1],
  ["one path, no list", { required_reading: "a.md" }, { required_reading: ["@a.md"] }, 2],
  ["one reminder, no list", { key_reminders: "x" }, { key_reminders: ["x"] }, 1],
  ["a reminder that is no text", { key_reminders: [7, { a: 1 }] }, { key_reminders: ["7", '{"a":1}'] }, 2],
  ["blank entries", { key_reminders: ["", " ", null] }, { key_reminders: [] }, 0],
  ["a list as context", { context: [1] }, { context: { value: [1] } }, 1],
  ["null as context", { context: null }, { context: {} }, 0],
  ["phase 0", { phase: { ...first, current: 0 } }, { phase: first }, 1],
  ["phase 1.5 of -2", { phase: { ...first, current: 1.5, total: -2 } }, { phase: first }, 2],
  ["phase 5 of 3", { phase: { ...first, current: 5, total: 3 } }, { phase: { ...first, current: 5, total: 5 } }, 1],
  ["a status of its own", { phase: { ...first, status: "doing" } }, { phase: first }, 1],
  ["an unknown key in the phase", { phase: { ...first, by: "me" } }, { phase: { ...first, by: "me" } as never }, 0],
  ["an unknown key", { owner: { a: [1] } }, { extra: { owner: { a: [1] } } }, 0],
];

test.each(REPAIRED)("%s is repaired", (_, fields, expected, messages) => {
  const whole = "phase" in fields || messages === 4 ? {} : { phase: first };
  const { content: got, repaired } = parsed(JSON.stringify({ workflow: "W", ...whole, ...fields }));
  expect(got).toMatchObject(expected);
  expect(repaired).toHaveLength(messages);
});

test.each(["", "[]", "null", "7", '"x"', "{", "{}", '{"workflow":" "}', '{"workflow":3}', "\u0000\u0001"])(
  "%j is no document",
  (text) => expect(typeof parseFormal(text)).toBe("string"),
);

describe("merging", () => {
  const byText = (one: Content) => ({ ...one, context: plain(one.context), extra: plain(one.extra) });

  test("takes the side that changed", () => {
    fc.assert(
      fc.property(content, content, (base, other) => {
        expect(byText(mergeContent(base, base, other))).toEqual(byText(other));
        expect(new Set(mergeContent(other, base, base).key_reminders)).toEqual(new Set(other.key_reminders));
        expect(plain(mergeContent(other, base, base).context)).toBe(plain(other.context));
        expect(mergeContent(other, base, base).phase).toEqual(other.phase);
      }),
      RUNS,
    );
  });

  test("loses nothing written and brings back nothing removed, over any number of cycles", () => {
    fc.assert(
      fc.property(turns, (list) => {
        const world = formalWorld();
        for (const turn of list) {
          take(world, turn);
          const { phase: at, ...got } = pickContent(world.run.formal!);
          expect(at).toEqual(world.truth.phase);
          expect(got.required_reading.toSorted()).toEqual(world.truth.required_reading.toSorted());
          expect(got.key_reminders.toSorted()).toEqual(world.truth.key_reminders.toSorted());
          expect(plain(got.context)).toBe(plain(world.truth.context));
          expect(plain(got.extra)).toBe(plain(world.truth.extra));
          for (const text of world.ours) expect((parseFormal(text) as ParsedFormal).created_at).toBe(CREATED);
        }
      }),
      { numRuns: 1500 },
    );
  });
});

describe("a document that we could not write since", () => {
  const theirs = (key_reminders: string[]) => ({ ...empty, key_reminders });
  const empty: Content = { phase: first, required_reading: [], context: {}, key_reminders: [], extra: {} };
  const start: Formal = { ...empty, name: "W", type: "custom", phases: [], bases: [{ stamp: "s", content: empty }] };
  const read = (one: Formal, reminders: string[]) =>
    importContent(one, parsed(renderFormal(frame, { ...start, ...theirs(reminders) }, "s")));

  test("is taken over once", () => {
    const once = read(start, ["a"]);
    expect(read(once, ["a"])).toBe(once);
    expect(read({ ...once, key_reminders: [] }, ["a"]).key_reminders).toEqual([]);
  });

  test("keeps a removal of what was added there", () => {
    expect(read(read(start, ["a"]), []).key_reminders).toEqual([]);
  });

  test("may come from two agents that both began with our text", () => {
    expect(read(read(start, ["a"]), ["b"]).key_reminders).toEqual(["b", "a"]);
  });
});

describe("guidance", () => {
  const long = fc.oneof(
    word,
    fc.integer({ min: 1, max: 30_000 }).map((length) => "x😀".repeat(length)),
  );
  const lines = fc.oneof(
    fc.array(long, { maxLength: 4 }),
    fc.integer({ min: 0, max: 3000 }).map((length) => Array.from({ length }, (_, nth) => `@docs/${nth}.md`)),
  );
  const large = fc
    .tuple(formal, long, long, lines, lines, long)
    .map(([one, name, title, required_reading, key_reminders, value]) => {
      return {
        ...one,
        name,
        phase: { ...one.phase, name: title },
        required_reading,
        key_reminders,
        context: { value },
      };
    });

  test("fits, says what must be said, and says when it was cut", () => {
    fc.assert(
      fc.property(fc.oneof(formal, large), (one) => {
        const text = guidance(one, "r-1", "compact");
        const at = `${one.phase.current}/${one.phase.total}`;
        const name = one.name.replace(/\s+/g, " ").trim().slice(0, 100);
        expect(text.length).toBeLessThanOrEqual(9_900);
        expect(text.isWellFormed()).toBe(true);
        expect(text).toContain(`Workflow: ${name}`);
        expect(text).toContain(`\nPhase: ${at} - `);
        expect(text).toContain("ACTION REQUIRED:");
        expect(text).toContain(`✅ Workflow restored: ${name}`);
        expect(text).toContain(`, Phase ${at}`);
        const all = [...one.required_reading, ...one.key_reminders].every((line) => text.includes(line));
        expect(all || text.includes("(cut")).toBe(true);
      }),
      RUNS,
    );
  });

  test("gives up reminders and context before the reading, and never half a path", () => {
    const one = fc.sample(formal, { numRuns: 1, seed: 1 })[0]!;
    const many = (count: number) => Array.from({ length: count }, (_, nth) => `@docs/file-${nth}.md`);
    const reminders = ["r".repeat(20_000)];
    const kept = guidance({ ...one, required_reading: many(200), key_reminders: reminders }, "r", "compact");
    expect(many(200).every((path) => kept.includes(`${path}\n`))).toBe(true);
    const cut = guidance({ ...one, required_reading: many(2000), key_reminders: reminders }, "r", "compact");
    const paths = cut.split("\n").filter((line) => line.startsWith("@"));
    expect(paths.length).toBeGreaterThan(100);
    expect(paths).toEqual(many(paths.length));
  });
});

test("a slug is a safe name", () => {
  const tricky = fc.constantFrom("archive", "Archive", "-archive-", "", "日本語", "../..", `${"a".repeat(49)}-b`, "İI");
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), word, tricky), (name) => {
      const slug = makeSlug(name, "0123456789abcdef");
      expect(slug).toMatch(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/);
      expect(slug).not.toBe("archive");
    }),
  );
  expect(makeSlug("Feature Implementation (User Auth)", "")).toBe("feature-implementation-user-auth");
});
