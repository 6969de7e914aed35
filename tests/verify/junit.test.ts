/** JUnit XML: what CI systems read. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { renderJunit } from "../../src/verify/junit.ts";
import { makeReceipt } from "../../src/verify/receipt.ts";
import { removePlaces } from "../harness/harness.ts";
import { ground, verify } from "./ground.ts";

afterAll(removePlaces, 60_000);

const FILES = {
  "pawl.yaml":
    'gates:\n  ok: { run: ["true"] }\n  red: { shell: "echo broken; exit 1" }\n  none: { run: [no-such-program] }\n  boss: { person: "Good?" }\n',
  ".gitignore": "out/\n",
};

/** Tags that are open, in order; throws where the text is not well-formed. */
function parse(xml: string): string[] {
  const open: string[] = [];
  const seen: string[] = [];
  const body = xml.replace(/^<\?xml[^>]*\?>/, "");
  for (const [, end, name, attributes = "", alone] of body.matchAll(
    /<(\/?)([\w-]+)((?:\s[\w-]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (/&(?!(amp|lt|gt|quot|apos);)/.test(attributes)) throw new Error(attributes);
    if (end) expect(open.pop()).toBe(name!);
    else if (!alone) open.push(name!);
    if (!end) seen.push(name!);
  }
  expect(open).toEqual([]);
  const text = body.replace(/<\/?[\w-]+(?:\s[\w-]+="[^"<]*")*\s*\/?>/g, "");
  expect(text).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|apos);)/);
  return seen;
}

test("one case per gate: failure, error for the unproven, skipped for what needs a run, output", () => {
  const place = ground(FILES);
  const { code, out } = verify(place, "--junit", "-");
  expect(code).toBe(1);
  expect(parse(out).slice(0, 4)).toEqual(["testsuites", "testsuite", "properties", "property"]);
  expect(parse(out).slice(4)).toEqual([
    "testcase",
    "testcase",
    "failure",
    "system-out",
    "testcase",
    "error",
    "testcase",
    "skipped",
  ]);
  expect(out).toContain('tests="4" failures="1" errors="1" skipped="1"');
  expect(out).toContain('<failure message="exit 1" type="fail">');
  expect(out).toContain("<system-out>broken</system-out>");
});

test("to a file, besides what is said", () => {
  const place = ground(FILES);
  const { out, err } = verify(place, "--junit", "out/deep/pawl.xml");
  expect(out).toMatch(/^✓ ok/);
  expect(err).toBe("");
  parse(readFileSync(join(place.root, "out/deep/pawl.xml"), "utf8"));
  expect(verify(place, "--junit", join(place.base, "elsewhere.xml"), "--json").out).toStartWith("{");
  expect(existsSync(join(place.base, "elsewhere.xml"))).toBe(true);
});

test("a file that git sees makes the receipt stale: it is told", () => {
  expect(verify(ground(FILES), "--junit", "pawl.xml").err).toContain("is not ignored by git");
});

describe("where it cannot go", () => {
  test.each([["../out.xml"], ["link/out.xml"], ["link.xml"], ["/nowhere/at/all.xml"], [".git/x.xml"], ["."]])(
    "%s",
    (path) => {
      const place = ground(FILES);
      mkdirSync(join(place.base, "outside"));
      symlinkSync("../outside", join(place.root, "link"));
      symlinkSync("../outside/x.xml", join(place.root, "link.xml"));
      const { code, err, out } = verify(place, "--junit", path);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain("the JUnit file cannot be written");
      expect(existsSync(join(place.base, "outside/x.xml"))).toBe(false);
    },
  );
});

test("whatever stands in names and output, it stays XML", () => {
  const odd = `a"b'c<d>&e \u0000\u0001\u001b[31m\u000b\ud800 \ufffe ]]> \u202e`;
  const verdict = {
    gate: odd,
    id: "x",
    verdict: "fail" as const,
    why: odd,
    tree: "",
    at: "",
    tail: `${odd}\nx`,
    command: odd,
  };
  const home = process.env.HOME;
  process.env.HOME = ground(FILES, { trust: false }).home;
  try {
    const receipt = makeReceipt({
      at: "2026-01-01T00:00:00.000Z",
      tree: "",
      head: "",
      dirty: null,
      base: null,
      verdicts: [verdict],
      not_asked: [{ gate: odd, needs: odd }],
    });
    const xml = renderJunit(receipt);
    parse(xml);
    expect(xml).not.toMatch(/[^\t\n\u0020-\ud7ff\ue000-\ufffd]/u);
    expect(new TextDecoder().decode(new TextEncoder().encode(xml))).toBe(xml);
  } finally {
    process.env.HOME = home;
  }
});
