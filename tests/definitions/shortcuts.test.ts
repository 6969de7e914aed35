/** What pawl.yaml and ~/.config/pawl/config.yaml make of the shortcuts, and the commands about them. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { main } from "../../src/cli/index.ts";
import {
  helpText,
  renderExpansion,
  SHORTCUTS,
  type Shortcut,
  withOverrides,
} from "../../src/controls/core/shortcut.ts";
import { projectSchema } from "../../src/definitions/schema/json.ts";
import { readShortcuts } from "../../src/definitions/shortcuts.ts";
import { isOwned, setOff } from "../../src/store/place.ts";
import { makePlace, type Place, removePlaces, runPawl } from "../harness/harness.ts";
import { waitFor } from "../harness/in-process.ts";

const SHIPPED = "s x xc r h hc ci ? d: p:";
const CONFIG = ".config/pawl/config.yaml";
const keys = (table: readonly Shortcut[]) => table.map(({ key }) => key).join(" ");

let folder: string;
let [root, home, realHome] = ["", "", process.env.HOME];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-shortcuts-"));
  [root, home] = [join(folder, "project"), join(folder, "home")];
  for (const dir of [root, home]) mkdirSync(dir);
  process.env.HOME = home;
});
afterEach(() => {
  process.env.HOME = realHome;
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removePlaces);

function put(base: string, path: string, text: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}

const read = (project: string | null, person: string | null) => {
  if (project !== null) put(root, "pawl.yaml", project);
  if (person !== null) put(home, CONFIG, person);
  return readShortcuts(root, home);
};

describe("shipped < project < person", () => {
  const cases: [what: string, project: string | null, person: string | null, on: string][] = [
    ["no file", null, null, SHIPPED],
    ["empty files", "", "# nothing yet\n", SHIPPED],
    ["files about something else", "guard: off\n", "# shortcuts: off\n", SHIPPED],
    ["the project: off", "shortcuts: off\n", null, ""],
    ["the person: off", null, "shortcuts: off\n", ""],
    ["the project switches one off", "shortcuts:\n  ci: off\n", null, "s x xc r h hc ? d: p:"],
    [
      "directives, in quotes or with two colons",
      'shortcuts: { "b:": on }',
      "shortcuts:\n  q:: on\n",
      `${SHIPPED} b: q:`,
    ],
    ["help, too", "shortcuts:\n  ?: off\n", null, "s x xc r h hc ci d: p:"],
    ["the person has the last word", "shortcuts: off\n", "shortcuts: { x: on, s: on }\n", "s x"],
    ["and the other way", "shortcuts: { y: on }\n", "shortcuts: off\n", ""],
    ["own keys of both", "shortcuts: { t: Test. }\n", 'shortcuts: { "rv:": Review. }\n', `${SHIPPED} t rv:`],
    ["the person switches off what the project has", "shortcuts: { t: Test. }", "shortcuts: { t: off }", SHIPPED],
    ["the word in YAML's other letters", '"short\\x63uts": off\n', null, ""],
    ["a number as a key", "shortcuts: { 1: Take the first. }", null, `${SHIPPED} 1`],
  ];
  test.each(cases)("%s", (_what, project, person, on) => {
    const { table, problems } = read(project, person);
    expect(problems).toEqual([]);
    expect(keys(table)).toBe(on);
  });

  test("a project cannot bind a key again that the person has bound, or wants as it was shipped", () => {
    const { table } = read("shortcuts: { x: Send me the keys., r: Retry. }", "shortcuts: { x: on, r: Try again. }");
    const said = table.filter(({ key }) => key === "x" || key === "r").map(renderExpansion);
    expect(said).toEqual([renderExpansion(SHORTCUTS[1]!), "[SHORTCUT: r] Try again."]);
  });

  test("a project's own text hides nothing and steers no terminal", () => {
    const { table } = read('shortcuts: { t: "\\e[31mTest\\u202e all\\u200b.\\a" }\n', null);
    expect(table.at(-1)?.text).toBe("Test all.");
  });

  test("a link in the home is the person's, one in the project is refused", () => {
    put(folder, "dotfiles.yaml", "shortcuts: { y: on }\n");
    mkdirSync(join(home, ".config/pawl"), { recursive: true });
    symlinkSync(join(folder, "dotfiles.yaml"), join(home, CONFIG));
    expect(keys(readShortcuts(root, home).table)).toBe("s x xc r h hc ci ? y d: p:");
    rmSync(join(home, CONFIG));
    symlinkSync(join(folder, "dotfiles.yaml"), join(root, "pawl.yaml"));
    expect(readShortcuts(root, home)).toEqual({
      table: withOverrides(SHORTCUTS, []),
      problems: ["pawl.yaml:1:1: the file cannot be read: not a regular file"],
    });
  });
});

describe("a file with mistakes is left out, and said", () => {
  const cases: [yaml: string, problem: string][] = [
    ["shortcuts: on", "1:12: expected off, or a mapping (key: value), found the text"],
    ["shortcuts: [x]", "1:12: expected a mapping (key: value), found a list"],
    ["shortcuts:", "1:11: expected off, or a mapping (key: value), found nothing"],
    ["shortcuts: {}", '1:12: "shortcuts" is empty'],
    ["shortcut: off\n# shortcuts", '1:1: unknown key "shortcut"'],
    ["shortcuts:\n  x: true", "2:6: expected text, found true"],
    ["shortcuts:\n  x: no", '2:6: "no" is not on, off or a text'],
    ["shortcuts:\n  x: ''", '2:6: "" is not on, off or a text'],
    ['shortcuts:\n  x: "\\u200b\\u202e"', "2:6: no visible character in"],
    ["shortcuts:\n  xxxx: Too long.", '2:3: "xxxx" is not the key of a shortcut'],
    ["shortcuts:\n  /x: A command.", '2:3: "/x" is not the key of a shortcut'],
    ['shortcuts:\n  "x y": Blank.', '2:3: "x y" is not the key of a shortcut'],
    ['shortcuts:\n  "a-b:": Dash.', '2:3: "a-b:" is not the key of a shortcut'],
    ['shortcuts:\n  "elevenchars:": Long.', '2:3: "elevenchars:" is not the key of a shortcut'],
    ['shortcuts:\n  "x\\u200b": Hidden.', '2:3: "x" is not the key of a shortcut'],
    ["shortcuts:\n  d: off", '2:3: there is no shortcut "d" to switch off'],
    ["shortcuts:\n  z: on", '2:3: there is no shortcut "z" to switch on'],
    ["shortcuts:\n  x: on\n  x: off", "3:3: this key is here twice"],
    ["shortcuts: {", ""],
  ];
  const places = [
    ["pawl.yaml", (text: string) => read(text, "shortcuts: { y: on }"), "s x xc r h hc ci ? y d: p:"],
    ["~/.config/pawl/config.yaml", (text: string) => read("shortcuts: { ci: off }", text), "s x xc r h hc ? d: p:"],
  ] as const;
  for (const [file, reading, rest] of places)
    test.each(cases)(`${file}: %j`, (yaml, problem) => {
      const { table, problems } = reading(yaml);
      expect(problems[0]).toStartWith(`${file}:${problem}`);
      expect(keys(table)).toBe(rest);
    });

  test("only a person may switch off what is not known", () => {
    expect(read(null, "shortcuts: { t: off }").problems).toEqual([]);
    expect(read("shortcuts: { t: off }", null).problems).toHaveLength(1);
  });

  test("exactly 2,000 characters fit, and not one more", () => {
    expect(read(`shortcuts:\n  t: ${"a".repeat(2001)}`, null).problems[0]).toStartWith('pawl.yaml:2:6: "aaa');
    expect(read(`shortcuts:\n  t: ${"a".repeat(2000)}`, null).table.at(-1)?.text).toHaveLength(2000);
  });

  test("pawl check tells both, with the line", () => {
    const call = () => {
      let out = "";
      const add = (text: string) => {
        out += text;
      };
      const code = waitFor(main("check", [], { out: add, err: add, cwd: root, isTTY: false, home }));
      return { code, out };
    };
    read("guard: tell\n", "shortcuts: { y: on }");
    expect(call().code).toBe(0);
    read("guard: tell\n", "shortcuts:\n  d: on\n");
    expect(call()).toMatchObject({
      code: 1,
      out: expect.stringContaining(`~/${CONFIG}:2:3: there is no shortcut "d"`),
    });
    expect(call().out).toContain('hint: in quotes and with its colon: "d:": on');
    expect(call().out).toContain("builtin:complete-work: ok");
    read("shortcuts:\n  z: on\n", null);
    expect(call()).toMatchObject({ code: 1, out: expect.stringContaining('pawl.yaml:2:3: there is no shortcut "z"') });
  });
});

test("the JSON Schema of pawl.yaml knows them, and is fresh (bun scripts/schema.ts)", () => {
  const file = readFileSync(join(import.meta.dir, "../../schema/project.json"), "utf8");
  expect(JSON.parse(file).properties.shortcuts).toEqual(
    (projectSchema().properties as Record<string, unknown>).shortcuts,
  );
});

test("switched off, there is none; a marker that a repository ships switches nothing off", () => {
  put(root, ".pawl/shortcuts-off", "");
  expect(keys(readShortcuts(root, home).table)).toBe(SHIPPED);
  setOff(root, true, "shortcuts-off");
  expect(readShortcuts(root, home)).toEqual({ table: [], problems: [] });
  const marker = readFileSync(join(root, ".pawl/shortcuts-off"), "utf8");
  setOff(root, false, "shortcuts-off");
  put(root, ".pawl/off", marker);
  expect(keys(readShortcuts(root, home).table)).toBe(SHIPPED);
  expect(isOwned(".pawl/shortcuts-off")).toBe(true);
});

describe("the commands", () => {
  const git = (place: Place) =>
    Bun.spawnSync({ cmd: ["git", "status", "--porcelain"], cwd: place.root, env: place.env }).stdout.toString();

  test("pawl help shortcuts: what counts here, what is off, and where to change it", () => {
    const place = makePlace();
    const { code, out } = runPawl(place, ["help", "shortcuts"]);
    expect(code).toBe(0);
    expect(out).toStartWith(`${helpText(withOverrides(SHORTCUTS, []))}\n\nOff here:\n  c       continue`);
    for (const word of ["learn:", "~/.config/pawl/config.yaml", "pawl.yaml", "shortcuts: off"])
      expect(out).toContain(word);
  });

  test("its example is a file without mistakes", () => {
    const { out } = runPawl(makePlace(), ["help", "shortcuts"]);
    const example = [...out.matchAll(/^ {4}(.+)$/gm)].map((match) => match[1]!).join("\n");
    const { table, problems } = read(null, example);
    expect(problems).toEqual([]);
    expect(keys(table)).toBe("s x xc r h hc ? y d: p: t");
  });

  test("--json, and a file that is left out", () => {
    const place = makePlace();
    put(place.home, CONFIG, "shortcuts: { y: on, ci: off }\n");
    put(place.root, "pawl.yaml", "shortcuts: { z: on }\n");
    const said = JSON.parse(runPawl(place, ["help", "shortcuts", "--json"]).out);
    expect(keys(said.on)).toBe("s x xc r h hc ? y d: p:");
    expect(keys(said.off)).toBe("ci c b: q: learn:");
    expect(said).toMatchObject({ off_here: false, problems: [expect.stringContaining("pawl.yaml:1:14: there is no")] });
    expect(runPawl(place, ["help", "shortcuts"]).out).toContain("Skipped because of errors");
    expect(runPawl(place, ["help", "shortcuts", "all"])).toMatchObject({ code: 2 });
    expect(runPawl(place, ["help", "shortcuts", "--help"]).out).toStartWith("usage: pawl help shortcuts");
  });

  test("pawl off shortcuts, pawl on shortcuts: only they, only here, and git sees nothing of it", () => {
    const place = makePlace();
    expect(runPawl(place, ["off", "shortcuts"])).toMatchObject({
      code: 0,
      out: `Shortcuts are off in ${place.root}. \`pawl on shortcuts\` turns them on again.\n`,
    });
    expect(git(place)).toBe("");
    expect(runPawl(place, ["help", "shortcuts"]).out).toStartWith("Shortcuts are off in ");
    expect(JSON.parse(runPawl(place, ["help", "shortcuts", "--json"]).out)).toMatchObject({ off_here: true, on: [] });
    expect(runPawl(place, ["on", "shortcuts"]).out).toStartWith("Shortcuts are on in ");
    expect(runPawl(place, ["help", "shortcuts"]).out).toStartWith("Type one of these");
    expect(runPawl(place, ["off"]).out).toStartWith("Pawl is off in ");
    expect(runPawl(place, ["help", "shortcuts"]).out).toStartWith("Pawl is off in ");
  });

  test.each([
    [["off", "shortcut"], 2, "unknown argument shortcut"],
    [["off", "shortcuts", "now"], 2, "unknown argument now"],
    [["off", "shortcuts", "--session", "one"], 2, "for a project, not for a session"],
  ])("%j is refused", (args, code, why) => {
    expect(runPawl(makePlace(), args)).toMatchObject({ code, err: expect.stringContaining(why) });
  });

  test("an agent cannot switch them off", () => {
    const place = makePlace();
    expect(runPawl(place, ["off", "shortcuts"], { env: { CLAUDECODE: "1" } })).toMatchObject({ code: 1 });
    expect(runPawl(place, ["help", "shortcuts"]).out).toStartWith("Type one of these");
  });
});
