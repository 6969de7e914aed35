/** session.md is read in a quick way, which must find what the plainest one finds: in ordinary files and in hostile ones. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { listTasks, parseSessionFile } from "../../../src/trackers/core/session-file.ts";
import { plainTasks } from "./session-plain.ts";

const NAMES = [
  "**A**",
  "**A 2**",
  "**Fix login — now**",
  "plain name",
  "**a** b",
  "****",
  "**日本**",
  "__x__",
  "**A--b**",
  "-",
  "**İ**",
];
const FIELDS = [
  ...[
    "",
    " ",
    "opus",
    "Sonnet",
    "gpt-5",
    "restart",
    "no restart",
    "p1",
    "p4",
    "p9",
    "#web",
    " #web ",
    "\u00a0#web",
    "#web #ui",
  ],
  ...[
    "#web p0",
    "`#code` #x",
    "p1x",
    "epic: login",
    "after: a, b",
    "AFTER: a",
    "@me",
    "@pawl-1 on m since 2026-11-15T10:00:00Z",
  ],
  ...["#ünï", "##", "#", "op#us", "p2 opus", "a`b", "`p1`", "#a\u2028", "\t#tab\t", "restart #x", "no  restart"],
];
const field = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...FIELDS) }, fc.string({ maxLength: 8 }));
const dash = fc.constantFrom("", " —", " — `/do x`", " – `a | b` c", " -- `x`", " — `` `y`", " →", " #now", "—`x`");
const task = fc
  .tuple(
    fc.constantFrom(
      "- [ ] ",
      "- [x] ",
      "* [>] ",
      "+ [!] ",
      "- [†] ",
      "  - [ ] ",
      "\t- [-] ",
      "- [?] ",
      "-[ ] ",
      "- [ ]  ",
    ),
    fc.constantFrom(...NAMES),
    dash,
    fc.array(field, { maxLength: 4 }),
  )
  .map(([box, name, rest, fields]) => `${box}${name}${rest}${fields.map((one) => ` | ${one}`).join("")}`);
/** As Pawl writes them, and nearly so. */
const usual = fc
  .tuple(
    fc.constantFrom("-", "*", "  -", "- "),
    fc.constantFrom("[ ]", "[x]", "[>]", "[!]", "[-]", "[X]", "[†]"),
    fc.constantFrom("Fix it", " a", "b ", "c\u00a0", "d|e", "x*y", "f`g", "a — b", "", " ", "é #1 p1"),
    fc.constantFrom("", "`/do x` ", "`a|b` ", "`#c p1` ", "``", "`x`", "` ` "),
    fc.constantFrom("sonnet", "opus", "restart", "restarts", "gpt5", "p", "Opus", "", "two words"),
    fc.constantFrom("", " | restart", " | no restart", " | restart "),
    fc.constantFrom("", " | #web", " | #a:b/c", " | #ünï", " | #a #b", " | #", " | p1", " | #x\t"),
  )
  .map(([dash, box, name, command, ...fields]) => `${dash} ${box} **${name}** — ${command}| ${fields.join("")}`);
const other = fc.constantFrom(
  ...[
    "## Pending Tasks",
    "# Else",
    "## Worktree tasks",
    "   ### Tasks",
    "    # no heading",
    "#no",
    "####### no",
    "prose",
  ],
  ...[
    "```",
    "````",
    "~~~",
    "  ```js",
    "``` x",
    "<!--",
    "-->",
    "<!-- a -->",
    "a --> b <!-- c",
    "--",
    "",
    "   ",
    "\u00a0",
  ],
  ...["  body", "    deeper", "\tbody", " half", "  \u3000", "- no box", "  - [ ] inner", "é", "\u2028"],
);
const text = fc
  .tuple(
    fc.constantFrom("", "\uFEFF"),
    fc.constantFrom("\n", "\r\n"),
    fc.array(fc.oneof(task, usual, other), { maxLength: 16 }),
  )
  .map(([mark, end, lines]) => mark + lines.join(end));

test("the quick way finds what the plain way finds", () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(listTasks(parseSessionFile(whole))).toEqual(plainTasks(whole));
    }),
    { numRuns: 15_000 },
  );
}, 60_000);
