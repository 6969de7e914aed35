/** Where procedures come from, how they are filled in, and every mistake with its place. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import schema from "../../schema/procedure.json";
import { main } from "../../src/cli/index.ts";
import { findProcedure, listProcedures, overridePhases } from "../../src/definitions/procedures.ts";
import { procedureSchema } from "../../src/definitions/schema/json.ts";
import { waitFor } from "../harness/in-process.ts";

let base: string;
let home: string;
const project = (name: string) => join(base, name);

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const HEAD = "about: Says it.\nsuccess: Said.\nagain: Not yet.\nfailure: No voice.\n";
const saying = (name: string, say: string) => `name: ${name}\n${HEAD}phases:\n  act:\n    - ${say}\n`;
let count = 0;

/** A project of its own with one procedure `say`. */
function projectWith(text: string, files: Record<string, string> = {}): string {
  const root = project(`p${count++}`);
  put(join(root, ".pawl/procedures/say.yaml"), text);
  for (const [path, content] of Object.entries(files)) put(join(root, path), content);
  return root;
}

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "pawl-procedures-"));
  home = join(base, "home");
  put(join(home, ".config/pawl/procedures/mine.yaml"), saying("mine", "path: fragments/mine.md"));
  put(join(home, ".config/pawl/procedures/build.yaml"), saying("build", "content: As the person says."));
  put(join(home, ".config/pawl/fragments/mine.md"), "From the home.\n");
  put(join(base, "outside.md"), "Secret.\n");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function textOf(name: string, root: string): string {
  const found = findProcedure(name, root, home);
  if (!found) return "none";
  if ("errors" in found) return found.errors.map((e) => `${e.file}:${e.line}:${e.column}: ${e.message}`).join("\n");
  return found.procedure.phases.act.map(({ source, text }) => `[${source}] ${text}`).join("\n");
}

describe("project over person over built in", () => {
  test("by name", () => {
    const root = projectWith(saying("say", "content: As the project says."));
    expect(textOf("say", root)).toBe("[content] As the project says.");
    expect(textOf("mine", root)).toBe("[~/.config/pawl/fragments/mine.md] From the home.");
    expect(textOf("build", root)).toBe("[content] As the person says.");
    put(join(root, ".pawl/procedures/build.yaml"), saying("build", "content: As this project says."));
    expect(textOf("build", root)).toBe("[content] As this project says.");
    for (const name of ["nobody", "../say", "Say", ""]) expect(textOf(name, root)).toBe("none");
  });

  test("one that is broken makes no room for the one it replaces", () => {
    const root = projectWith(saying("say", "content: x"), { ".pawl/procedures/auto.yaml": "name: [\n" });
    expect(textOf("auto", root)).toStartWith(".pawl/procedures/auto.yaml:");
    const listed = listProcedures(root, home);
    expect(listed.filter(({ name }) => name === "auto").map(({ origin }) => origin)).toEqual(["project"]);
  });

  test("a pawl.yaml with mistakes stops them all", () => {
    const root = projectWith(saying("say", "content: x"), { "pawl.yaml": "gates: 3\n" });
    expect(textOf("say", root)).toStartWith("pawl.yaml:1:8: expected");
  });
});

describe("fragments", () => {
  test("files of the project, with parameters; what they bring in is not read again", () => {
    const root = projectWith(saying("say", "{ path: fragments/a.md, parameters: { who: '{file}', what: 'x' } }"), {
      ".pawl/fragments/a.md": `\n# A\r\n{who} says {what}, \${who} @{u} {{who}} {Who}: {success} {procedure}\n`,
    });
    expect(textOf("say", root)).toBe(
      `[.pawl/fragments/a.md] # A\n{file} says x, \${who} @{u} {{who}} {Who}: Said. say`,
    );
  });

  test("limits, gates and the rest", () => {
    const more =
      "max_iterations: unlimited\nfailure_threshold: 2\ntimeout: 60\nmain: true\ngates:\n  - use: unit\n  - file: OUT.md\n";
    const root = projectWith(`${saying("say", "content: x")}${more}`, {
      "pawl.yaml": "gates:\n  unit: { tests: [npm, test] }\n",
    });
    const found = findProcedure("say", root, home)!;
    expect("procedure" in found && found.procedure).toMatchObject({
      title: "Say",
      main: true,
      max_iterations: "unlimited",
      failure_threshold: 2,
      timeout: 60,
      gates: [
        { name: "unit", tests: ["npm", "test"] },
        { name: "file OUT.md", file: "OUT.md" },
      ],
      source: ".pawl/procedures/say.yaml",
    });
  });
});

