/** A receipt is worth what can be found out about it later. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Place, removePlaces } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { ground, put, verify } from "./ground.ts";

afterAll(removePlaces, 60_000);

const FILES = { "pawl.yaml": "gates:\n  ok: { run: [echo, fine] }\n  none: { file: README.md }\n" };
const RED = { "pawl.yaml": 'gates:\n  red: { run: ["false"] }\n' };

const check = (place: Place, text: string) => runInProcess(place, ["verify", "--check", "-"], { input: text });
const forms = [["--json"], ["--markdown"]] as const;

describe.each(forms)("%s", (form) => {
  test("as it was written: fine", () => {
    const place = ground(FILES);
    const { code, out } = check(place, verify(place, form).out);
    expect(out).toMatch(/^fine: sealed here, about this tree [0-9a-f]{12}\n {2}it says: 2 of 2 gates passed \(20/);
    expect(code).toBe(0);
  });

  test("from a file, by name", () => {
    const place = ground(FILES);
    writeFileSync(join(place.base, "receipt"), verify(place, form).out);
    expect(verify(place, "--check", "../receipt").code).toBe(0);
    expect(verify(place, "--check", join(place.base, "receipt")).code).toBe(0);
  });

  test("a true one about a failure is no pass", () => {
    const place = ground(RED);
    expect(check(place, verify(place, form).out)).toMatchObject({ code: 1, out: expect.stringContaining("1 failed") });
  });

  test("the tree is another one now: stale, and it says which", () => {
    const place = ground(FILES);
    const { out } = verify(place, form);
    put(place, { "new.txt": "x" });
    const checked = check(place, out);
    expect(checked.out).toMatch(/^stale: it is about tree ([0-9a-f]{12}), the tree is (?!\1)[0-9a-f]{12} now\n/);
    expect(checked.code).toBe(1);
  });

  test("a changed verdict: edited", () => {
    const place = ground(RED);
    const checked = check(place, verify(place, form).out.replace('"verdict": "fail"', '"verdict": "pass"'));
    expect(checked).toMatchObject({ code: 1, out: expect.stringMatching(/^edited: /) });
  });

  test("a changed verdict with a digest that fits it: edited", () => {
    const place = ground(RED);
    const text = verify(place, form).out.replace('"verdict": "fail"', '"verdict": "pass"');
    const json = form === "--json" ? text : /```json\n([\s\S]*?)\n```/.exec(text)![1]!;
    const { seal: _seal, digest: was, ...body } = JSON.parse(json);
    const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(body)).digest("hex");
    expect(check(place, text.replaceAll(was, digest))).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^edited: /),
    });
  });

  test("another key: foreign, and it says what that means", () => {
    const place = ground(FILES);
    const { out } = verify(place, form);
    const home = join(place.base, "another");
    mkdirSync(home);
    const elsewhere = { ...place, env: { ...place.env, HOME: home } };
    const checked = check(elsewhere, out);
    expect(checked.out).toMatch(/^foreign: it was sealed with a key that is not on this machine\n/);
    expect(checked.out).toContain("run `pawl verify` here");
    expect(checked.code).toBe(3);
    const changed = check(elsewhere, out.replace('"dirty": false', '"dirty": true'));
    expect(changed).toMatchObject({ code: 1, out: expect.stringMatching(/^edited: /) });
  });
});

test("indented otherwise it is the same receipt", () => {
  const place = ground(FILES);
  expect(check(place, JSON.stringify(JSON.parse(verify(place, "--json").out))).code).toBe(0);
});

test("within a longer text with other line ends, as pull requests have them", () => {
  const place = ground(FILES);
  const text = `What it does\r\n\r\n${verify(place, "--markdown").out.replaceAll("\n", "\r\n")}\r\nThanks!\r\n`;
  expect(check(place, text).code).toBe(0);
});

test("a table that says something else than the receipt below: edited", () => {
  const place = ground(RED);
  const text = verify(place, "--markdown").out.replace("❌ fail", "✅ pass");
  const checked = check(place, text);
  expect(checked).toMatchObject({ code: 1, out: expect.stringContaining("the table says something else") });
});

test.each([
  "",
  "{}",
  "null",
  "[]",
  "hello",
  '{"receipt":1}',
  "```json\n{}\n```\n",
  '{"receipt":1,"verdicts":[{}],"not_asked":[]}',
])("no receipt at all: %j", (text) => {
  expect(check(ground(FILES, { trust: false }), text)).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("no receipt"),
  });
});

test("a file that is not there", () => {
  expect(verify(ground(FILES, { trust: false }), "--check", "nowhere")).toMatchObject({
    code: 2,
    err: expect.stringContaining("nowhere cannot be read"),
  });
});

test("nothing of a gate or its output gets out of its cell or fold", () => {
  const name = "a | b ` c </details> ![x](http://x) @someone <script>";
  const workflow = `name: ship\nsignals: promise\narm: ["/ship"]\nstages:\n  - id: build\n    say: x\n    on:\n      BUILT: { end: completed, gates: [{ name: ${JSON.stringify(name)}, shell: "printf '\`\`\`\\\\n</details>\\\\n\\\\033[31mred\\\\n'; exit 1" }] }\n      NO: { halt: "x" }\n`;
  const place = ground({ ".pawl/workflows/ship.yaml": workflow });
  const { out, code } = verify(place, "--markdown");
  expect(code).toBe(1);
  expect(out.match(/^```/gm)?.length).toBe(2);
  const outside = out.replace(/`[^`\n]*`/g, "");
  expect(outside.match(/<\/details>/g)?.length).toBe(1);
  expect(outside).not.toMatch(/@someone|<script>/);
  const table = out.split("\n").filter((line) => line.startsWith("|"));
  for (const row of table) expect(row.replaceAll("\\|", "").split("|").length).toBe(9);
  expect(out).not.toContain("\u001b");
  expect(check(place, out)).toMatchObject({ code: 1, out: expect.stringMatching(/^fine: /) });
});
