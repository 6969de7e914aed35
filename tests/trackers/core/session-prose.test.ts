/** A large session.md is read and changed without its prose: that must change nothing of what comes out. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  addNote,
  addTask,
  editTask,
  parseSessionFile,
  replaceText,
  taskAfter,
  tasksOf,
} from "../../../src/trackers/core/session-file.ts";
import { proseIn, spliceBetween } from "../../../src/trackers/core/session-prose.ts";
import { inFile, keeper, readNotes } from "../../../src/trackers/notes.ts";
import { swapFile } from "../../../src/trackers/swap.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-prose-"));
const path = join(folder, "session.md");
afterAll(() => rmSync(folder, { recursive: true }));

/** Near to a task nothing is left out. */
const LONG = `${"long ".repeat(60)}prose`;

const read = (text: string) => tasksOf(parseSessionFile(text));

const LINES = [
  ...["- [ ] **A** — `c` | opus", "  * [x] b #l", "- [>] **C** <!-- x", "## Pending Tasks", "# Else", "## Tasks -->"],
  ...[
    "```",
    "~~~",
    "   ```",
    "<!--",
    "-->",
    "<!-",
    "->",
    "",
    "   ",
    "  body",
    "\tbody",
    "\u00a0",
    "\u000b",
    "é",
    "1. one",
  ],
  ...[
    "-",
    "~",
    "prose",
    LONG,
    LONG,
    `${LONG}\n\n`,
    `${LONG}\n  ${LONG}`,
    "a",
    "😀",
    "prose <!-- begins",
    "ends --> here",
    "[link]",
    "| a | b |",
    "> said",
    "- [ ] 😀 | @me",
    "- [ ] **D** | after: a, b",
  ],
];
const lines = fc.array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...LINES) }, fc.string()), { maxLength: 14 });
const text = fc
  .tuple(fc.constantFrom("", "\uFEFF"), fc.constantFrom("\n", "\r\n"), lines, fc.boolean())
  .map(([bom, end, all, isClosed]) => bom + all.join(end) + (isClosed ? end : ""));

/** As a file that comes in parts, each of whole lines. */
function kept(whole: string, cuts: number[]) {
  const bytes = Buffer.from(whole);
  const ends = cuts.map((cut) => bytes.indexOf(10, cut % (bytes.length + 1)) + 1 || bytes.length).sort((a, b) => a - b);
  const keep = keeper(false);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    keep.add(bytes.subarray(from, end));
    from = end;
  }
  return { ...keep.all(), print: { parts: [], size: 0 }, closed: true };
}

type Edit = (whole: string) => string;
const first = (whole: string) => parseSessionFile(whole).found[0]?.id ?? "none";
const last = (whole: string) => parseSessionFile(whole).found.at(-1)?.id ?? "none";
const EDITS: Record<string, Edit> = {
  claim: (whole) => editTask(whole, first(whole), { state: "claimed", owner: { actor: "pawl-1", on: "here" } }),
  free: (whole) => editTask(whole, last(whole), { state: "open", owner: null }),
  rename: (whole) => editTask(whole, last(whole), { title: "😁 other", labels: { add: ["new"] } }),
  note: (whole) => addNote(whole, last(whole), "noted"),
  close: (whole) => editTask(addNote(whole, first(whole), "closed: é"), first(whole), { state: "closed" }),
  text: (whole) => replaceText(whole, first(whole), "one\n\ntwo 😀"),
  add: (whole) => addTask(whole, { title: "New", text: "with\na text" }),
};

test("without its prose it has the same tasks, however it comes in parts", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 3 }), (whole, cuts) => {
      expect(read(kept(whole, cuts).text)).toEqual(read(whole));
    }),
    { numRuns: 5000 },
  );
});

test("a change of what is left is the same change of the file", () => {
  let mapped = 0;
  fc.assert(
    fc.property(text, fc.constantFrom(...Object.keys(EDITS)), fc.nat(), (whole, name, cut) => {
      const notes = kept(whole, [cut]);
      const splice = inFile(notes, spliceBetween(notes.text, EDITS[name]!(notes.text)));
      if (splice === null) return;
      mapped++;
      expect(spliced(Buffer.from(whole), splice)).toBe(EDITS[name]!(whole));
    }),
    { numRuns: 10_000 },
  );
  // Where it cannot be told, the file is read with its prose.
  expect(mapped).toBeGreaterThan(9_900);
});

