// @ts-nocheck
/** Loaded first by every Node process below the command (NODE_OPTIONS): finds the runner, if this is one. */
const fs = require("node:fs");
const path = require("node:path");

/** by package: which of its files is the runner, and what is done in its process */
const RUNNERS = {
  vitest: [/^(vitest\.mjs|dist\/cli\.js)$/, addVitest],
  mocha: [/^(bin|lib\/cli)\//, () => require("./mocha.cjs")],
  ava: [/^entrypoints\/cli\.mjs$/, () => require("./ava.cjs")],
  jasmine: [/^bin\//, (_report, script) => require("./jasmine.cjs")(path.dirname(path.dirname(script)))],
};

/** Our reporter goes first: it finds out which ones the person chose, and puts them in place of "default". */
function addVitest(report) {
  const { argv } = process;
  if (/^(bench|list|init)$/.test(argv[2] ?? "") || argv.some((word) => word.startsWith("--merge-reports"))) return;
  const chosen = argv.some((word) => /^--reporters?(=|$)/.test(word));
  const ours = `--reporter=${path.join(__dirname, "vitest.mjs")}`;
  const at = argv.indexOf("--");
  argv.splice(at < 0 ? argv.length : at, 0, ...(chosen ? [ours] : [ours, "--reporter=default"]));
  globalThis[Symbol.for("pawl.vitest")] = { chosen };
  report.take();
}

function realScript() {
  try {
    return fs.realpathSync(process.argv[1]);
  } catch {
    return process.argv[1] ?? "";
  }
}

try {
  if (process.env.PAWL_REPORT_DIR && require("node:worker_threads").isMainThread) {
    const report = require("./report.cjs");
    require("./node-test.cjs");
    require("./jest-config.cjs");
    if (process.execArgv.includes("--test")) report.take();
    const script = realScript();
    const [, name, file] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(.+)$/.exec(script) ?? [];
    const [entry, add] = (Object.hasOwn(RUNNERS, name ?? "") && RUNNERS[name]) || [];
    if (entry?.test(file)) add(report, script);
  }
} catch {
  // Nothing of ours may keep the command from running.
}
