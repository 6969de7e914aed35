import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PAWL, type Place, removePlaces, shell } from "../../harness/harness.ts";
import { inWindow } from "../../harness/terminal-window.ts";
import { ground, snapshot } from "./ground.ts";

afterAll(removePlaces);

const CTRL_C = "\u0003";

/** In a terminal window of its own; each answer is typed when its question is there. */
const typed = ({ root, env }: Place, args: string[], answers: string[], more: { columns?: number; at?: string } = {}) =>
  inWindow({ cmd: [PAWL, ...args], cwd: root, env: env as Record<string, string>, answers, ...more });

const GREEN = {
  "package.json": '{"type":"module","scripts":{"test":"node --test"}}',
  ".gitignore": "ran\n",
  "a.test.js":
    'import { writeFileSync } from "node:fs";\nimport { test } from "node:test";\nwriteFileSync("ran", "");\ntest("adds", () => {});\n',
};
const RED = {
  ...GREEN,
  "b.test.js": 'import { test } from "node:test";\ntest("breaks", () => { throw new Error(); });\n',
};
const has = ({ root }: Place, path: string) => existsSync(join(root, path));
const config = ({ root }: Place) => readFileSync(join(root, "pawl.yaml"), "utf8");

function project(files: Record<string, string>): Place {
  const place = ground(files);
  shell(place, "git add -A && git commit -qm begin");
  return place;
}

describe("one question", () => {
  test("yes: approved, run once, written down; uninstall gives every byte back", async () => {
    const place = project(GREEN);
    const before = snapshot(place.root);
    const { code, screen } = await typed(place, ["init"], ["", ""]);
    expect(screen).toContain("npm test   (node --test)");
    expect(screen).toContain("npm test: 1 test passed");
    expect(screen).toContain("when the agent ends a turn in which it changed code, Pawl runs npm test");
    expect(code).toBe(0);
    expect(config(place)).toContain("\ndone:\n  - tests: [npm, test]\nguard: send-back");
    expect((await typed(place, ["trust"], [])).screen).toContain("1 command, approved");
    expect((await typed(place, ["init"], [])).screen).toContain("nothing to do");
    expect((await typed(place, ["uninstall", "--purge"], ["y"])).code).toBe(0);
    shell(place, "rm ran");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("no: nothing of the repository has run, nothing is approved, no pawl.yaml", async () => {
    const place = project(GREEN);
    const { code } = await typed(place, ["init"], ["n", ""]);
    expect(code).toBe(0);
    expect({
      ran: has(place, "ran"),
      config: has(place, "pawl.yaml"),
      hooks: has(place, ".claude/settings.local.json"),
    }).toEqual({ ran: false, config: false, hooks: true });
  });
  test("red already: its failures are known ones", async () => {
    const place = project(RED);
    const { screen } = await typed(place, ["init"], ["y", ""]);
    expect(screen).toContain("Red already");
    expect(config(place)).toContain("  - { tests: [npm, test], failing: known }");
    const { screen: again } = await typed(place, ["verify"], []);
    expect(again).not.toContain("✗");
  });
  test("a check that cannot pass is left out, with its reason", async () => {
    const place = project({ "package.json": '{"scripts":{"test":"no-such-program-here"}}' });
    const { screen } = await typed(place, ["init"], ["y", ""]);
    expect(screen).toContain("nothing is checked: no check was green");
    expect(config(place)).toMatch(/# done:\n# {2}- tests: \[npm, test\] # .+ when Pawl was set up: /);
  });
  test("a colleague, where pawl.yaml is there: the same question, the file stays", async () => {
    const place = project({ ...GREEN, "pawl.yaml": "done: [{ tests: [npm, test] }]\n" });
    const { screen } = await typed(place, ["init"], ["y", ""]);
    expect(screen).toContain("npm test: 1 test passed");
    expect(config(place)).toBe("done: [{ tests: [npm, test] }]\n");
    expect((await typed(place, ["trust"], [])).screen).toContain("1 command, approved");
  });
});

describe("leaving leaves nothing", () => {
  for (const [name, answers] of [
    ["at the question", [CTRL_C]],
    ["at the choice", ["y", CTRL_C]],
  ] as const)
    test(name, async () => {
      const place = project(GREEN);
      const before = snapshot(place.root);
      const { code, screen } = await typed(place, ["init"], [...answers]);
      expect(code).not.toBe(0);
      if (answers.length > 1) expect(screen).toContain("Nothing was changed.");
      shell(place, "rm -f ran");
      expect(snapshot(place.root)).toEqual(before);
      expect((await typed(place, ["trust"], [])).screen).not.toContain("approved");
    });
  test("while a suite runs that never ends", async () => {
    const place = project({ "package.json": '{"scripts":{"test":"sleep 600"}}' });
    const before = snapshot(place.root);
    const { code, screen } = await typed(place, ["init"], ["y", CTRL_C], { at: "\\[Y/n\\]|npm test, 1 s" });
    expect(screen).toContain("ended npm test and everything it started");
    expect(code).toBe(130);
    expect(snapshot(place.root)).toEqual(before);
  });
});

test("the choice: space adds a part", async () => {
  const place = project({});
  await typed(place, ["init"], ["\u001b[B "]);
  expect({
    keys: has(place, ".claude/commands/pawl/keys.md"),
    auto: has(place, ".claude/commands/auto.md"),
    off: has(place, ".pawl/shortcuts-off"),
  }).toEqual({ keys: true, auto: false, off: false });
});

test("--yes runs nothing and approves nothing: it names the command that is left", async () => {
  const place = project(GREEN);
  const { screen } = await typed(place, ["init", "--yes"], []);
  expect(screen).toContain("one command: `pawl trust`");
  expect({ ran: has(place, "ran"), config: has(place, "pawl.yaml") }).toEqual({ ran: false, config: true });
});

test("a narrow terminal: no row of the list is cut in the middle of a word", async () => {
  const place = ground();
  const { screen } = await typed(place, ["init"], [CTRL_C], { columns: 80 });
  const rows = screen.split("\r\n").filter((line) => /^ {2}(create|edit) | {30}/.test(line));
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter((line) => line.length > 80)).toEqual([]);
});
