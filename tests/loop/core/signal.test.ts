/** Signals of a loop: what counts, in a message and in what is kept of an output. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type LoopSignals, signalsIn, signalsInOutput } from "../../../src/loop/core/signal.ts";
import { ownTime } from "../../harness/own-time.ts";
import { type Case, echoes, PROMPT, plain, traps } from "./signal-corpus.ts";

setDefaultTimeout(60_000);

const bytesOf = (text: string) => new TextEncoder().encode(text);

const NONE = new Uint8Array(0);
const inOutput = (text: string, prompt = "") => signalsInOutput({ head: NONE, tail: bytesOf(text) }, prompt);

const wanted = ({ says, malformed = [], quoted = [] }: Case): LoopSignals => ({
  success: says?.includes("S") === true,
  failure: says?.includes("F") === true,
  malformed,
  quoted,
});

describe("what counts", () => {
  for (const one of [...plain, ...traps]) {
    test(one.name, () => {
      expect(signalsIn(one.text)).toEqual(wanted(one));
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
    test(one.name, () => expect(inOutput(one.text, PROMPT)).toEqual(wanted(one)));
  }
  test("without an echo the prompt changes nothing", () => {
    for (const one of [...plain, ...traps]) expect(inOutput(one.text, PROMPT)).toEqual(wanted(one));
  });
});

// ── More than is kept ───────────────────────────────────────────────────────

describe("the beginning and the end of a long output", () => {
  const cut = (head: string, tail: string, prompt = "") =>
    signalsInOutput({ head: bytesOf(head), tail: bytesOf(tail) }, prompt);
  const S = "<promise>SUCCESS</promise>";
  const F = "<promise>FAILURE</promise>";
  const log = "a line of a log\n".repeat(1000);

  test("a signal at either end is found, and FAILURE at either end, too", () => {
    expect(cut(`${S}\n${log}`, log)).toMatchObject({ success: true, failure: false });
    expect(cut(log, `${log}\n${S}\n`)).toMatchObject({ success: true, failure: false });
    expect(cut(`${F}\n${log}`, `${log}\n${S}\n`)).toMatchObject({ success: true, failure: true });
  });
  test("one in an endless line is found, whatever letter the cut fell into", () => {
    const ä = bytesOf("ä".repeat(1000) + S);
    expect(signalsInOutput({ head: bytesOf("x"), tail: ä.subarray(1) }, "").success).toBe(true);
  });
  test("a fence that is open at the end of the beginning says nothing about the end", () => {
    expect(cut(`\`\`\`\n${log}`, `${log}\n${S}`).success).toBe(true);
  });
  test("a cut inside a fence: what follows the fence counts, what is in it does not", () => {
    const tail = `${log}${F}\n\`\`\`\n\nDone.\n\n${S}\n`;
    expect(cut(log, tail)).toEqual({ success: true, failure: false, malformed: [], quoted: [F] });
    expect(cut(log, `${tail}\n\`\`\`\n${F}\n\`\`\`\n`)).toMatchObject({ success: true, failure: false });
  });
  test("the echoed prompt is none at either end", () => {
    expect(cut(PROMPT + log, log + PROMPT, PROMPT)).toEqual(wanted(echoes[0]!));
    expect(cut(PROMPT + log, `${log}${PROMPT}\n${F}`, PROMPT).failure).toBe(true);
  });
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
    ["almost", "<promise>SUCCESS</promise\n"],
    ["ends of the prompt", "Then explain the blockers. "],
    ["prompts", PROMPT],
  ])("%s: linear, whatever comes", (_name, part) => {
    const text = part.repeat(Math.ceil((4 * MIB) / part.length));
    expect(ownTime(() => void inOutput(`${text}\n<promise>SUCCESS</promise>`, PROMPT))).toBeLessThan(10_000);
  });
});
