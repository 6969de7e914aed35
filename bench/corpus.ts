/**
 * `PAWL_CORPUS=folder bun bench/corpus.ts`: the text reader and the guard's reading of last messages, measured on real
 * outputs with labels. The corpus is not part of this repository. Exits 1 on a false pass or too many unknown ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { judgeTests } from "../src/checks/evidence/tally.ts";
import { claimsCompletion } from "../src/guard/core/completion.ts";

const MOST_UNKNOWN = 0.03;
const WORDS = ["pass", "fail", "none"] as const;
type Word = (typeof WORDS)[number];
type Label = "PASS" | "FAIL" | "NONE";

interface Output {
  id: string;
  runner: string;
  label: Label;
  /** the label is arguable */
  arguable: boolean;
  verdict: Word;
  falsePass: boolean;
}

const readLines = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/**
 * The corpus has no exit statuses. A run that passed has exit 0. From the others it is withheld: the text alone has to
 * show the failure. What counts as a false pass is asked with exit 0, too, the worst that a script can do.
 */
function judge(folder: string, { id, runner, label: written }: { id: string; runner: string; label: string }): Output {
  const output = readFileSync(join(folder, "outputs", `${id}.txt`), "utf8");
  const label = written.replace("?", "") as Label;
  const atZero = judgeTests(output, 0).verdict;
  const unseen = judgeTests(output, null).verdict;
  return {
    id,
    runner,
    label,
    arguable: written.endsWith("?"),
    verdict: label === "FAIL" ? unseen : atZero,
    falsePass: label !== "PASS" && (atZero === "pass" || unseen === "pass"),
  };
}

function printRow(name: string, cells: (string | number)[]): void {
  console.log(name.padEnd(18) + cells.map((cell) => String(cell).padStart(8)).join(""));
}

function count<T>(list: T[], wanted: (item: T) => boolean): number {
  return list.filter(wanted).length;
}

function printMatrix(outputs: Output[]): void {
  printRow("label", [...WORDS]);
  for (const label of ["PASS", "FAIL", "NONE"] as const)
    for (const arguable of [false, true]) {
      const own = outputs.filter((output) => output.label === label && output.arguable === arguable);
      if (own.length > 0)
        printRow(
          `${label}${arguable ? "?" : ""}`,
          WORDS.map((word) => count(own, ({ verdict }) => verdict === word)),
        );
    }
}

const isClear = ({ label, arguable }: Output) => label !== "NONE" && !arguable;
const isUnknown = (output: Output) => isClear(output) && output.verdict === "none";

function printRunners(outputs: Output[]): void {
  printRow("\nrunner", ["outputs", "right", "unknown", "wrong"]);
  for (const runner of [...new Set(outputs.map((output) => output.runner))].sort()) {
    const own = outputs.filter((output) => output.runner === runner);
    const right = count(own, ({ label, verdict }) => label.toLowerCase() === verdict);
    const unknown = count(own, ({ label, verdict }) => label !== "NONE" && verdict === "none");
    printRow(runner, [own.length, right, unknown, own.length - right - unknown]);
  }
}

function measureReader(folder: string): string[] {
  const outputs = readLines(join(folder, "labels.jsonl")).map((line) => judge(folder, line));
  printMatrix(outputs);
  printRunners(outputs);
  const wrong = outputs.filter((output) => output.falsePass).map(({ id, runner }) => `false pass: ${id} (${runner})`);
  const clear = count(outputs, isClear);
  const unknown = outputs.filter(isUnknown);
  const share = unknown.length / clear;
  console.log(`\nfalse passes: ${wrong.length}`);
  console.log(`unknown among clear ones: ${unknown.length} of ${clear} (${(share * 100).toFixed(1)} %; at most 3 %)`);
  for (const { id, runner } of unknown) console.log(`  ${id} ${runner}`);
  return share <= MOST_UNKNOWN ? wrong : [...wrong, "too many unknown ones"];
}

function measureClaims(folder: string): void {
  const finals = readLines(join(folder, "finals.jsonl")) as { label: "Y" | "N" | "X"; final: string }[];
  const of = (label: string, claims: boolean) =>
    count(finals, (one) => one.label === label && claimsCompletion(one.final) === claims);
  const [hit, missed, alarm] = [of("Y", true), of("Y", false), of("N", true)];
  const percent = (part: number, all: number) => `${((100 * part) / all).toFixed(1)} %`;
  console.log(
    `\nlast messages that claim finished work: precision ${percent(hit, hit + alarm)}, recall ${percent(hit, hit + missed)}` +
      ` (${hit} found, ${missed} missed, ${alarm} false; ${of("N", false)} rightly not; unclear ${count(finals, ({ label }) => label === "X")})`,
  );
}

const folder = process.env.PAWL_CORPUS ?? "";
if (folder === "" || !existsSync(join(folder, "labels.jsonl"))) {
  console.log("PAWL_CORPUS names no folder with labels.jsonl: nothing measured");
} else {
  const wrong = measureReader(folder);
  measureClaims(folder);
  for (const problem of wrong) console.error(`WRONG ${problem}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