describe("mistakes", () => {
  const file = ".pawl/procedures/say.yaml";
  const big = "x".repeat(64 * 1024 + 1);
  const table: [what: string, text: string, wanted: string, files?: Record<string, string>][] = [
    ["all phases are empty", `name: say\n${HEAD}phases: {}\n`, `${file}:6:9: all phases are empty`],
    ["empty lists, too", `name: say\n${HEAD}phases: { act: [] }\n`, `${file}:6:9: all phases are empty`],
    ["no phases", `name: say\n${HEAD}`, `${file}:1:1: "phases" is missing`],
    ["an unknown phase", `name: say\n${HEAD}phases: { atc: [] }\n`, `${file}:6:11: unknown key "atc"`],
    ["path and content", saying("say", "{ path: a.md, content: x }"), `${file}:8:21: both path and content`],
    ["neither", saying("say", "{ parameters: { a: b } }"), `${file}:8:7: this says nothing`],
    ["no such file", saying("say", "path: a.md"), `${file}:8:13: the fragment "a.md" cannot be read: missing`],
    [
      "no such builtin",
      saying("say", 'path: "builtin:act/emit_sucess.md"'),
      `${file}:8:13: the fragment "builtin:act/emit_sucess.md" cannot be read: it is not built in`,
    ],
    ["upwards", saying("say", "path: ../outside.md"), `${file}:8:13: "../outside.md" is not the path of a fragment`],
    ["in the middle", saying("say", "path: a/../../outside.md"), `${file}:8:13: "a/../../outside.md" is not the path`],
    ["absolute", saying("say", "path: /etc/hostname"), `${file}:8:13: "/etc/hostname" is not the path of a fragment`],
    ["of git", saying("say", "path: .git/config"), `${file}:8:13: ".git/config" is not the path of a fragment`],
    [
      "a folder",
      saying("say", "path: procedures"),
      `${file}:8:13: the fragment "procedures" cannot be read: not a reg`,
    ],
    ["too large", saying("say", "path: b.md"), "cannot be read: it is larger than 64 KB", { ".pawl/b.md": big }],
    ["empty", saying("say", "path: e.md"), `${file}:8:7: the fragment is empty`, { ".pawl/e.md": " \n" }],
    ["not given", saying("say", "content: 'a {file}'"), `${file}:8:16: nothing is given for {file}`],
    [
      "not given, in a file",
      saying("say", "path: f.md"),
      ".pawl/f.md:2:7: nothing is given for {file}",
      { ".pawl/f.md": "# F\nWrite {file}.\n" },
    ],
    ["not given, built in", saying("say", 'path: "builtin:act/report_file.md"'), `${file}:8:13: nothing is given for`],
    [
      "given for nothing",
      saying("say", "{ content: x, parameters: { file: y } }"),
      `${file}:8:35: the fragment has no {file}`,
    ],
    [
      "a gate of stages",
      `${saying("say", "content: x")}gates: [{ evidence: tests, from: work }]\n`,
      "a procedure has no stages",
    ],
    ["a typed command", `${saying("say", "content: x")}gates: [{ typed: true }]\n`, "no one types a command here"],
    ["an unknown gate", `${saying("say", "content: x")}gates: [{ use: unit }]\n`, 'pawl.yaml has no gate "unit"'],
    [
      "no iterations",
      `${saying("say", "content: x")}max_iterations: 0\n`,
      "expected unlimited, or a whole number from 1",
    ],
    ["endless", `${saying("say", "content: x")}max_iterations: endless\n`, `found the text "endless"`],
    ["half of one", `${saying("say", "content: x")}failure_threshold: 1.5\n`, "expected a whole number from 1"],
    [
      "drives something else",
      `${saying("say", "content: x")}drives: complete-work\n`,
      '"complete-work" is not known here',
    ],
    ["misnamed", saying("said", "content: x"), `${file}:1:1: the file say.yaml calls its procedure "said"`],
  ];
  const cases = table.map(([what, text, wanted, files = {}]) => ({ what, text, wanted, files }));
  test.each(cases)("$what", ({ text, wanted, files }) => {
    const shown = textOf("say", projectWith(text, files));
    expect(shown).toContain(wanted);
    expect(shown).not.toContain("Secret");
  });

  const LINKS: [what: string, at: string, to: string][] = [
    ["a fragment", ".pawl/fragments/a.md", "../../../outside.md"],
    ["a fragment inside", ".pawl/fragments/a.md", "b.md"],
    ["its folder", ".pawl/fragments", "../.."],
  ];
  test.each(LINKS)("%s that is a link is not followed", (_, at, to) => {
    const root = projectWith(saying("say", "path: fragments/a.md"));
    mkdirSync(dirname(join(root, at)), { recursive: true });
    symlinkSync(to, join(root, at));
    expect(textOf("say", root)).toMatch(/cannot be read: .*symbolic link/);
  });

  test("a procedure that is a link is not followed", () => {
    const root = projectWith(saying("say", "content: x"));
    put(join(base, "linked.yaml"), saying("linked", "content: Secret."));
    symlinkSync(join(base, "linked.yaml"), join(root, ".pawl/procedures/linked.yaml"));
    expect(textOf("linked", root)).toMatch(/^\.pawl\/procedures\/linked\.yaml:1:1: .*symbolic link/);
  });
});

