// @ts-nocheck
/** mocha: its runner is an emitter, in one process or in parallel; it is found when it says that it starts. */
const EventEmitter = require("node:events");
const report = require("./report.cjs");

const emit = EventEmitter.prototype.emit;
EventEmitter.prototype.emit = function (...args) {
  if (args[0] === "start" && /Runner$/.test(this.constructor?.name) && this.suite !== undefined) {
    EventEmitter.prototype.emit = emit;
    try {
      listen(this);
    } catch {
      // The tests go on without a report.
    }
  }
  return emit.apply(this, args);
};

function listen(runner) {
  report.start("mocha", versionOf());
  const seen = new WeakSet();
  const tell = (status) => (test) => {
    report.test(test.file, test.titlePath?.() ?? [test.title], status, seen.has(test));
    seen.add(test);
  };
  runner.on("pass", tell("passed"));
  runner.on("fail", tell("failed"));
  runner.on("pending", tell("skipped"));
  runner.on("end", () => report.end());
}

function versionOf() {
  try {
    const script = require("node:fs").realpathSync(process.argv[1]);
    return require(script.replace(/\/mocha\/(bin|lib)\/.*$/, "/mocha/package.json")).version;
  } catch {
    return undefined;
  }
}
