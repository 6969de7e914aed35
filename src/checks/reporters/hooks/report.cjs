// @ts-nocheck
/** Writes one report file for this process: a line per test, appended as it ends. */
const fs = require("node:fs");
const path = require("node:path");

const OURS = `--require=${path.join(__dirname, "preload.cjs")}`;
const { env } = process;
const folder = env.PAWL_REPORT_DIR;
/** As they are now: tested code may replace them later. */
const { writeSync } = fs;
const { stringify } = JSON;
let fd = null;

/** This process is the outermost runner. It reports; what its tests start must not. */
exports.take = () => {
  delete env.PAWL_REPORT_DIR;
  const others = (env.NODE_OPTIONS ?? "").replace(`"${OURS}"`, "").replace(OURS, "").trim();
  if (others === "") delete env.NODE_OPTIONS;
  else env.NODE_OPTIONS = others;
};

function write(line) {
  try {
    if (fd !== null) writeSync(fd, `${stringify(line)}\n`);
  } catch {
    // The command matters more than its report: what is missing is noticed by the reader.
  }
}

/** Only the first of a process counts: a runner that is started again inside it is not the one we were asked about. */
exports.start = (runner, version) => {
  if (fd !== null || !folder) return false;
  exports.take();
  try {
    const micros = Math.floor((performance.timeOrigin + performance.now()) * 1000);
    fd = fs.openSync(path.join(folder, `${runner}-${process.pid}-${micros}.ndjson`), "ax", 0o600);
  } catch {
    return false;
  }
  write({ ev: "start", runner, version, cwd: process.cwd() });
  return true;
};

/** `again`: one more line about the same test */
exports.test = (file, name, status, again) =>
  write({ ev: "test", file: file ?? "", name: name.map(String), status: String(status), ...(again && { again }) });

exports.end = (total) => write({ ev: "end", total });
