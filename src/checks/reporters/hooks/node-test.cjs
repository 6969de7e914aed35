// @ts-nocheck
/**
 * node:test, as `node --test` or in a file that is run by itself. Every reporter reads from one stream; its events are
 * seen here as they are emitted, so the user's own reporters and their options are left alone.
 */
const { Readable } = require("node:stream");
const path = require("node:path");
const report = require("./report.cjs");

const emit = Readable.prototype.emit;
Readable.prototype.emit = function (...args) {
  const [type, data] = args;
  if (typeof type === "string" && this.constructor?.name === "TestsStream") {
    try {
      watch(this, type, data);
    } catch {
      // A report that is not complete is noticed; the tests go on.
    }
  }
  return emit.apply(this, args);
};

let stream = null;
/** by file: the names of the suites that are open */
const open = new Map();

function watch(source, type, data) {
  if (stream === null && type.startsWith("test:")) {
    stream = source;
    report.start("node", process.versions.node);
  }
  if (source !== stream) return;
  if (type === "test:start") begin(data);
  if (type === "test:pass" || type === "test:fail") finish(type, data);
  if (type === "end") report.end();
}

function namesOf(file) {
  if (!open.has(file)) open.set(file, []);
  return open.get(file);
}

function begin({ file, nesting, name }) {
  const names = namesOf(file);
  names.length = nesting;
  names[nesting] = name;
}

function finish(type, { file, nesting, name, skip, todo, details }) {
  // A suite that failed by itself (its hooks) is told; one whose tests failed has said so.
  if (details?.type === "suite" && (type === "test:pass" || details.error?.failureType === "subtestsFailed")) return;
  // A file without tests, or one that ended before them, counts as a test of its own for node.
  if (type === "test:pass" && nesting === 0 && isFile(name, file)) return;
  const status =
    skip !== undefined ? "skipped" : todo !== undefined ? "todo" : type === "test:pass" ? "passed" : "failed";
  report.test(file, [...namesOf(file).slice(0, nesting), name], status);
}

const isFile = (name, file) => path.isAbsolute(name) || path.resolve(name) === file;
