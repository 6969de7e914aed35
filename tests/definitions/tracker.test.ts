/** `tracker:` in pawl.yaml: what it may say, and that workflows with tasks follow it. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileProject } from "../../src/definitions/project.ts";
import { findByName } from "../../src/definitions/registry.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

describe("what it may say", () => {
  test.each<[string, object]>([
    ["{ kind: beads }", { kind: "beads" }],
    ["{ kind: session-md, path: notes/tasks.md }", { kind: "session-md", path: "notes/tasks.md" }],
    ["{ path: notes/tasks.md }", { path: "notes/tasks.md" }],
    ["{ kind: github, repo: o/r }", { kind: "github", repo: "o/r" }],
    ["{ kind: github, repo: ghe.example.org/o/r.x }", { kind: "github", repo: "ghe.example.org/o/r.x" }],
  ])("%s", (said, tracker) => {
    expect(compileProject(`tracker: ${said}\n`)).toMatchObject({ project: { tracker } });
  });

  test.each<[string, number, string]>([
    ["{ kind: bead }", 18, "bead"],
    ["{ kind: session-md, path: ../x.md }", 32, "a relative path inside the project"],
    ["{ kind: beads, path: x.md }", 27, "beads has no path"],
    ["{ repo: o/r }", 12, "auto has no repo"],
    ["{ kind: github, repo: --help }", 28, "a repository"],
    ["{ kind: github, repos: o/r }", 22, "repos"],
    ["beads", 10, ""],
  ])("not %s", (said, column, message) => {
    const compiled = compileProject(`tracker: ${said}\n`);
    const [first] = "errors" in compiled ? compiled.errors : [];
    expect(first).toMatchObject({ file: "pawl.yaml", line: 1, message: expect.stringContaining(message) });
    expect(Math.abs(first!.column - column)).toBeLessThanOrEqual(6);
  });
});

describe("auto-workflow's tasks", () => {
  const own = (tasks: string) => `workflows:\n  auto-workflow:\n    tasks: ${tasks}\n`;
  test.each<[string, string, object]>([
    ["nothing said", "", { labels: ["auto-workflow"] }],
    [
      "the project's",
      "tracker: { kind: github, repo: o/r }\n",
      { labels: ["auto-workflow"], tracker: "github", repo: "o/r" },
    ],
    ["the project's path", "tracker: { path: a.md }\n", { labels: ["auto-workflow"], path: "a.md" }],
    [
      "the project's, other labels",
      `tracker: { kind: beads }\n${own("{ labels: [x] }")}`,
      { labels: ["x"], tracker: "beads" },
    ],
    [
      "its own",
      `tracker: { kind: beads }\n${own("{ labels: [x], tracker: github }")}`,
      { labels: ["x"], tracker: "github" },
    ],
    [
      "its own path",
      `tracker: { kind: beads }\n${own("{ labels: [x], path: a.md }")}`,
      { labels: ["x"], path: "a.md" },
    ],
  ])("%s", (_, yaml, tasks) => {
    const root = mkdtempSync(join(tmpdir(), "pawl-tracker-"));
    roots.push(root);
    writeFileSync(join(root, "pawl.yaml"), yaml);
    const found = findByName("auto-workflow", root, root);
    expect(found && "workflow" in found ? found.workflow.tasks : found).toEqual(tasks as never);
  });

  test("a workflow without tasks gets none", () => {
    const root = mkdtempSync(join(tmpdir(), "pawl-tracker-"));
    roots.push(root);
    writeFileSync(join(root, "pawl.yaml"), "tracker: { kind: beads }\n");
    const found = findByName("complete-work", root, root);
    expect(found && "workflow" in found ? found.workflow.tasks : found).toBeUndefined();
  });
});
