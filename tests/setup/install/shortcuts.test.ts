import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Place, payload, removePlaces, runHook, shell, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const MARKER = ".pawl/shortcuts-off";
const CONFIG = ".config/pawl/config.yaml";

function pawl(place: Place, ...args: string[]): string {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
}

const isOff = ({ root }: Place) => existsSync(join(root, MARKER));

/** Does a key mean anything to the hook? */
function answers(place: Place): boolean {
  const session = { ...openSession(place, "A"), turn: 1 };
  return runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "?" })).out !== "";
}

describe("in a project", () => {
  for (const [args, on] of [
    [["init", "--yes"], false],
    [["init", "--yes", "--with", "shortcuts"], true],
  ] as const)
    test(`${args.join(" ")}: ${on ? "on" : "off"}`, () => {
      const place = ground();
      pawl(place, ...args);
      expect({ off: isOff(place), answers: answers(place) }).toEqual({ off: !on, answers: on });
    });
  test("added and removed later, with their skills", () => {
    const place = ground();
    pawl(place, "init", "--yes");
    const before = snapshot(place.root);
    pawl(place, "add", "shortcuts");
    expect({ answers: answers(place), skill: existsSync(join(place.root, ".claude/skills/commit")) }).toEqual({
      answers: true,
      skill: true,
    });
    pawl(place, "remove", "shortcuts");
    expect(answers(place)).toBe(false);
    expect(existsSync(join(place.root, ".claude/skills/commit/SKILL.md"))).toBe(false);
    expect(
      Object.keys(snapshot(place.root)).filter((name) => !(name in before) && !/^\.(pawl|claude)(\/|$)/.test(name)),
    ).toEqual([]);
  });
  test("no: listed, out of git's sight, off for the hook, and taken back", () => {
    const place = ground();
    const before = snapshot(place.root);
    expect(pawl(place, "init", "--yes", "--no-shortcuts")).toMatch(
      /create {2}\.pawl\/shortcuts-off +one-key shortcuts are off/,
    );
    expect({ off: isOff(place), answers: answers(place) }).toEqual({ off: true, answers: false });
    expect(shell(place, "git --no-optional-locks status --porcelain -uall").out).toBe("");
    expect(pawl(place, "init", "--yes")).toContain("nothing to do");
    expect(pawl(place, "init", "--yes", "--no-shortcuts")).toContain("nothing to do");
    expect(pawl(place, "uninstall", "--yes")).toMatch(/remove {2}\.pawl\/shortcuts-off +was not there before/);
    expect(snapshot(place.root)).toEqual(before);
  });
  test("and on again, by init or by `pawl on shortcuts`", () => {
    for (const args of [
      ["init", "--yes", "--shortcuts"],
      ["on", "shortcuts"],
    ]) {
      const place = ground();
      const before = snapshot(place.root);
      pawl(place, "init", "--yes", "--no-shortcuts");
      pawl(place, ...args);
      expect({ off: isOff(place), answers: answers(place) }).toEqual({ off: false, answers: true });
      pawl(place, "uninstall", "--yes", "--purge");
      expect(snapshot(place.root)).toEqual(before);
    }
  });
  test("switched off by hand before: stays so, and goes only with the state", () => {
    const place = ground();
    pawl(place, "off", "shortcuts");
    pawl(place, "init", "--yes");
    expect(answers(place)).toBe(false);
    pawl(place, "uninstall", "--yes", "--purge");
    expect(existsSync(join(place.root, ".pawl"))).toBe(false);
  });
  test("a file that a repository ships switches nothing off; saying no replaces it, and uninstall puts it back", () => {
    const place = ground({ [MARKER]: "theirs\n" });
    pawl(place, "init", "--yes", "--shortcuts");
    expect(answers(place)).toBe(true);
    pawl(place, "init", "--yes", "--no-shortcuts");
    expect(answers(place)).toBe(false);
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, MARKER))).toBe("theirs\n");
  });
  test("a look changes nothing, not even by making a key", () => {
    const place = ground();
    const before = snapshot(place.base);
    expect(pawl(place, "init", "--no-shortcuts", "--print")).toContain(`── create ${MARKER}`);
    expect(snapshot(place.base)).toEqual(before);
  });
  test("yes and no cannot be used together", () => {
    expect(runInProcess(ground(), ["init", "--shortcuts", "--no-shortcuts"]).code).toBe(2);
  });
});

describe("for one person in every project", () => {
  test("no: a configuration of their own, if there is none yet", () => {
    const place = ground();
    const before = snapshot(place.home);
    expect(pawl(place, "init", "--yes", "--user", "--no-shortcuts")).toContain(`create  ~/${CONFIG}`);
    expect(textOf(join(place.home, CONFIG))).toBe("shortcuts: off\n");
    expect(answers(place)).toBe(false);
    expect(pawl(place, "init", "--yes", "--user", "--shortcuts")).toContain(`remove  ~/${CONFIG}`);
    expect(answers(place)).toBe(true);
    pawl(place, "init", "--yes", "--user", "--no-shortcuts");
    pawl(place, "uninstall", "--yes", "--user");
    const left = Object.keys(snapshot(place.home)).filter((path) => !/^\.(local|claude)/.test(path));
    expect(left).toEqual(Object.keys(before).filter((path) => !path.startsWith(".local")));
  });
  test("one that is there is never touched: they are told what to write", () => {
    const place = ground();
    put(place.home, CONFIG, "# mine\n");
    expect(pawl(place, "init", "--yes", "--user", "--no-shortcuts")).toContain("write `shortcuts: off` into it");
    put(place.home, CONFIG, "# mine\nshortcuts: off\n");
    expect(pawl(place, "init", "--yes", "--user", "--no-shortcuts")).toContain("nothing to do");
    expect(pawl(place, "init", "--yes", "--user", "--shortcuts")).toContain("take that out to have them");
    pawl(place, "uninstall", "--yes", "--user");
    expect(textOf(join(place.home, CONFIG))).toBe("# mine\nshortcuts: off\n");
  });
});
