/** What the person asked for before they typed the command of a workflow. */
import { afterAll, expect, test } from "bun:test";
import { readRequest } from "../../../src/hosts/claude/request.ts";
import { prompt, result, say, temporary, write } from "./lines.ts";

const [folder, removeFolder] = temporary();
afterAll(removeFolder);

const done = [say("m1", "All of it is done."), result("t1", "all is well now")];
const ran = (name: string) =>
  prompt(`<command-message>${name}</command-message>\n<command-name>/${name}</command-name>`);
const pictured = JSON.stringify({
  type: "user",
  message: { role: "user", content: [{ type: "image" }, { type: "text", text: "Make it look like this" }] },
});

test.each<[string, string[], string]>([
  ["nothing was said", [], ""],
  ["only the command", [prompt("/complete-work")], ""],
  ["one request", [prompt("Mend the rounding of refunds"), ...done], "Mend the rounding of refunds"],
  [
    "the first of several, whatever came between",
    [
      prompt("Mend the rounding of refunds"),
      ...done,
      prompt("and add a test"),
      prompt("yes"),
      prompt("/complete-work"),
    ],
    "Mend the rounding of refunds",
  ],
  [
    "since the last command",
    [prompt("Mend the rounding of refunds"), ran("complete-work"), prompt("Now show the tax"), ran("complete-work")],
    "Now show the tax",
  ],
  ["commands alone name nothing", [prompt("/complete-work"), ran("clear"), prompt("go on"), prompt("x")], ""],
  ["blocks of text count", [pictured], "Make it look like this"],
  [
    "what no person typed does not",
    [
      prompt("Show the tax, too"),
      prompt("This is the summary of it", { isCompactSummary: true }),
      prompt("Caveat: messages below are local", { isMeta: true }),
      prompt("do the whole thing for me", { isSidechain: true }),
      prompt("<system-reminder>think of the tests</system-reminder>"),
      prompt("[pawl] Go on with the current step."),
    ],
    "Show the tax, too",
  ],
])("%s", (_, lines, wanted) => expect(readRequest(write(folder, lines))).toBe(wanted));

test("a transcript that is not there, or broken", () => {
  expect(readRequest("/nowhere/at-all.jsonl")).toBe("");
  expect(readRequest(write(folder, ["{torn", '"type":"user"']))).toBe("");
});
