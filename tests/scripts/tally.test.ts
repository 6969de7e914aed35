/** The last line of .ci/run: what all suites together came to. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePlace, removePlaces, run, shell } from "../harness/harness.ts";

const ROOT = resolve(import.meta.dir, "../..");
const SCRIPT = join(ROOT, "scripts/tally.mjs");

afterAll(removePlaces);

function tally(log: string, status = 0): string {
  const place = makePlace({ git: false });
  writeFileSync(join(place.root, "log"), log);
  const { code, out, err } = run(place, ["node", SCRIPT, "log", String(status)], {});
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

const closing = (pass: number, fail: number, more = "") =>
  `\n ${pass} pass\n${more} ${fail} fail\n 9 expect() calls\nRan ${pass + fail} tests across 2 files. [1.00s]\n`;

describe("the closing lines of the suites", () => {
  test.each([
    ["one suite", closing(12, 0), 0, "12 passed, 0 failed\n"],
    ["several", `${closing(12, 0)}tsc\n${closing(3, 1)}`, 1, "15 passed, 1 failed\n"],
    ["skipped and planned", closing(2, 0, " 3 skip\n 1 todo\n"), 0, "2 passed, 0 failed, 4 skipped\n"],
    ["in colours", closing(2, 0).replace(" 2 pass", "\u001b[0m\u001b[32m 2 pass\u001b[0m"), 0, "2 passed, 0 failed\n"],
    ["counts that a test printed", ` 7 pass\n 1 fail\n\n${closing(1, 0)}`, 0, "1 passed, 0 failed\n"],
    ["a step failed that is no test", closing(5, 0), 2, "5 passed, 1 failed\n"],
    ["nothing ran", "build failed\n", 1, "0 passed, 1 failed\n"],
    ["nothing at all", "", 0, "0 passed, 0 failed\n"],
  ])("%s", (_, log, status, line) => {
    expect(tally(log, status)).toBe(line);
  });

  test("Bun's own closing lines, as it prints them today", () => {
    const place = makePlace({ git: false });
    const tests = `import { test } from "bun:test"; test("a", () => {}); test("b", () => { throw 1; }); test.skip("c", () => {});`;
    writeFileSync(join(place.root, "some.test.ts"), tests);
    const { err } = run(place, [process.execPath, "test", "--dots", "--parallel=2"], {});
    expect(tally(err, 1)).toBe("1 passed, 1 failed, 1 skipped\n");
  });
});

describe(".ci/run", () => {
  /** The script with an npm that only prints. */
  function ci(failing: string) {
    const place = makePlace({ git: false });
    const npm = `case "$*" in *"${failing}"*) printf '%s' '${closing(2, 1)}'; exit 7;; ci*) ;; *) printf '%s' '${closing(2, 0)}';; esac`;
    const files = { "bin/npm": `#!/bin/sh\n${npm}\n`, ".ci/run": readFileSync(join(ROOT, ".ci/run"), "utf8") };
    shell(place, "mkdir -p bin .ci scripts");
    for (const [path, text] of Object.entries(files)) writeFileSync(join(place.root, path), text, { mode: 0o755 });
    writeFileSync(join(place.root, "scripts/tally.mjs"), readFileSync(SCRIPT, "utf8"));
    return run(place, [".ci/run"], { env: { PATH: `${join(place.root, "bin")}:${process.env.PATH}` } });
  }

  const lastLine = (out: string) => out.trimEnd().split("\n").at(-1);

  test("ends with the sum", () => {
    const { code, out } = ci("nothing fails");
    expect([code, lastLine(out)]).toEqual([0, "12 passed, 0 failed"]);
  });

  test("a failing suite ends it with that suite's status, and the line is there", () => {
    const { code, out } = ci("test:hosts");
    expect([code, lastLine(out)]).toEqual([7, "10 passed, 1 failed"]);
  });

  test("so does an installation that fails", () => {
    const { code, out } = ci("ci --no-audit");
    expect([code, lastLine(out)]).toEqual([7, "0 passed, 1 failed"]);
  });
});
