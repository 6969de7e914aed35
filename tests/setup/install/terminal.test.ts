import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PAWL, type Place, removePlaces } from "../../harness/harness.ts";
import { lastWords } from "../../harness/last-words.ts";
import { ground, snapshot } from "./ground.ts";

afterAll(removePlaces);

/** On a real pseudo-terminal; each answer is typed when its question stands there. */
async function typed(place: Place, args: string[], answers: string[], cols = 200) {
  const decoder = new TextDecoder();
  let screen = "";
  let asked = 0;
  const words = lastWords();
  const child = Bun.spawn([PAWL, ...args], {
    cwd: place.root,
    env: place.env,
    terminal: {
      exit: words.exit,
      cols,
      rows: 50,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
        if (screen.split(/\[y\/N\]|\[Y\/n\]/).length - 1 > asked) terminal.write(`${answers[asked++] ?? ""}\r`);
      },
    },
  });
  const code = await child.exited;
  await words.heard();
  child.terminal?.close();
  return { code, screen };
}

const CONFIG = "Write this project's own checks (`go test ./...`";
const SHORTCUTS = "Turn on one-key shortcuts (s, x, r, …; /pawl:keys lists them)? [Y/n]";
const TEACH = "Explain the shortcuts to the agent too (adds one import to CLAUDE.md)? [y/N]";
const has = ({ root }: Place, path: string) => existsSync(join(root, path));
const MARKER = ".pawl/shortcuts-off";
const FRAGMENT = ".claude/execute-rule.md";

describe("a person is asked", () => {
  for (const answer of ["n", "", "maybe"]) {
    test(`${JSON.stringify(answer)} is a no`, async () => {
      const place = ground();
      const before = snapshot(place.base);
      const { code, screen } = await typed(place, ["init"], ["y", answer]);
      expect(screen).toContain("Nothing was changed.");
      expect(code).toBe(1);
      expect(snapshot(place.base)).toEqual(before);
    });
  }
  test("yes, and no configuration", async () => {
    const place = ground({ "go.mod": "module x\n" });
    const { code, screen } = await typed(place, ["init"], ["", "n", "y"]);
    expect(screen).toContain(CONFIG);
    expect(screen).toContain("Test call: the hook answered in");
    expect(code).toBe(0);
    expect(has(place, "pawl.yaml")).toBe(false);
  });
  test("yes to both, and out again", async () => {
    const place = ground({ "go.mod": "module x\n" });
    const before = snapshot(place.root);
    const { code, screen } = await typed(place, ["init"], ["", "y", "yes"]);
    expect(code).toBe(0);
    expect(screen).toMatch(/create {2}pawl\.yaml/);
    expect(has(place, "pawl.yaml")).toBe(true);
    expect((await typed(place, ["init"], [])).screen).toContain("nothing to do");
    expect((await typed(place, ["uninstall"], ["n"])).code).toBe(1);
    expect((await typed(place, ["uninstall"], ["y"])).code).toBe(0);
    expect(snapshot(place.root)).toEqual(before);
  });
  for (const [answer, off] of [
    ["", false],
    ["Y", false],
    ["what?", false],
    ["n", true],
    ["No", true],
  ] as const) {
    test(`about shortcuts, once: ${JSON.stringify(answer)} leaves them ${off ? "off" : "on"}`, async () => {
      const place = ground();
      const before = snapshot(place.root);
      const first = await typed(place, ["init"], [answer, "y"]);
      expect({ code: first.code, asked: first.screen.includes(SHORTCUTS) }).toEqual({ code: 0, asked: true });
      expect(first.screen.includes(`create  ${MARKER} `)).toBe(off);
      expect(has(place, MARKER)).toBe(off);
      expect((await typed(place, ["init"], [])).screen).not.toContain(SHORTCUTS);
      expect((await typed(place, ["uninstall"], ["y"])).code).toBe(0);
      expect(snapshot(place.root)).toEqual(before);
    });
  }
  test("not again when something is to be renewed", async () => {
    const place = ground();
    await typed(place, ["init"], ["n", "y"]);
    rmSync(join(place.root, ".claude/agents/deep-reviewer.md"));
    const { code, screen } = await typed(place, ["init"], ["y"]);
    expect({ code, asked: screen.includes(SHORTCUTS) }).toEqual({ code: 0, asked: false });
    expect(has(place, MARKER)).toBe(true);
  });
  test("about the agent's reading only where there is some, and only with shortcuts", async () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    const before = snapshot(place.root);
    expect((await typed(place, ["init"], ["n", "n"])).screen).not.toContain(TEACH);
    expect((await typed(place, ["init"], ["y", "", "y"])).screen).toContain(TEACH);
    expect(has(place, FRAGMENT)).toBe(false);
    await typed(place, ["uninstall"], ["y"]);
    await typed(place, ["init"], ["y", "y", "y"]);
    expect(has(place, FRAGMENT)).toBe(true);
    await typed(place, ["uninstall"], ["y"]);
    expect(snapshot(place.root)).toEqual(before);
  });
  test("not about what is said already", async () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    const { code, screen } = await typed(place, ["init", "--no-shortcuts"], ["y"]);
    expect({ code, asked: screen.includes(SHORTCUTS) || screen.includes(TEACH) }).toEqual({ code: 0, asked: false });
    expect(has(place, MARKER)).toBe(true);
  });
});

test("a narrow terminal: no row of the list is cut in the middle of a word", async () => {
  const place = ground();
  const { screen } = await typed(place, ["init"], ["n", "n"], 80);
  const rows = screen.split("\r\n").filter((line) => /^ {2}(create|edit) | {30}/.test(line));
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter((line) => line.length > 80)).toEqual([]);
});