describe("a phase given otherwise", () => {
  const override = (phases: Parameters<typeof overridePhases>[1]) => {
    const found = findProcedure("auto", base, home)!;
    if ("errors" in found) throw new Error(found.errors[0]!.message);
    const changed = overridePhases(found.procedure, phases, base);
    return "what" in changed ? changed.what : changed.procedure.phases;
  };
  test("a text, a file, a built-in one; the other phases stay", () => {
    const phases = override({
      act: ["Just say {success}", "outside.md", "builtin:act/emit_signal.md"],
      observe: ["Look."],
    });
    expect(phases).toMatchObject({
      observe: [{ source: "content", text: "Look." }],
      orient: [],
      decide: [{ source: "builtin:decide/decide_signal.md" }],
      act: [
        { source: "content", text: "Just say The workflow has no task left." },
        { source: "outside.md", text: "Secret." },
        { source: "builtin:act/emit_signal.md" },
      ],
    });
  });
  test.each([
    [{ act: ["nowhere.md"] }, '--act: "nowhere.md": missing'],
    [{ orient: ["builtin:act/none.md"] }, '--orient: "builtin:act/none.md": it is not built in'],
    [{ observe: ["builtin:observe/read_earlier_output.md"] }, "--observe: nothing is given for {file}"],
  ])("%j is refused", (phases, why) => expect(override(phases)).toStartWith(why));
});

describe("commands", () => {
  function call(command: string, args: string[], root: string) {
    const said = { out: "", err: "" };
    const hear = (stream: "out" | "err") => (text: string) => {
      said[stream] += text;
    };
    const io = { out: hear("out"), err: hear("err"), cwd: root, isTTY: false, home };
    return { code: waitFor(main(command, args, io)), ...said };
  }

  test("check: all of them, one by name, one by file", () => {
    const root = projectWith(saying("say", "content: 'a {file}'"));
    expect(call("check", ["say"], root)).toMatchObject({
      code: 1,
      out: expect.stringContaining("say.yaml:8:16: nothing"),
    });
    expect(call("check", [], root).out).toContain("builtin:agents-sync: ok, 11 fragments\n");
    expect(call("check", [], root).code).toBe(1);
    const path = ".pawl/procedures/say.yaml";
    expect(call("check", [path], root).out).toContain(`${path}:8:16: nothing is given for {file}`);
    expect(call("check", ["mine"], root)).toMatchObject({
      code: 0,
      out: "~/.config/pawl/procedures/mine.yaml: ok, 1 fragment\n",
    });
  });

  test("show: what it means, its prompt, its source", () => {
    const root = projectWith(saying("say", "content: Say it."));
    expect(call("show", ["say"], root).out).toContain("\nSUCCESS   Said.\nno signal Not yet.\nFAILURE   No voice.\n");
    expect(call("show", ["say", "--prompts"], root).out).toContain("PHASE 1: ACT\n");
    expect(call("show", ["say", "--source"], root).out).toBe(saying("say", "content: Say it."));
    expect(JSON.parse(call("show", ["say", "--json"], root).out)).toMatchObject({ name: "say", gates: [] });
    expect(call("show", ["nobody"], root).code).toBe(2);
  });

  test("list: workflows, then procedures, the main ones first", () => {
    const root = projectWith(saying("say", "content: x"));
    const { procedures } = JSON.parse(call("list", ["--json"], root).out);
    expect(procedures.slice(0, 2).map(({ name }: { name: string }) => name)).toEqual(["auto", "bootstrap"]);
    expect(procedures.find(({ name }: { name: string }) => name === "say")).toMatchObject({
      origin: "project",
      main: false,
    });
    expect(call("list", [], root).out).toMatch(/\n\nProcedures, for pawl loop:\nauto +builtin {2}Work through/);
  });
});

test("schema/procedure.json is fresh; if not: node_modules/.bin/bun scripts/schema.ts", () => {
  expect(JSON.stringify(schema)).toBe(JSON.stringify(procedureSchema()));
});
