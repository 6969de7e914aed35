// @ts-nocheck
/** jest's reporter: the results of a file come when the file is done. */
const report = require("./report.cjs");

const versionOf = () => {
  try {
    return require(require.resolve("jest/package.json", { paths: [process.cwd(), process.argv[1]] })).version;
  } catch {
    return undefined;
  }
};

/** Several projects may run the same file. */
const projectOf = ({ context }) => context?.config?.displayName?.name;

module.exports = class {
  onRunStart() {
    report.start("jest", versionOf());
  }
  onTestResult(test, { testFilePath, testResults, testExecError }) {
    const project = [projectOf(test)].filter(Boolean);
    if (testExecError && testResults.length === 0) report.test(testFilePath, [...project, "(file)"], "error");
    for (const { ancestorTitles, title, status } of testResults)
      report.test(testFilePath, [...project, ...ancestorTitles, title], status);
  }
  onRunComplete(_contexts, { numTotalTests }) {
    report.end(numTotalTests);
  }
};
