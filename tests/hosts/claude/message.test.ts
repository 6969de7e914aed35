import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { linesFromEnd } from "../../../src/hosts/claude/tail.ts";
import { readLastMessage } from "../../../src/hosts/claude/transcript.ts";
import { assistant, call, other, prompt, result, say, temporary, write } from "./lines.ts";

const [folder, clean] = temporary();
afterAll(clean);

const last = (content: Parameters<typeof write>[1], tail = "", waitMs = 0) =>
  readLastMessage(write(folder, content), tail, waitMs);
const said = (value: string) => ({ ok: true as const, value });
const thinking = (id: string) => assistant(id, { type: "thinking", thinking: "hm", signature: "s" });
const stopTrace = (type: string) => other({ type: "attachment", attachment: { type, hookEvent: "Stop" } });

describe("the newest message", () => {
  test.each<[string, string[], string]>([
    ["one block", [prompt("hi"), say("m1", "old"), say("m2", "new")], "new"],
    ["several blocks of one message", [say("m1", "old"), say("m2", "a"), say("m2", "b"), say("m2", "c")], "a\nb\nc"],
    [
      "several blocks in one line",
      [
        assistant("m1", [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ]),
      ],
      "a\nb",
    ],
    ["text as a string", [assistant("m1", "plain")], "plain"],
    ["thinking before and after", [thinking("m2"), say("m2", "a"), thinking("m2"), say("m2", "b")], "a\nb"],
    ["tools in between", [say("m2", "a"), call("m2", "t1"), result("t1", "r"), say("m2", "b")], "a\nb"],
    ["a newer message without text", [say("m1", "a"), thinking("m2"), call("m2", "t1")], "a"],
    ["an empty text", [say("m1", "a"), say("m2", "  \n")], "a"],
    ["a synthetic line", [say("m1", "a"), say("m2", "No response requested.", { model: "<synthetic>" })], "a"],
    ["an API error", [say("m1", "a"), say("m2", "API Error: 500", { isApiErrorMessage: true })], "a"],
    ["a sub-agent's line", [say("m1", "a"), say("m2", "sub", { isSidechain: true })], "a"],
    ["a sub-agent's line inside", [say("m1", "a"), say("m9", "sub", { isSidechain: true }), say("m1", "b")], "a\nb"],
    [
      "a compaction after it",
      [
        say("m1", "a"),
        other({ type: "system", subtype: "compact_boundary" }),
        prompt("sum", { isCompactSummary: true }),
      ],
      "a",
    ],
    ["bookkeeping after it", [say("m1", "a"), '{"type":"last-prompt"}', '{"type":"mode","mode":"normal"}'], "a"],
    ["someone quoting our words", [say("m1", "a"), prompt('{"type":"assistant"}')], "a"],
    ["lines that are no objects", [say("m1", "a"), '["assistant"]', '"assistant"', "null", "7", ""], "a"],
    ["lines with holes", [say("m1", "a"), '{"type":"assistant"}', '{"type":"assistant","message":[null]}'], "a"],
    ["broken lines", [say("m1", "a"), '{"type":"assistant","message":', "\0\0assistant"], "a"],
  ])("%s", (_what, lines, text) => {
    expect(last(lines)).toEqual(said(text));
  });

  test("a last line half written is skipped", () => {
    const whole = say("m2", "half");
    for (const cut of [1, 20, whole.length - 1]) {
      expect(last(`${say("m1", "a")}\n${whole.slice(0, cut)}`)).toEqual(said("a"));
    }
  });

  test("a last line that is whole but for its line break counts", () => {
    expect(last(`${say("m1", "a")}\n${say("m2", "b")}`)).toEqual(said("b"));
  });

  test("invalid UTF-8 hurts only its own characters", () => {
    const [head, end] = say("m1", "HERE").split("HERE") as [string, string];
    const bytes = Buffer.concat([Buffer.from(`${head}a`), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(`b${end}`)]);
    expect(last([bytes, Buffer.from([0xfe, 0xff])])).toEqual(said("a\uFFFD\uFFFD(b"));
  });

  test("an 8 MB line after it, and an 8 MB message", () => {
    const big = "x".repeat(8 << 20);
    expect(last([prompt("p"), say("m1", "a"), result("t1", big)])).toEqual(said("a"));
    expect(last([prompt("p"), say("m1", big), say("m1", "b")])).toEqual(said(`${big}\nb`));
  });

  test("nothing said is not a message", () => {
    for (const content of [[prompt("hi")], "", "\n\n", "garbage"]) {
      expect(last(content)).toMatchObject({ ok: false, why: expect.stringContaining("no message") });
    }
  });
});

