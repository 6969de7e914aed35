// @ts-nocheck
/** vitest's reporter. Reporters on the command line replace those of the configuration: those are put back here. */
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const report = createRequire(import.meta.url)("./report.cjs");
const { chosen = true } = globalThis[Symbol.for("pawl.vitest")] ?? {};

/** What the configuration says, before ours replaced it. */
function configured(vitest) {
  const list = (vitest.vite ?? vitest.server)?.config?.test?.reporters;
  const all = Array.isArray(list) ? list : list === undefined ? [] : [list];
  return all.map((one) => (Array.isArray(one) ? one : typeof one === "string" ? [one, {}] : one));
}

async function builtIn() {
  const folder = path.dirname(realpathSync(process.argv[1])).replace(/\/dist$/, "");
  const from = (file) => import(pathToFileURL(path.join(folder, "dist", file)).href);
  return (await from("node.js")).ReportersMap ?? (await from("reporters.js")).ReportersMap;
}

/** As vitest makes them: by the name of its own, else from a module. */
async function make(vitest, map, one) {
  if (!Array.isArray(one)) return one;
  const [name, options = {}] = one;
  if (Object.hasOwn(map, name)) return new map[name](options);
  const { runner } = vitest;
  const file =
    name === "html" ? "@vitest/ui/reporter" : /^\.\.?\//.test(name) ? path.resolve(process.cwd(), name) : name;
  const loaded = await (runner.executeId?.(file) ?? runner.import(file));
  return new loaded.default(options);
}

const pathOf = (task) => {
  const names = [];
  for (let one = task; one && one.type !== "module"; one = one.parent) names.unshift(one.name);
  return [task.project?.name, ...names].filter(Boolean);
};

export default class {
  streams = false;

  async onInit(vitest) {
    report.start("vitest", vitest.version);
    const wanted = chosen ? [] : configured(vitest);
    if (wanted.length === 0) return;
    const at = vitest.reporters.indexOf(this) + 1;
    // Before "default" hears of the start: it must not print its own beginning.
    vitest.reporters[at] = {};
    const map = await builtIn();
    const made = await Promise.all(wanted.map((one) => make(vitest, map, one)));
    vitest.reporters.splice(at, 1, ...made);
    await Promise.all(made.map((one) => one.onInit?.(vitest)));
  }

  // ── since 3 ──
  onTestRunStart() {
    this.streams = true;
  }
  onTestCaseResult(test) {
    const { state } = test.result();
    report.test(test.module.moduleId, pathOf(test), test.options.mode === "todo" ? "todo" : state);
  }
  onTestSuiteResult(suite) {
    if (suite.errors?.().length > 0) report.test(suite.module.moduleId, pathOf(suite), "error");
  }
  onTestModuleEnd(module) {
    if (module.errors?.().length > 0)
      report.test(module.moduleId, [module.project?.name, "(file)"].filter(Boolean), "error");
  }
  onTestRunEnd() {
    report.end();
  }

  // ── before 3 ──
  onFinished(files = []) {
    if (this.streams) return;
    for (const file of files) this.#walk(file, file.filepath, file.projectName ? [file.projectName] : []);
    report.end();
  }

  #walk(suite, file, names) {
    if (suite.result?.errors?.length > 0) report.test(file, names.length > 0 ? names : ["(file)"], "error");
    for (const task of suite.tasks ?? []) {
      const name = [...names, task.name];
      if (task.type === "suite") this.#walk(task, file, name);
      else report.test(file, name, statusOf(task));
    }
  }
}

const WORDS = { pass: "passed", fail: "failed" };
const statusOf = ({ mode, result }) =>
  mode === "todo" || mode === "skip" ? mode : (WORDS[result?.state] ?? "skipped");
