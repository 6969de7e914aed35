/** docs/reference/ is what the program says of itself, today. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ENVIRONMENT } from "../../scripts/reference/cli.ts";
import { EXAMPLES } from "../../scripts/reference/journal.ts";
import { recordedKeys } from "../../scripts/reference/records.ts";
import { references, WRITTEN } from "../../scripts/reference.ts";
import { COMMANDS } from "../../src/cli/index.ts";
import { WORDS } from "../../src/cli/shared/words.ts";
import { makePlace, removePlaces } from "../harness/harness.ts";
import { journalOf } from "../harness/run-files.ts";
import { perform, type World } from "../scenarios/scenario.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
const FOLDER = join(REPOSITORY, "docs/reference");
const generated = await references();

afterAll(removePlaces);

describe("is fresh; if not: node_modules/.bin/bun scripts/reference.ts", () => {
  test.each(Object.keys(generated))("%s", (name) => {
    expect(readFileSync(join(FOLDER, name), "utf8")).toBe(generated[name]!);
  });
  test("no page is left over", () => {
    expect(readdirSync(FOLDER).sort()).toEqual([...Object.keys(generated), ...WRITTEN].sort());
  });
});

test("every command has its section with its usage", async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    expect(generated["cli.md"]).toContain(`## pawl ${name}\n`);
    expect(generated["cli.md"]).toContain((await load()).usage);
  }
});

const found = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))];
const sorted = (names: string[]) => [...names].sort();

/** A gate's own, which reporters join with theirs: Pawl itself does not read them. */
const JOINED = ["GOFLAGS", "PYTHONPATH", "TOX_OVERRIDE", "TOX_TESTENV_PASSENV"];

test("every variable that the sources read is explained, and no other", () => {
  const read = found(sources("src"), /\benv\.([A-Z][A-Z_]+)/g).filter((name) => !JOINED.includes(name));
  expect(sorted(read)).toEqual(sorted(Object.keys(ENVIRONMENT)));
});

test("every kind that core records has its words and its example, and no other; no example has a key of its own", () => {
  const recorded = recordedKeys();
  expect(sorted(Object.keys(WORDS))).toEqual(sorted([...recorded.keys()]));
  expect(sorted(Object.keys(EXAMPLES))).toEqual(sorted([...recorded.keys()]));
  const foreign = Object.entries(EXAMPLES).flatMap(([kind, fields]) =>
    Object.keys(fields).filter((key) => !recorded.get(kind)?.includes(key)),
  );
  expect(foreign).toEqual([]);
});

test("a journal of a real run holds only keys that are explained", () => {
  const place = makePlace();
  const world: World = { place, sessions: {}, current: "A", last: null };
  const said = [
    "No tag.",
    "<promise>review_complete</promise>",
    "- a bug\n\n<promise>REVIEW_ISSUES_FOUND</promise>",
    "1, 2 or 3?",
  ];
  perform(world, { prompt: "/complete-work review commit" });
  for (const stop of said) perform(world, { stop });
  perform(world, { prompt: "3" });
  perform(world, { stop: "<promise>WORKFLOW_COMPLETE</promise>" });
  const lines = journalOf(place.root) as unknown as Record<string, unknown>[];
  const common = ["v", "at", "run", "seq", "i", "kind", "host", "session", "workflow", "stage"];
  const recorded = recordedKeys();
  const odd = lines.flatMap((line) =>
    Object.keys(line).filter((key) => !common.includes(key) && !recorded.get(String(line.kind))?.includes(key)),
  );
  expect(odd).toEqual([]);
  expect(new Set(lines.map((line) => line.kind)).size).toBeGreaterThan(10);
});

function sources(folder: string): string {
  const names = readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts"));
  return files.map((name) => readFileSync(join(REPOSITORY, folder, name), "utf8")).join("\n");
}
