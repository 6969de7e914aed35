// @ts-nocheck
/** playwright's reporter, added by PW_TEST_REPORTER to those that the person chose. */
const report = require("./report.cjs");

const statusOf = (test) => {
  const outcome = test.outcome();
  if (outcome === "expected" && test.expectedStatus === "failed") return "xfail";
  return outcome === "unexpected" ? "failed" : outcome;
};

module.exports = class {
  onBegin(config, suite) {
    delete process.env.PW_TEST_REPORTER;
    this.suite = suite;
    report.start("playwright", config.version);
  }
  onEnd() {
    const tests = this.suite?.allTests() ?? [];
    for (const test of tests) {
      const [, project, , ...names] = test.titlePath();
      report.test(test.location.file, [project, ...names].filter(Boolean), statusOf(test));
    }
    report.end(tests.length);
  }
  printsToStdio() {
    return false;
  }
};
