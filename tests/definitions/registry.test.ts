import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type FoundWorkflow,
  findByArm,
  findByName,
  listProblems,
  listWorkflows,
} from "../../src/definitions/registry.ts";
import { promptReader } from "../../src/definitions/sources.ts";

let base: string;
let home: string;
const project = (name: string) => join(base, name);

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function workflow(name: string, arm: string, say = "Do it."): string {
  const stage = `  - id: work\n    say: ${say}\n    on: { DONE: { end: completed } }\n`;
  return `name: ${name}\nsignals: promise\narm: ["${arm}"]\nstages:\n${stage}`;
}

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "pawl-registry-"));
  home = join(base, "home");
  const inProject = (root: string, file: string, text: string) =>
    put(join(project(root), ".pawl/workflows", file), text);
  put(join(home, ".config/pawl/workflows/mine.yaml"), workflow("mine", "/mine", "As the user says."));
  put(join(home, ".config/pawl/workflows/own.yaml"), workflow("own", "/own", "As the user says."));
  inProject("plain", "own.yaml", workflow("own", "/own", "As the project says."));
  inProject("plain", "notes.yml", "not looked at");
  inProject("plain", "prefixed.yaml", workflow("prefixed", "/pawl:prefixed"));
  inProject("shadow", "complete-work.yaml", workflow("complete-work", "/finish"));
  inProject("broken", "complete-work.yaml", "name: [\n");
  inProject("broken", "other.yaml", `${workflow("other", "/elsewhere")}typo: 1\n`);
  inProject("broken", "remark.yaml", `# not /mine\n${workflow("remark", "/remark")}typo: 1\n`);
  inProject("misnamed", "left.yaml", workflow("right", "/left"));
  inProject("clash", "a.yaml", workflow("a", "/same"));
  inProject("clash", "b.yaml", workflow("b", "/pawl:same"));
  mkdirSync(join(project("folder"), ".pawl/workflows/complete-work.yaml"), { recursive: true });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

const described = (found: FoundWorkflow | null): string | null =>
  found && `${found.file}${listProblems(found).length > 0 ? " (broken)" : ""}`;

describe("findByArm", () => {
  const table: [string, string, string | null][] = [
    ["nothing-here", "/complete-work", "builtin:complete-work"],
    ["nothing-here", "/pawl:complete-work", "builtin:complete-work"],
    ["nothing-here", "/complete-wor", null],
    ["nothing-here", "complete-work", null],
    ["nothing-here", "/", null],
    ["nothing-here", "/mine", "~/.config/pawl/workflows/mine.yaml"],
    ["plain", "/own", ".pawl/workflows/own.yaml"],
    ["plain", "/complete-work", "builtin:complete-work"],
    ["plain", "/prefixed", ".pawl/workflows/prefixed.yaml"],
    ["plain", "/pawl:prefixed", ".pawl/workflows/prefixed.yaml"],
    ["shadow", "/finish", ".pawl/workflows/complete-work.yaml"],
    ["shadow", "/complete-work", null],
    ["broken", "/complete-work", ".pawl/workflows/complete-work.yaml (broken)"],
    ["broken", "/elsewhere", ".pawl/workflows/other.yaml (broken)"],
    ["broken", "/mine", "~/.config/pawl/workflows/mine.yaml"],
    ["folder", "/complete-work", ".pawl/workflows/complete-work.yaml (broken)"],
  ];
  test.each(table)("in %s, %s: %p", (root, word, file) => {
    expect(described(findByArm(word, project(root), home))).toBe(file);
  });
});

describe("findByName", () => {
  const table: [string, string, string | null][] = [
    ["plain", "own", ".pawl/workflows/own.yaml"],
    ["nothing-here", "own", "~/.config/pawl/workflows/own.yaml"],
    ["plain", "complete-work", "builtin:complete-work"],
    ["plain", "../workflows/own", null],
    ["plain", "", null],
    ["misnamed", "left", ".pawl/workflows/left.yaml (broken)"],
    ["misnamed", "right", null],
  ];
  test.each(table)("in %s, %s: %p", (root, name, file) => {
    expect(described(findByName(name, project(root), home))).toBe(file);
  });
});

const OTHERS = [
  "builtin:tail",
  "builtin:until",
  "builtin:guard",
  "builtin:auto-workflow",
  "builtin:planning",
  "builtin:implementation",
  "builtin:qa-loop",
  "builtin:custom",
];

describe("listWorkflows", () => {
  const table: [string, string[]][] = [
    [
      "nothing-here",
      ["~/.config/pawl/workflows/mine.yaml", "~/.config/pawl/workflows/own.yaml", "builtin:complete-work", ...OTHERS],
    ],
    [
      "shadow",
      [
        ".pawl/workflows/complete-work.yaml",
        "~/.config/pawl/workflows/mine.yaml",
        "~/.config/pawl/workflows/own.yaml",
        ...OTHERS,
      ],
    ],
  ];
  test.each(table)("in %s", (root, files) => {
    expect(listWorkflows(project(root), home).map(described)).toEqual(files);
  });

  test("two files of one folder cannot share a word", () => {
    const problems = listWorkflows(project("clash"), home).flatMap(listProblems);
    expect(problems.map((p) => `${p.file}:${p.line}:${p.column}: ${p.message}`)).toEqual([
      '.pawl/workflows/b.yaml:3:8: "/pawl:same" already starts .pawl/workflows/a.yaml',
    ]);
  });

  test("a file that cannot be read is a problem, not a gap", () => {
    const found = listWorkflows(project("folder"), home).find((entry) => entry.origin === "project");
    expect(found && listProblems(found)[0]?.message).toBe("the file cannot be read: it is not a file");
  });
});

describe("promptReader", () => {
  let folder: string;
  beforeAll(() => {
    folder = join(base, "prompts-folder");
    put(join(folder, "here.md"), "here");
    put(join(folder, "large.md"), "x".repeat(256 * 1024 + 1));
    put(join(base, "outside.md"), "outside");
    put(join(base, "prompts-folder-twin/twin.md"), "twin");
    mkdirSync(join(folder, "a.md"));
    symlinkSync(join(base, "outside.md"), join(folder, "out.md"));
    symlinkSync(join(base, "prompts-folder-twin"), join(folder, "twin"));
    symlinkSync(join(folder, "here.md"), join(folder, "in.md"));
    symlinkSync(join(base, "nowhere.md"), join(folder, "dangling.md"));
    mkdirSync(join(folder, "prompts/complete-work"), { recursive: true });
    symlinkSync(join(base, "outside.md"), join(folder, "prompts/complete-work/memory.md"));
  });

  const table: [string, string, string | null][] = [
    ["a file beside the workflow", "here.md", "here"],
    ["a link that stays inside", "in.md", "here"],
    ["a link out", "out.md", null],
    ["a folder link out, to a name that begins alike", "twin/twin.md", null],
    ["a dangling link", "dangling.md", null],
    ["a link out in the place of a built-in prompt", "prompts/complete-work/memory.md", null],
    ["up and out", "../outside.md", null],
    ["absolute", "/etc/hostname.md", null],
    ["a folder", "a.md", null],
    ["a large file", "large.md", null],
    ["a missing file", "missing.md", null],
  ];
  test.each(table)("%s", (_, path, text) => {
    expect(promptReader(folder)(path)).toBe(text);
  });

  test("a built-in prompt needs no copy", () => {
    expect(promptReader(folder)("prompts/complete-work/review.md")).toContain("review");
  });
});
