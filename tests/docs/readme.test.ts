/** The README's own claims: what can be compiled is, what it names is there, and it stays short. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileWorkflow } from "../../src/definitions/compile.ts";
import { compileProject } from "../../src/definitions/project.ts";

const ROOT = join(import.meta.dir, "../..");
const TEXT = readFileSync(join(ROOT, "README.md"), "utf8");
const [project = "", workflow = ""] = [...TEXT.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml!);

test("its pawl.yaml has a definition of done", () => {
  const compiled = compileProject(project);
  if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
  expect(compiled.project.gates.done?.all).toHaveLength(2);
});

test("its workflow is one", () => {
  const named = compileProject(project);
  const compiled = compileWorkflow(workflow, "ship.yaml", () => null, "project" in named ? named.project.gates : {});
  expect("errors" in compiled ? compiled.errors : []).toEqual([]);
});

test("every file it names is there, in links and in the comments that name its tests", () => {
  const links = [...TEXT.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!);
  const tests = [...TEXT.matchAll(/<!-- (.*?) -->/gs)].flatMap(
    ([, text]) => text!.match(/(?:tests|bench)\/[\w./-]+/g) ?? [],
  );
  expect(tests.length).toBeGreaterThan(8);
  expect([...links, ...tests].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("at most 900 words", () => {
  const words = TEXT.replace(/<!--.*?-->/gs, "")
    .split(/\s+/)
    .filter((word) => /\w/.test(word));
  expect(words.length).toBeLessThanOrEqual(900);
});
