// @ts-nocheck
/** ava: each file runs in a thread or process of its own; what it tells the runner is heard in the runner's process. */
const EventEmitter = require("node:events");
const processes = require("node:child_process");
const { syncBuiltinESMExports } = require("node:module");
const threads = require("node:worker_threads");
const report = require("./report.cjs");

/** by thread or process: its file, as long as it runs */
const files = new Map();
const broken = new Set();
let total = 0;

/** A thread gets its file's name when it is made, a process in the first message to it. */
threads.Worker = class Worker extends threads.Worker {
  constructor(script, options) {
    super(script, options);
    const file = options?.workerData?.options?.file;
    if (file) files.set(this, file);
  }
};
const { fork } = processes;
processes.fork = (...args) => {
  const child = fork(...args);
  const { send } = child;
  child.send = function (...words) {
    const { type, options } = words[0]?.ava ?? {};
    if (type === "options") files.set(child, options.file);
    return send.apply(this, words);
  };
  return child;
};
syncBuiltinESMExports();

const STATUS = { "test-passed": "passed", "test-failed": "failed", "hook-failed": "failed" };
const TROUBLE = /^(uncaught-exception|unhandled-rejection|missing-ava-import|process-exit|internal-error)$/;

function listen(worker, { type, title, skip, todo }) {
  const file = files.get(worker);
  if (type === "selected-test") {
    total += 1;
    if (skip || todo) report.test(file, [title], "skipped");
  } else if (type in STATUS) report.test(file, [title], STATUS[type]);
  else if (TROUBLE.test(type) && !broken.has(file)) {
    broken.add(file);
    total += 1;
    report.test(file, ["(file)"], "error");
  }
}

const emit = EventEmitter.prototype.emit;
EventEmitter.prototype.emit = function (...args) {
  try {
    if (args[0] === "message" && args[1]?.ava && files.has(this)) listen(this, args[1].ava);
    if (args[0] === "exit") files.delete(this);
  } catch {
    // A report that is not complete is noticed; the tests go on.
  }
  return emit.apply(this, args);
};

report.start("ava");
process.on("exit", () => files.size === 0 && report.end(total));
