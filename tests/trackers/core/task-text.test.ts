/** A task as it is typed: what is notation, what is its name, and that no word is lost. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  changeLine,
  lineText,
  newLine,
  parseTaskLine,
  whyUnwritable,
} from "../../../src/trackers/core/session-line.ts";
import { cleanTitle, taskFromText } from "../../../src/trackers/core/task-text.ts";
import { ownTime } from "../../harness/own-time.ts";

describe("what was typed, and the line it becomes", () => {
  const rows: [string, string][] = [
    ["fix login bug", "- [ ] **Fix login bug** — | sonnet"],
    ["  fix login bug  ", "- [ ] **Fix login bug** — | sonnet"],
    ["fix login — `/plan x` | opus | restart", "- [ ] **Fix login** — `/plan x` | opus | restart"],
    ["fix login – `/plan a | b`", "- [ ] **Fix login** — `/plan a | b` | sonnet"],
    ["fix login | opus", "- [ ] **Fix login** — | opus"],
    ["fix login — | gpt-5 | no restart", "- [ ] **Fix login** — | gpt-5"],
    ["fix login #web p1", "- [ ] **Fix login** — | sonnet | p1 | #web"],
    ["fix login #web — `x` | opus", "- [ ] **Fix login** — `x` | opus | #web"],
    ["fix — | opus | restart #web #ui p0", "- [ ] **Fix** — | opus | restart | p0 | #web #ui"],
    ["fix — | sonnet | after: a, b | epic: big one", "- [ ] **Fix** — | sonnet | epic: big one | after: a, b"],
    ["**Foo bar** — `c` | haiku", "- [ ] **Foo bar** — `c` | haiku"],
    ["- [ ] **foo** — `c` | haiku", "- [ ] **foo** — `c` | haiku"],
    // Not notation: it stays in the name.
    ["fix bug #12", "- [ ] **Fix bug #12** — | sonnet"],
    ["compare #a with p2 first", "- [ ] **Compare #a with p2 first** — | sonnet"],
    ["fix login — it is slow", "- [ ] **Fix login — it is slow** — | sonnet"],
    ["ls | grep x", "- [ ] **Ls | grep x** — | sonnet"],
    ["fix — `a` and `b` | opus", "- [ ] **Fix — `a` and `b`** — | opus"],
    ["fix - `code` thing", "- [ ] **Fix - `code` thing** — | sonnet"],
    // Letters that somebody chose.
    ["iOS build", "- [ ] **iOS build** — | sonnet"],
    ["parse() crashes", "- [ ] **parse() crashes** — | sonnet"],
    ["src/x.ts is long", "- [ ] **src/x.ts is long** — | sonnet"],
    ["über alles", "- [ ] **Über alles** — | sonnet"],
    // Stars and blanks that somebody typed. A star that would end the name is written as in Markdown.
    ["use 2**3", "- [ ] **Use 2\\*\\*3** — | sonnet"],
    ["use 2*3  now", "- [ ] **Use 2*3  now** — | sonnet"],
    ["make **this** bold", "- [ ] **Make \\*\\*this\\*\\* bold** — | sonnet"],
    ["*soft* word*", "- [ ] **\\*soft* word\\*** — | sonnet"],
    ["keep C:\\", "- [ ] **Keep C:\\\\** — | sonnet"],
    ["keep C:\\temp and \\*", "- [ ] **Keep C:\\temp and \\\\\\*** — | sonnet"],
    ["- [ ] **Use 2\\*\\*3** — | opus", "- [ ] **Use 2\\*\\*3** — | opus"],
    // What a line cannot hold.
    ["fix — ` `", "- [ ] **Fix — ` `** — | sonnet"],
    ["fix — `a\u001bb` | opus", "- [ ] **Fix** — `a b` | opus"],
    ["red \u001b[31m alert\u202e", "- [ ] **Red  [31m alert** — | sonnet"],
  ];
  test.each(rows)("%j", (typed, line) => expect(newLine(taskFromText(typed))).toBe(line));
});

test("further lines are its text, without what steers a terminal", () => {
  expect(taskFromText("fix login\r\n\n  - [ ] step\u0007\nlast\n")).toEqual({
    title: "Fix login",
    text: "\n  - [ ] step \nlast",
  });
});

test("what is too long for a name is cut there, and whole in the text", () => {
  const long = "word ".repeat(100).trim();
  const { title, text } = taskFromText(`${long}\nmore`);
  expect(title.length).toBeLessThanOrEqual(101);
  expect(title).toEndWith("word…");
  expect(text).toBe(`${long}\nmore`);
});

test("nothing typed is no title", () => {
  for (const typed of ["", "  \n", "\u0000"]) expect(taskFromText(typed).title).toBe("");
});

test("whatever is typed can be written, and is read again as it is", () => {
  const word = fc.constantFrom(
    "fix",
    "—",
    "|",
    "`x`",
    "#web",
    "p1",
    "opus",
    "restart",
    "**a**",
    "**",
    "*",
    "\\",
    "`",
    "\u001b",
    "a|b",
  );
  const typed = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(word).map((words) => words.join(" ")),
  );
  fc.assert(
    fc.property(typed, (text) => {
      const task = taskFromText(text);
      if (task.title === "") return;
      expect(whyUnwritable(task)).toBeNull();
      expect(parseTaskLine(newLine(task))!.title).toBe(task.title);
      expect(cleanTitle(task.title)).toBe(task.title);
    }),
    { numRuns: 3_000 },
  );
});

test("a name without notation stays as typed, and session.md gives it back", () => {
  const sign = fc.constantFrom("*", "**", "\\", "`", " ", "  ", "2", "a", "_", "(", "\u00a0", "日");
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 40 }), (signs) => {
      const typed = `Use ${signs.join("")}`.trim();
      const { title } = taskFromText(typed);
      expect(title).toBe(typed);
      expect(parseTaskLine(newLine({ title }))!.title).toBe(typed);
      const renamed = changeLine(parseTaskLine("- [ ] old #web")!, { title, priority: 1 });
      expect(parseTaskLine(lineText(renamed))!.title).toBe(typed);
    }),
    { numRuns: 3_000 },
  );
});

test("a hostile line takes no longer than a plain one", () => {
  const texts = [
    "p1 ".repeat(200_000),
    "a | ".repeat(200_000),
    `a${" ".repeat(400_000)}b`,
    "**".repeat(200_000),
    `x${"* ".repeat(200_000)}x`,
  ];
  for (const text of texts) expect(ownTime(() => void taskFromText(text))).toBeLessThan(2_000);
});