describe("given the tail", () => {
  test.each<[string, string[], string, string]>([
    ["the whole message is found by its last block", [say("m1", "a"), say("m1", "b")], "b", "a\nb"],
    ["white space around it does not matter", [say("m1", "a"), say("m1", "b")], " b\n", "a\nb"],
    ["not there: the tail is the answer", [say("m1", "a")], "b", "b"],
    ["nothing there at all: the tail is the answer", [prompt("hi")], "b", "b"],
    ["the same words before a newer prompt", [say("m1", "a"), say("m1", "b"), prompt("more")], "b", "b"],
    [
      "the same words before a Stop's feedback",
      [say("m1", "a\nb"), prompt("Stop hook feedback:\nx", { isMeta: true })],
      "b",
      "b",
    ],
    ["before a Stop's context", [say("m1", "a"), say("m1", "b"), stopTrace("hook_additional_context")], "b", "b"],
    ["before a Stop's block", [say("m1", "a"), say("m1", "b"), stopTrace("hook_blocking_error")], "b", "b"],
    [
      "the same words before a Stop's summary",
      [say("m1", "a"), say("m1", "b"), other({ type: "system", subtype: "stop_hook_summary" })],
      "b",
      "b",
    ],
    [
      "a sub-agent's prompt is no turn",
      [say("m1", "a"), say("m1", "b"), prompt("x", { isSidechain: true })],
      "b",
      "a\nb",
    ],
  ])("%s", (_what, lines, tail, text) => {
    expect(last(lines, tail)).toEqual(said(text));
  });

  test.each([true, false])("waits for a line another process writes (the file exists: %s)", async (exists) => {
    const path = join(folder, `growing-${exists}.jsonl`);
    const more = write(folder, [say("m2", "a"), say("m2", "b")]);
    if (exists) writeFileSync(path, `${say("m1", "b")}\n${prompt("go on")}\n`);
    const writer = Bun.spawn(["/bin/sh", "-c", 'sleep 0.1; cat "$0" >> "$1"', more, path]);
    const started = performance.now();
    expect(readLastMessage(path, "b", 20_000)).toEqual(said("a\nb"));
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await writer.exited).toBe(0);
  });

  test("does not wait longer than told", () => {
    const started = performance.now();
    expect(last([say("m1", "a")], "b", 60)).toEqual(said("b"));
    const took = performance.now() - started;
    expect(took).toBeGreaterThanOrEqual(59);
    expect(took).toBeLessThan(10_000);
  });
});

describe("what is no transcript", () => {
  test("a FIFO nobody writes to", () => {
    const path = join(folder, "fifo.jsonl");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    expect(readLastMessage(path, "x", 10_000)).toEqual({ ok: false, why: "not a regular file" });
  });

  test.each([
    ["a folder", folder],
    ["a device", "/dev/null"],
    ["a file as folder", join(write(folder, "x"), "y.jsonl")],
    ["a name with NUL", `${folder}/a\0b`],
    ["a name too long", join(folder, "x".repeat(400))],
    ["nothing", ""],
  ])("%s", (_what, path) => {
    const started = performance.now();
    expect(readLastMessage(path, "x", path === "" ? 0 : 10_000)).toMatchObject({ ok: false, why: expect.any(String) });
    expect(performance.now() - started).toBeLessThan(5000);
  });

  test("a missing file", () => {
    expect(readLastMessage(join(folder, "none.jsonl"), "x", 30)).toMatchObject({ ok: false });
  });
});

describe("cost", () => {
  /** Counts what the process reads while it looks; the module is loaded before. */
  function bytesRead(path: string, expression: string): number {
    const module = JSON.stringify(new URL("../../../src/hosts/claude/transcript.ts", import.meta.url).pathname);
    const code = `
      import { readFileSync } from "node:fs";
      import { readLastMessage, readToolsSince } from ${module};
      const rchar = () => Number(/rchar: (\\d+)/.exec(readFileSync("/proc/self/io", "utf8"))[1]);
      const path = process.argv.at(-1);
      const before = rchar();
      const found = ${expression};
      console.log(JSON.stringify([rchar() - before, found]));`;
    const run = Bun.spawnSync([process.execPath, "-e", code, path]);
    const [bytes, found] = JSON.parse(run.stdout.toString());
    expect(found.ok).toBe(true);
    return bytes;
  }

  /** 300 MB without a single line break, then a turn. */
  function huge(before: string): string {
    const path = write(folder, "");
    const fd = openSync(path, "w");
    writeSync(fd, "\n", 300 << 20);
    closeSync(fd);
    appendFileSync(path, `${[before, say("m1", "a"), say("m1", "b")].join("\n")}\n`);
    return path;
  }

  test.skipIf(process.platform !== "linux").each([
    ["prompt", prompt("p")],
    ["message", say("m0", "old")],
  ])("of 300 MB only the end is read, back to the %s before", (_what, before) => {
    const path = huge(before);
    expect(bytesRead(path, 'readLastMessage(path, "b")')).toBeLessThan(200_000);
    expect(bytesRead(path, 'readToolsSince(path, "2027-01-01T00:00:00Z")')).toBeLessThan(200_000);
  });

  test.skipIf(process.platform !== "linux")("what cannot be found is not looked for beyond 64 MB", () => {
    const bytes = bytesRead(huge(prompt("p")), 'readToolsSince(path, "2020-01-01T00:00:00Z")');
    expect(bytes).toBeGreaterThan(60 << 20);
    expect(bytes).toBeLessThan((64 << 20) + 10_000);
  });
});

test("lines from the end are the lines, whatever their lengths", () => {
  const length = fc.oneof(
    fc.integer({ min: 0, max: 90 }),
    fc.integer({ min: 65_500, max: 65_600 }),
    fc.constant(400_000),
  );
  fc.assert(
    fc.property(fc.array(length, { minLength: 1, maxLength: 6 }), (lengths) => {
      const lines = lengths.map((size, i) => String(i % 10).repeat(size));
      const path = write(folder, lines.join("\n"));
      const file = openSync(path, "r");
      const size = Buffer.byteLength(lines.join("\n"));
      const found = [...linesFromEnd(file, size, 1 << 30)].map((line) => line.toString());
      expect(found.reverse()).toEqual(lines);
      const near = [...linesFromEnd(file, size, 70_000)].map((line) => line.toString());
      expect(near.reverse()).toEqual(lines.slice(lines.length - near.length));
      closeSync(file);
    }),
    { numRuns: 60, examples: [[[0, 0, 5]], [[0]], [[0, 65_535, 0, 65_536]]] },
  );
});
