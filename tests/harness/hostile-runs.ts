/** Journals as Pawl writes them, and as somebody else might. */
import fc from "fast-check";

/** Names as Pawl gives them, and as somebody else might. */
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("plan", "code", "a", "ab", "abc", "review-2", "plane", "planet earth") },
  fc.constantFrom(
    "",
    " ",
    'a "quoted" one',
    "back\\slash",
    "tab\there",
    "übel",
    "日本",
    "\u0000",
    "\u007f",
    "}",
    '"}',
    "x".repeat(7),
  ),
  fc.constantFrom(...[199, 200, 201, 500].map((length) => "n".repeat(length))),
  fc.string({ maxLength: 12 }),
);
const odd = fc.constantFrom<unknown>(null, true, 7, [], {}, -1, 1.5, 1e9, "7");
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 30, arbitrary: usual as fc.Arbitrary<unknown> }, odd);

const kind = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ...[
        "signalled",
        "continued",
        "gated",
        "advanced",
        "stopped",
        "owed",
        "prompted",
        "ended",
        "armed",
        "asked",
        "halted",
      ],
      ...[
        "decided",
        "resumed",
        "looped",
        "iteration_begun",
        "loop_ended",
        "task_begun",
        "task_done",
        "replanned",
        "phased",
      ],
      ...["adopted", "released", "approved", "asked_agent", "inferred", "unheard_of", "constructor", "__proto__"],
    ),
  },
  name,
);
const time = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.integer({ min: 0, max: 90 * 86_400 }).map((s) => new Date(1_770_000_000_000 + s * 777).toISOString()),
  },
  fc.constantFrom(
    "2026-02-29T10:00:00.000Z",
    "2024-02-29T10:00:00.000Z",
    "2026-13-01T10:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
  ),
  fc.constantFrom(
    "2026-01-31T24:00:00.000Z",
    "2026-01-31T10:60:00.000Z",
    "2026-01-31t10:00:00.000Z",
    "2026-01-3AT10:00:00.000Z",
  ),
  fc.constantFrom("2026-01-31T10:00:00.00Z", "2026-01-31T10:00:00.0a0Z", "\u0130026-01-31T10:00:00.000Z", ""),
);

const gate = fc.record({
  ...{ signal: name, gate: mostly(name), id: mostly(name), verdict: mostly(fc.constantFrom("pass", "fail", "no")) },
  ...{
    why: mostly(name),
    tree: mostly(name),
    command: fc.oneof(name, fc.constant(null), fc.constant(["npm", "test"])),
  },
  tests: fc.record({ passed: fc.nat() }),
});
const other = fc.record(
  {
    ...{
      outcome: mostly(fc.constantFrom("completed", "aborted", "")),
      signal: mostly(name),
      injected: mostly(fc.boolean()),
    },
    ...{ plan: mostly(fc.array(name, { maxLength: 4 })), task: mostly(name), title: mostly(name), why: mostly(name) },
    ...{
      to: mostly(fc.nat(5)),
      cost: mostly(fc.double({ noNaN: true, min: 0, max: 9 })),
      verdict: mostly(name),
      ask: name,
    },
    ...{ said: fc.oneof(name, fc.constant('"kind":"ended"}'), fc.constant('"injected":true}'), fc.constant("\n")) },
  },
  { requiredKeys: [] },
);

const record = fc.record({ kind: mostly(kind), stage: mostly(name), fields: fc.oneof(gate, other) });
const commit = fc.record({
  at: mostly(time),
  run: mostly(fc.oneof({ weight: 9, arbitrary: fc.constantFrom("cw-1", "cw-2", "r") }, name)),
  seq: mostly(fc.nat(12)),
  who: fc.record({ host: mostly(fc.constantFrom("claude", "other")), session: mostly(name), workflow: mostly(name) }),
  records: fc.array(record, { minLength: 1, maxLength: 5 }),
});

type Change = (line: string) => string[];

/** What a journal may hold next to what was written into it. */
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Change>((line) => [line]) },
  fc.constant<Change>((line) => [line, line]),
  fc.constant<Change>((line) => [line.replace('"v":1', '"v":2'), line.replace('"v":1', '"v": 1')]),
  fc.constant<Change>((line) => [line.replace('"seq":', '"seq":0'), line.replace(',"i":', ',"i":00')]),
  fc.constant<Change>((line) => [line.replace(',"i":', ',"j":'), line.replace('"kind":"', '"kind": "')]),
  fc.constant<Change>((line) => [JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse()))]),
  fc.constant<Change>((line) => [`${line}}`, "", "null", "[]", "x", "}", `{${" ".repeat(99)}}`]),
  fc.nat().map<Change>((at) => (line) => [line.slice(0, at % line.length), line]),
  fc.tuple(fc.nat(), fc.constantFrom("~", '"', "\\", "é", "\u0000", "0", " ")).map<Change>(([at, sign]) => (line) => {
    const place = at % line.length;
    return [`${line.slice(0, place)}${sign}${line.slice(place + 1)}`];
  }),
);

const journal = fc.array(fc.tuple(commit, fc.array(change, { minLength: 5, maxLength: 5 })), { maxLength: 12 });

interface Commit {
  at: unknown;
  run: unknown;
  seq: unknown;
  who: object;
  records: { kind: unknown; stage: unknown; fields: object }[];
}

function textOf(commits: [Commit, Change[]][]): string {
  const lines = commits.flatMap(([{ at, run, seq, who, records }, changes]) =>
    records.flatMap(({ kind, stage, fields }, i) =>
      changes[i]!(JSON.stringify({ v: 1, at, run, seq, i, kind, ...who, stage, ...fields })),
    ),
  );
  return `${lines.join("\n")}\n`;
}

export const hostileJournal: fc.Arbitrary<string> = journal.map((commits) => textOf(commits as [Commit, Change[]][]));
