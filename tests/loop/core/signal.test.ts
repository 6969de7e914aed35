/** Signals of a loop: what counts, in a message and in a stream however it arrives. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { closeScan, feed, type LoopSignals, openScan, signalsIn } from "../../../src/loop/core/signal.ts";
import { ownTime } from "../../harness/own-time.ts";
import { type Case, echoes, PROMPT, plain, traps } from "./signal-corpus.ts";

setDefaultTimeout(60_000);

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Each piece comes in a buffer that is used again afterwards, as a pipe's is. */
function scanned(pieces: Uint8Array[], prompt = "", block?: number): LoopSignals {
  const scan = openScan(prompt, block);
  for (const piece of pieces) {
    const copy = piece.slice();
    feed(scan, copy);
    copy.fill(0x60);
  }
  return closeScan(scan);
}

const wanted = ({ says, malformed = [], quoted = [] }: Case): LoopSignals => ({
  success: says?.includes("S") === true,
  failure: says?.includes("F") === true,
  malformed,
  quoted,
});

function cutAt(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end));
}

describe("what counts", () => {
  for (const one of [...plain, ...traps]) {
    test(one.name, () => {
      expect(signalsIn(one.text)).toEqual(wanted(one));
      const bytes = bytesOf(one.text);
      expect(scanned([bytes])).toEqual(wanted(one));
      for (let at = 1; at < bytes.length; at++) expect(scanned(cutAt(bytes, [at]), "", 4096)).toEqual(wanted(one)); // biome-ignore format: one thought
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
      const bytes = bytesOf(one.text);
      expect(scanned([bytes], PROMPT)).toEqual(wanted(one));
      expect(scanned([...bytes].map((byte) => Uint8Array.of(byte)), PROMPT)).toEqual(wanted(one)); // biome-ignore format: one thought
    });
  }
  test("without an echo the prompt changes nothing", () => {
    for (const one of [...plain, ...traps]) expect(scanned([bytesOf(one.text)], PROMPT)).toEqual(wanted(one));
  });
});

// ── Properties ──────────────────────────────────────────────────────────────

const piece = fc.constantFrom(
  ..."`|``|```|~~~|<!--|-->|<pre>|</pre>|<DETAILS>|</details>|> |- |    |\t| |x|ä|😀|word|<|promise|</|<p".split("|"),
  ..."<promise>SUCCESS</promise>|<promise>FAILURE</promise>|<promise>success</promise>|<promise>SUCCESS|<Promise>".split("|"), // biome-ignore format: one thought
  ...["\n", "\n", "\n\n", "\n\n", "\r\n", "\r", "\r\n\r\n", "\u001b[1m", "\u001b[0m", "\u001b", "\u001b]0;t\u0007", "\0"], // biome-ignore format: one thought
);
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const places = fc.array(fc.nat(), { maxLength: 12 });

describe("a stream", () => {
  test("says what the message says", () => {
    fc.assert(
      fc.property(text, places, (message, cuts) => {
        expect(scanned(cutAt(bytesOf(message), cuts), "", 4096)).toEqual(signalsIn(message));
      }),
      { numRuns: 10_000 },
    );
  });

  test("of many blocks says it, too, if no paragraph is longer than a block", () => {
    const short = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.array(short, { maxLength: 30 }), (paragraphs) => {
        const message = paragraphs.join("\n\n");
        expect(scanned([bytesOf(message)], "", 256)).toEqual(signalsIn(message));
      }),
      { numRuns: 5_000 },
    );
  });

  test("arrives in whatever pieces, also where paragraphs and lines have to be cut", () => {
    const long = fc.array(fc.oneof(piece, piece, fc.constant("y".repeat(40))), { maxLength: 120 });
    fc.assert(
      fc.property(long, places, fc.integer({ min: 16, max: 400 }), (pieces, cuts, block) => {
        const bytes = bytesOf(pieces.join(""));
        expect(scanned(cutAt(bytes, cuts), PROMPT, block)).toEqual(scanned([bytes], PROMPT, block));
      }),
      { numRuns: 5_000 },
    );
  });

  test("of one endless line loses no signal at a cut", () => {
    const tag = bytesOf("<promise>SUCCESS</promise>");
    for (let shift = 0; shift < 1100; shift += 7) {
      const noise = bytesOf("z".repeat(shift));
      expect(scanned([noise, tag, bytesOf("z".repeat(700))], "", 512).success).toBe(true);
    }
  });

  test("a line that begins in one block and goes on over the next ones has room", () => {
    const text = `a\n\nb\n${"y".repeat(5 * 4096)}<promise>SUCCESS</promise>`;
    expect(scanned([bytesOf(text)], "", 4096).success).toBe(true);
  });

  test("a quoted line stays quoted behind its cut", () => {
    const line = `> ${"so ".repeat(1000)}<promise>SUCCESS</promise>`;
    expect(scanned([bytesOf(line)], "", 512)).toMatchObject({ success: false, quoted: ["<promise>SUCCESS</promise>"] });
  });

  test("a fence stays open over any number of blocks", () => {
    const inside = `\`\`\`\n${"line of code\n\n".repeat(5000)}<promise>SUCCESS</promise>\n`;
    const behind = `${"more\n".repeat(5000)}\`\`\`\n\n<promise>FAILURE</promise>`;
    expect(scanned([bytesOf(inside + behind)], "", 1024)).toEqual({
      success: false,
      failure: true,
      malformed: [],
      quoted: ["<promise>SUCCESS</promise>"],
    });
  });

  test("an echo is known as one wherever it is cut", () => {
    const lines = bytesOf(`${"log line\n".repeat(30)}${PROMPT}${"log line\n".repeat(30)}`);
    for (let block = 64; block < 1500; block += 3)
      expect({ block, ...scanned([lines], PROMPT, block) }).toEqual({ block, ...wanted(echoes[0]!) });
  });
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
  ])("%s: linear, whatever comes", (_name, part) => {
    const bytes = bytesOf(part.repeat(Math.ceil((4 * MIB) / part.length)));
    expect(ownTime(() => void scanned([bytes], PROMPT))).toBeLessThan(10_000);
  });
});