const spliced = (bytes: Buffer, { from, to, by }: { from: number; to: number; by: string }) =>
  Buffer.concat([bytes.subarray(0, from), Buffer.from(by), bytes.subarray(to)]).toString();

test("between two texts there is one change, which makes the one from the other", () => {
  const signs = fc
    .array(fc.constantFrom("a", "b", "é", "😀", "😁", "🨀", "\n"), { maxLength: 12 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(signs, signs, signs, signs, fc.constantFrom("", "x".repeat(5_000)), (head, a, b, tail, long) => {
      const [before, after] = [long + head + a + tail + long, long + head + b + tail + long];
      const { from, to, by } = spliceBetween(before, after);
      expect(before.slice(0, from) + by + before.slice(to)).toBe(after);
      for (const part of [before.slice(0, from), by, before.slice(to)]) expect(part.isWellFormed()).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test("a task after an edit reads as in the whole file", () => {
  fc.assert(
    fc.property(text, fc.constantFrom("claim", "note", "close", "text", "rename"), (whole, name) => {
      const [file, next] = [parseSessionFile(whole), EDITS[name]!(whole)];
      const at = file.found.findIndex(({ id }) => id === (name === "note" || name === "rename" ? last : first)(whole));
      if (at >= 0) expect(taskAfter(file, at, next)).toEqual(tasksOf(parseSessionFile(next))[at]!);
    }),
    { numRuns: 3000 },
  );
});

test("large files: read in parts and changed on disk as in memory", () => {
  const many = fc.tuple(
    text,
    fc.integer({ min: 60, max: 400_000 }),
    text,
    fc.constantFrom("prose\n", "x", "- [ ] é\n"),
  );
  fc.assert(
    fc.property(many, fc.constantFrom(...Object.keys(EDITS)), ([head, size, tail, filler], name) => {
      const whole = `${head}\n${filler.repeat(Math.ceil(size / filler.length))}${tail}`;
      const next = EDITS[name]!(whole);
      writeFileSync(path, whole);
      expect(changedOnDisk(EDITS[name]!)).toBe(true);
      expect(readFileSync(path, "utf8") === next).toBe(true);
    }),
    { numRuns: 60 },
  );
}, 60_000);

function changedOnDisk(edit: Edit): boolean {
  for (const whole of [false, true]) {
    const reading = readNotes(path, 8 << 20, whole);
    if (!reading.ok) throw new Error(reading.why);
    const { notes } = reading;
    const splice = inFile(notes, spliceBetween(notes.text, edit(notes.text)));
    if (splice !== null) return swapFile(path, notes, splice);
  }
  return false;
}

test("of each stretch of prose one dot is left, but not next to a task", () => {
  const whole = `# S\none\ntwo\n- [ ] **A**\n  body\n${LONG}\nthree\nfour`;
  expect(kept(whole, []).text).toBe(`# S\n.\n- [ ] **A**\n  body\n${LONG}\n.`);
  expect(proseIn(Buffer.from("- a\nb\nc --> d\ne"))).toEqual([0, 6]);
  expect(proseIn(Buffer.from(`  a\n\nb\n - [c]\n${LONG}\n  d\n\n-e\n  f\ng\n\n`))).toEqual([5, 7, 325, 334]);
});

test("a change that would touch what was left out is none", () => {
  const notes = kept("# S\none\ntwo\n- [x] x\nb\n- [y] y\n", []);
  expect(notes.text).toBe("# S\n.\n- [x] x\nb\n- [y] y\n");
  const at = (from: number, to: number) => inFile(notes, { from, to, by: "" });
  expect([at(4, 4), at(6, 6), at(6, 14)]).toMatchObject([{ from: 4 }, { from: 12 }, { from: 12, to: 20 }]);
  expect([at(5, 5), at(4, 6), at(3, 7), at(4, 5)]).toEqual([null, null, null, null]);
});
