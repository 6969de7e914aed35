import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyChanges } from "../../../src/setup/install/apply.ts";
import { planInit } from "../../../src/setup/install/plan.ts";
import { installTarget } from "../../../src/setup/install/target.ts";
import { type Place, removePlaces, shell, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const LOCAL = ".claude/settings.local.json";

describe("refused, with a hint, and nothing is changed anywhere", () => {
  const cases: [string, (place: Place) => void, string[], string][] = [
    [
      "broken settings",
      ({ root }) => put(root, LOCAL, '{\n  "a": 1,\n  "b" 2\n}\n'),
      [],
      `${LOCAL}, line 3, column 7: colon expected`,
    ],
    ["settings that are a list", ({ root }) => put(root, LOCAL, "[]"), [], "the settings are not an object"],
    ["hooks of a wrong shape", ({ root }) => put(root, LOCAL, '{"hooks":[]}'), [], '"hooks" is not an object'],
    ["settings that are no UTF-8", ({ root }) => writeBytes(root, LOCAL, [0x7b, 0xff, 0x7d]), [], "not UTF-8"],
    [
      "settings that are a folder",
      ({ root }) => void mkdirSync(join(root, LOCAL), { recursive: true }),
      [],
      "is not a regular file",
    ],
    ["settings that are a link", ({ root }) => link(root, LOCAL, "elsewhere.json"), [], "is a symbolic link"],
    [".claude is a link", ({ root }) => symlinkSync("elsewhere", join(root, ".claude")), [], "is a symbolic link"],
    [".claude is a file", ({ root }) => put(root, ".claude", ""), [], "is not a folder"],
    [".pawl is a file", ({ root }) => put(root, ".pawl", ""), [], "is not a folder"],
    ["a FIFO", (place) => void shell(place, `mkdir .claude && mkfifo ${LOCAL}`), [], "is not a regular file"],
    [
      "a command that is a link",
      ({ root }) => link(root, ".claude/commands/complete-work.md", "x"),
      [],
      "is a symbolic link",
    ],
    ["a damaged record", ({ root }) => put(root, ".pawl/install.json", "{}"), [], "install.json is damaged"],
    [
      "broken team settings",
      ({ root }) => put(root, ".claude/settings.json", "{"),
      ["--team"],
      "settings.json, line 1, column 2",
    ],
    [
      "broken user settings",
      ({ home }) => put(home, ".claude/settings.json", "{"),
      ["--user"],
      "settings.json, line 1, column 2",
    ],
    [
      "CLAUDE.md is a link",
      ({ root }) => symlinkSync("AGENTS.md", join(root, "CLAUDE.md")),
      ["--claude-md"],
      "is a symbolic link",
    ],
  ];
  for (const [name, arrange, flags, why] of cases) {
    test(name, () => {
      const place = ground();
      arrange(place);
      const before = snapshot(place.base);
      const { code, err } = runInProcess(place, ["init", "--with", "all", "--yes", ...flags]);
      expect(snapshot(place.base)).toEqual(before);
      expect(err).toContain(why);
      expect(err).toContain("  hint: ");
      expect(code).toBe(1);
    });
  }
  test("a folder nobody may write to", () => {
    const { code, err } = runInProcess(ground(), ["init", "--with", "all", "--yes"], { cwd: "/proc/sys/kernel" });
    expect(code).toBe(1);
    expect(err).toContain("nothing was changed");
  });
  const HINT = "change to a project folder, or use --user";
  test.each<[string, (place: Place) => string, (folder: string) => string]>([
    ["home", ({ home }) => home, () => `your home folder is not a project\n  hint: ${HINT}`],
    [
      "home by a link",
      (place) => linkTo(place.home, place),
      () => `your home folder is not a project\n  hint: ${HINT}`,
    ],
    [
      "a folder that anyone may write to",
      ({ root }) => opened(root),
      (folder) =>
        `every user can write to ${folder}\n  hint: run \`chmod o-w ${folder}\`, or change to a project folder`,
    ],
  ])("%s is no project to install in", (_what, folderOf, said) => {
    const place = ground();
    const cwd = folderOf(place);
    const before = snapshot(place.base);
    for (const args of [["--yes"], ["--yes", "--team"], ["--print"]]) {
      const { code, err } = runInProcess(place, ["init", ...args], { cwd });
      expect({ code, err }).toEqual({ code: 1, err: `pawl: ${said(cwd)}\n` });
    }
    expect(snapshot(place.base)).toEqual(before);
    expect(runInProcess(place, ["uninstall", "--yes"], { cwd })).toMatchObject({ code: 0, err: "" });
    expect(runInProcess(place, ["init", "--with", "all", "--yes", "--user"], { cwd })).toMatchObject({
      code: 0,
      err: "",
    });
  });
  test("/ is no project to install in", () => {
    // Only planned: a version that does not refuse must not write to the machine's own root.
    const { code, err } = runInProcess(ground(), ["init", "--print"], { cwd: "/" });
    expect({ code, err }).toEqual({ code: 1, err: `pawl: / is not a project\n  hint: ${HINT}\n` });
  });
  test("what an older version installed there is removed", () => {
    const place = ground();
    const before = snapshot(place.root);
    expect(runInProcess(place, ["init", "--with", "all", "--yes"]).code).toBe(0);
    chmodSync(place.root, 0o777);
    expect(runInProcess(place, ["uninstall", "--yes", "--purge"])).toMatchObject({ code: 0, err: "" });
    expect(snapshot(place.root)).toEqual(before);
  });
});

function linkTo(target: string, { base }: Place): string {
  symlinkSync(target, join(base, "link"));
  return join(base, "link");
}

function opened(folder: string): string {
  chmodSync(folder, 0o777);
  return folder;
}

function writeBytes(root: string, path: string, bytes: number[]): void {
  put(root, path, "");
  writeFileSync(join(root, path), new Uint8Array(bytes));
}

function link(root: string, path: string, to: string): void {
  put(root, path, "");
  put(root, `${path}-dir/x`, "");
  mkdirSync(join(root, path, ".."), { recursive: true });
  Bun.spawnSync(["ln", "-sfn", to, join(root, path)]);
}

describe("a record from a stranger's repository leads nowhere", () => {
  const entry = (path: string, kind: string) => {
    const wrote = Bun.SHA256.hash("precious", "hex");
    return JSON.stringify({
      v: 1,
      pawl: "1",
      files: [{ path, kind, before: "evil", wrote, scopes: ["local"] }],
      folders: [],
    });
  };
  const victim = ({ base }: Place) => join(base, "victim");
  const cases: [string, (place: Place) => string][] = [
    ["an absolute path", (place) => entry(victim(place), "text")],
    ["another exclude file", (place) => entry(victim(place), "exclude")],
    ["a path upwards", () => entry("../victim", "text")],
    ["a hook of git", () => entry(".git/hooks/pre-commit", "text")],
    ["a folder elsewhere", () => JSON.stringify({ v: 1, pawl: "1", files: [], folders: ["../empty"] })],
  ];
  for (const [name, record] of cases) {
    test(name, () => {
      const place = ground({ "../victim": "precious", ".git/hooks/pre-commit": "precious" });
      mkdirSync(join(place.base, "empty"));
      put(place.root, ".pawl/install.json", record(place));
      runInProcess(place, ["init", "--with", "all", "--yes"]);
      runInProcess(place, ["uninstall", "--purge", "--yes"]);
      expect(textOf(victim(place))).toBe("precious");
      expect(textOf(join(place.root, ".git/hooks/pre-commit"))).toBe("precious");
      expect(snapshot(place.base).empty).toStartWith("folder");
    });
  }
});

describe("asked for words only, nothing is changed", () => {
  const cases: [string[], number, string][] = [
    [["init"], 2, "create  .claude/settings.local.json"],
    [["init", "--print"], 0, "hook claude --via local"],
    [["init", "--json"], 2, '"applied": false'],
    [["init", "--print", "--json", "--team"], 0, '"path": ".claude/settings.json"'],
    [["init", "--with", "all", "--plugin", "--yes"], 0, "claude plugin install pawl@pawl"],
    [["init", "--team", "--user"], 2, ""],
    [["init", "--host", "codex"], 2, ""],
    [["init", "now"], 2, ""],
    [["uninstall"], 0, "Pawl is not installed here."],
    [["uninstall", "--json", "--user"], 0, '"changes": []'],
    [["uninstall", "--team", "--user"], 2, ""],
  ];
  for (const [args, code, out] of cases) {
    test(args.join(" "), () => {
      const place = ground();
      const before = snapshot(place.base);
      const ran = runInProcess(place, args);
      expect({ code: ran.code, out: ran.out }).toEqual({ code, out: expect.stringContaining(out) });
      expect(ran.err === "").toBe(code === 0 || args.includes("--json"));
      expect(snapshot(place.base)).toEqual(before);
    });
  }
  test("an edit is shown as a difference", () => {
    const place = ground({ [LOCAL]: '{\n  "a": 1,\n  "b": 2\n}\n' });
    const { out } = runInProcess(place, ["init", "--print"]);
    expect(out).toContain(`── edit ${LOCAL}\n  {\n    "a": 1,\n-   "b": 2\n+   "b": 2,\n+   "hooks": {\n`);
  });
  test("uninstall says what it would do", () => {
    const place = ground();
    runInProcess(place, ["init", "--with", "all", "--yes"]);
    const before = snapshot(place.base);
    const { code, out } = runInProcess(place, ["uninstall", "--purge"]);
    expect(code).toBe(2);
    expect(out).toContain(`remove  ${LOCAL}`);
    expect(runInProcess(place, ["uninstall", "--print"]).code).toBe(0);
    expect(snapshot(place.base)).toEqual(before);
  });
});

describe("changed between the look and the deed", () => {
  const cases: [string, (root: string) => void, string][] = [
    ["edited", (root) => put(root, LOCAL, "{ }"), LOCAL],
    ["made", (root) => put(root, ".claude/agents/deep-reviewer.md", "mine"), ".claude/agents/deep-reviewer.md"],
    ["removed", (root) => void Bun.spawnSync(["rm", join(root, LOCAL)]), LOCAL],
  ];
  for (const [name, meddle, path] of cases) {
    test(name, () => {
      const place = ground({ [LOCAL]: "{}" });
      const { changes } = planInit(
        installTarget("local", place.root),
        { claudeMd: false, config: null, parts: {} },
        "1",
      );
      meddle(place.root);
      const before = snapshot(place.root);
      expect(() => applyChanges(changes)).toThrow(`${path} was changed by someone else`);
      expect(snapshot(place.root)).toEqual(before);
    });
  }
});

test("a file that Claude Code cannot read is edited, with a warning", () => {
  const place = ground({ [LOCAL]: '{\n  // mine\n  "a": 1\n}\n' });
  const { code, out } = runInProcess(place, ["init", "--with", "all", "--yes"]);
  expect(code).toBe(0);
  expect(out).toContain(
    "WARNING: Claude Code 2.1 ignores the whole of .claude/settings.local.json (line 2, column 3: a comment)",
  );
  expect(textOf(join(place.root, LOCAL))).toContain("// mine");
});
