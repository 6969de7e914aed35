/** Sums the closing lines of the test runners in a log. usage: tally.mjs <log> <exit status of the steps that wrote it> */
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const [, , path = "", status] = process.argv;
const log = stripVTControlCharacters(readFileSync(path, "utf8"));
// Bun closes a run with one count per line and then "Ran …". Counts anywhere else were printed by a test.
const closings = log.match(/(?:^ *\d+ \w.*\n)+Ran /gm) ?? [];
const sum = (/** @type {string} */ kind) =>
  closings.reduce((all, lines) => all + Number(new RegExp(`^ *(\\d+) ${kind}$`, "m").exec(lines)?.[1] ?? 0), 0);

const skipped = sum("skip") + sum("todo");
// The step that failed may be no test, such as the linter: the line must not read as green then.
const failed = sum("fail") || (status === "0" ? 0 : 1);
console.log(`${sum("pass")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
