/** Signals of a loop: what counts, in a message and in what is kept of an output. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type LoopSignals, signalsIn, signalsInOutput } from "../../../src/loop/core/signal.ts";
import { ownTime } from "../../harness/own-time.ts";
import { type Case, echoes, PROMPT, plain, traps } from "./signal-corpus.ts";

setDefaultTimeout(60_000);

const bytesOf = (text: string) => new TextEncoder().encode(text);

const NONE = new Uint8Array(0);
const inOutput = (text: string, prompt = "") => {
  const tail = bytesOf(text);
  return signalsInOutput({ head: NONE, tail, bytes: tail.length }, prompt);
};

const wanted = ({ says, malformed = [], misplaced = [], quoted = [] }: Case): LoopSignals => ({
  success: says?.includes("S") === true,
  failure: says?.includes("F") === true,
  reason: says === undefined ? null : expect.any(String),
  malformed,
  misplaced,
  quoted,
});

describe("what counts", () => {
  for (const one of [...plain, ...traps]) {
    test(one.name, () => {
      expect(signalsIn(one.text, "")).toEqual(wanted(one));
      expect(inOutput(one.text)).toEqual(wanted(one));
    });
  }
  test("there are enough of them", () => {
    expect(plain.length + traps.length).toBeGreaterThanOrEqual(60);
    expect(traps.length).toBeGreaterThanOrEqual(plain.length);
  });
});

describe("an echoed prompt", () => {
  for (const one of echoes) {
    test(one.name, () => {
      expect(inOutput(one.text, PROMPT)).toEqual(wanted(one));
      expect(signalsIn(one.text, PROMPT)).toEqual(wanted(one));
    });
  }
  test("without an echo the prompt changes nothing", () => {
    for (const one of [...plain, ...traps]) expect(inOutput(one.text, PROMPT)).toEqual(wanted(one));
  });
});

// ── More than is kept ───────────────────────────────────────────────────────

describe("the beginning and the end of a long output", () => {
  const cut = (head: string, tail: string, prompt = "") =>
    signalsInOutput({ head: bytesOf(head), tail: bytesOf(tail), bytes: 1 << 30 }, prompt);
  const S = "<promise>SUCCESS</promise>";
  const F = "<promise>FAILURE</promise>";
  const log = "a line of a log\n".repeat(1000);

  test("a signal at either end is found, and FAILURE at either end, too", () => {
    expect(cut(`${S}\n${log}`, log)).toMatchObject({ success: true, failure: false });
    expect(cut(log, `${log}\n${S}\n`)).toMatchObject({ success: true, failure: false });
    expect(cut(`${F}\n${log}`, `${log}\n${S}\n`)).toMatchObject({ success: true, failure: true });
  });
  test("one that ends a line is found, whatever letter the cut fell into", () => {
    const tail = bytesOf(`${"ä".repeat(1000)}\n${S}`).subarray(1);
    expect(signalsInOutput({ head: bytesOf("x"), tail, bytes: 1 << 30 }, "").success).toBe(true);
  });
  test("next to the cut it is not known what else is in the line, so it is none", () => {
    const none = { success: false, failure: false, misplaced: [S] };
    expect(cut(log, `${S}\n${log}`)).toMatchObject(none);
    expect(cut(`${log}${S}`, log)).toMatchObject(none);
    expect(cut(log, `yet ${S}\n${log}`)).toMatchObject(none);
  });
  test("nothing is missing between the two: they are read as one", () => {
    const all = bytesOf(`${S}\n${log}`);
    for (const at of [1, 9, 26, 27, 40]) {
      const kept = { head: all.subarray(0, at), tail: all.subarray(at), bytes: all.length };
      expect(signalsInOutput(kept, "")).toMatchObject({ success: true, misplaced: [] });
    }
  });
  test("a fence that is open at the end of the beginning says nothing about the end", () => {
    expect(cut(`\`\`\`\n${log}`, `${log}\n${S}`).success).toBe(true);
  });
  test("a cut inside a fence: what follows the fence counts, what is in it does not", () => {
    for (const fence of ["```", "~~~"]) {
      const tail = `${log}${F}\n${fence}\n\nDone.\n\n${S}\n`;
      expect(cut(log, tail)).toMatchObject({ success: true, failure: false, malformed: [], quoted: [F] });
      expect(cut(log, `${tail}\n${fence}\n${F}\n${fence}\n`)).toMatchObject({ success: true, failure: false });
    }
  });
  test("the echoed prompt is none at either end", () => {
    expect(cut(PROMPT + log, log + PROMPT, PROMPT)).toEqual(wanted(echoes[0]!));
    expect(cut(PROMPT + log, `${log}${PROMPT}\n${F}`, PROMPT).failure).toBe(true);
  });
});

describe("the reason is that of the signal that counts", () => {
  const S = "<promise>SUCCESS</promise>";
  const F = "<promise>FAILURE</promise>";
  test.each<[string, string, string | null]>([
    ["after it", `Hello.\n\n${S}\n\nAll done.\n\nReally.`, "All done. Really."],
    ["before it, if nothing follows", `I looked everywhere.\n\nBlocked.\n${F}\n`, "I looked everywhere. Blocked."],
    ["FAILURE first", `${F}\n\nNo database.\n\n${S}\n\nAll done.`, "No database."],
    ["FAILURE last", `${S}\n\nAll done.\n\n${F}\n\nNo database.`, "No database."],
    ["FAILURE last, without one", `Hello.\n\n${S}\n\nAll done.\n\n${F}`, ""],
    ["both at the end", `No database.\n\n${S}\n${F}`, "No database."],
    ["said again at the end", `${F}\n\nNo database.\n\n${F}\n`, "No database."],
    ["the other one in a sentence", `${F}\n\nNot ${S}: no database.`, `Not ${S}: no database.`],
    ["in code later", `${F}\n\nNo database.\n\n\`\`\`\n${F}\n\`\`\`\n`, `No database. \`\`\` ${F} \`\`\``],
    ["no signal", `Not ${S}.`, null],
  ])("%s", (_, text, reason) => {
    for (const { reason: found } of [signalsIn(text, ""), inOutput(text.replaceAll("\n", "\r\n"))])
      expect(found?.replace(/\s+/g, " ") ?? null).toBe(reason);
  });
});

test("behind the spinner that a client draws it is alone on its line", () => {
  expect(inOutput("⣾⣽⣻⢿<promise>SUCCESS</promise>\n")).toMatchObject({ success: true });
  expect(inOutput("so\n⣾\b⣽\b<promise>FAILURE</promise>\n")).toMatchObject({ failure: true });
  expect(inOutput("⣾⣽not <promise>SUCCESS</promise>\n")).toMatchObject({ success: false });
});

test("an escape sequence that never ends costs its line, not the output", () => {
  for (const open of ["\u001b]0;title", "\u001bP", "\u001b[1;2", "\u001b_"])
    expect(inOutput(`one ${open}\ntwo\n\n<promise>SUCCESS</promise>\n`)).toMatchObject({ success: true });
});

describe("cost", () => {
  const MIB = 1 << 20;
  test.each([
    ["lines", "2026-01-23 11:45:00 [info] compiled src/core/thing.ts in 12 ms; Array<number> ok - 3/5\n"],
    ["one line", "................"],
    ["opening brackets", "<"],
    ["promises", "<promise>"],
    ["backticks", "`"],
    ["backticks of many lengths", "` `` ``` ```` "],
    ["fences", "```\n"],
    ["comments", "<!-- a -->\n"],
    ["open comments", "<!--\n"],
    ["escapes", "\u001b"],
    ["colours", "\u001b[32mok\u001b[0m done\n"],
    ["quotes", "> a\n"],
    ["carriage returns", "\r"],
    ["tags", "<promise>SUCCESS</promise>\n"],
    ["tags in one line", "<promise>SUCCESS</promise>"],
    ["tags with reasons", "<promise>SUCCESS</promise>\na\n"],
    ["paragraphs", "a\n\n"],
    ["almost", "<promise>SUCCESS</promise\n"],
    ["ends of the prompt", "Then explain the blockers. "],
    ["prompts", PROMPT],
  ])("%s: linear, whatever comes", (_name, part) => {
    const text = part.repeat(Math.ceil((4 * MIB) / part.length));
    expect(ownTime(() => void inOutput(`${text}\n<promise>SUCCESS</promise>`, PROMPT))).toBeLessThan(10_000);
  });
});
