// @ts-nocheck
/** jasmine: a reporter of ours next to those that the person chose, added when the runner is about to start. */
const path = require("node:path");
const report = require("./report.cjs");

let total = 0;
const reporter = {
  jasmineStarted() {
    report.start("jasmine");
  },
  specDone({ filename, fullName, status }) {
    total += 1;
    report.test(filename, [fullName], status === "excluded" ? "skipped" : status);
  },
  suiteDone({ filename, fullName, failedExpectations = [] }) {
    if (failedExpectations.length > 0) report.test(filename, [fullName, "(suite)"], "failed");
  },
  jasmineDone({ failedExpectations = [] }) {
    if (failedExpectations.length > 0) report.test("", ["(all)"], "failed");
    report.end(total);
  },
  reporterCapabilities: { parallel: true },
};

module.exports = (folder) => {
  for (const file of ["jasmine.js", "parallel_runner.js"]) {
    const { prototype } = require(path.join(folder, "lib", file));
    const { execute } = prototype;
    prototype.execute = function (...args) {
      report.take();
      this.addReporter(reporter, "Pawl's reporter");
      return execute.apply(this, args);
    };
  }
};
