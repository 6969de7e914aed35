/** An edit of session.md changes its own task and nothing else, in ordinary files and in hostile ones. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { addNote, addTask, editTask, parseSessionFile, replaceText } from "../../../src/trackers/core/session-file.ts";

const LINES = [
  ...["- [ ] **A** — `c` | opus", "  * [x] b #l", "- [>] **C** <!-- x", "## Pending Tasks", "# Else", "## Tasks -->"],
  ...["```", "~~~", "   ```", "<!--", "-->", "<!-", "->", "", "   ", "  body", "\tbody", "\u00a0", "\u000b", "é"],
  ...["-", "~", "prose", "a", "😀", "prose <!-- begins", "ends --> here", "[link]", "| a | b |", "> said", "1. one"],
  ...["- [ ] 😀 | @me", "- [ ] **D** | after: a, b"],
];
const lines = fc.array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...LINES) }, fc.string()), { maxLength: 14 });
const text = fc
  .tuple(fc.constantFrom("", "\uFEFF"), fc.constantFrom("\n", "\r\n"), lines, fc.boolean())
  .map(([bom, end, all, isClosed]) => bom + all.join(end) + (isClosed ? end : ""));

type Edit = (whole: string, id: string) => string;
const LINE_EDITS: Record<string, Edit> = {
  claim: (whole, id) => editTask(whole, id, { state: "claimed", owner: { actor: "pawl-1", on: "here" } }),
  free: (whole, id) => editTask(whole, id, { state: "open", owner: null }),
  rename: (whole, id) => editTask(whole, id, { title: "😁 other", labels: { add: ["new"] } }),
  close: (whole, id) => editTask(whole, id, { state: "closed" }),
};
const TEXT_EDITS: Record<string, Edit> = {
  note: (whole, id) => addNote(whole, id, "noted"),
  text: (whole, id) => replaceText(whole, id, "one\n\ntwo 😀"),
};

test("a line edit keeps every byte before and after its line", () => {
  fc.assert(
    fc.property(text, fc.constantFrom(...Object.values(LINE_EDITS)), fc.nat(), (whole, edit, nth) => {
      const { found } = parseSessionFile(whole);
      if (found.length === 0) return;
      const { id, from, end } = found[nth % found.length]!;
      const next = edit(whole, id);
      expect(next.slice(0, from)).toBe(whole.slice(0, from));
      expect(next.endsWith(whole.slice(end))).toBe(true);
      expect(next.slice(from, next.length - (whole.length - end))).not.toContain("\n");
    }),
    { numRuns: 8_000 },
  );
});

test("a note or a new text keeps every byte before the task and after its text", () => {
  fc.assert(
    fc.property(text, fc.constantFrom(...Object.values(TEXT_EDITS)), fc.nat(), (whole, edit, nth) => {
      const { found } = parseSessionFile(whole);
      if (found.length === 0) return;
      const { id, end, until } = found[nth % found.length]!;
      const next = edit(whole, id);
      expect(next.slice(0, end)).toBe(whole.slice(0, end));
      expect(next.endsWith(whole.slice(until))).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test("a new task is one more piece of text in one place", () => {
  fc.assert(
    fc.property(text, (whole) => {
      const next = addTask(whole, { title: "New", text: "with\na text" });
      let at = 0;
      while (at < whole.length && whole[at] === next[at]) at++;
      expect(next.endsWith(whole.slice(at))).toBe(true);
      expect(next.length).toBeGreaterThan(whole.length);
    }),
    { numRuns: 5_000 },
  );
});
