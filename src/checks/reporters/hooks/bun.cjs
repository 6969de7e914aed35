// @ts-nocheck
/** Loaded first by every Bun process below the command (BUN_OPTIONS): says that a runner starts, and hides our words. */
const fs = require("node:fs");
const path = require("node:path");

const { env, pid, ppid } = process;
const folder = env.PAWL_REPORT_DIR;

const askPs = (id, field) =>
  Bun.spawnSync(["ps", "-ww", "-o", `${field}=`, "-p", String(id)])
    .stdout.toString()
    .trim();

/** The words that started a process; Bun itself shows only those before `test`. */
function wordsOf(id) {
  try {
    return fs.readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
  } catch {
    return askPs(id, "args").split(/\s+/);
  }
}

function parentOf(id) {
  try {
    return Number(/\) \S (\d+)/.exec(fs.readFileSync(`/proc/${id}/stat`, "utf8"))[1]);
  } catch {
    return Number(askPs(id, "ppid"));
  }
}

/** `Bun.spawn` passes on the environment as it was at the beginning, so a runner inside a test is known by its parents. */
function isNested(id) {
  for (let at = parentOf(id); at > 1; at = parentOf(at)) if (fs.existsSync(path.join(folder, `bun-${at}`))) return true;
  return false;
}

/** Where the project has its own XML written: then bun writes none for us. */
function ownReport(words) {
  const at = words.findLastIndex((word) => /^--reporter-outfile(=|$)/.test(word));
  if (at >= 0) return words[at].split(/=(.*)/s)[1] ?? words[at + 1];
  try {
    return Bun.TOML.parse(fs.readFileSync("bunfig.toml", "utf8")).test?.reporter?.junit;
  } catch {
    return undefined;
  }
}

/** Bun itself knows whether it runs tests. */
function isRunner() {
  try {
    require("bun:test").beforeAll(() => {});
    return true;
  } catch {
    return false;
  }
}

/** Only the outermost runner reports: what its tests start must find no trace of us. */
function clean() {
  for (const name of (env.PAWL_REPORT_VARS ?? "").split(" ")) {
    const before = env[`PAWL_WAS_${name}`];
    delete env[`PAWL_WAS_${name}`];
    if (before === undefined) delete env[name];
    else env[name] = before;
  }
  delete env.PAWL_REPORT_DIR;
  delete env.PAWL_REPORT_VARS;
  const theirs = process.execArgv.filter((word) => !word.includes(__dirname) && !word.includes(folder));
  process.execArgv.splice(0, process.execArgv.length, ...theirs.filter((word) => word !== "--reporter=junit"));
}

/** With --parallel the process that writes the XML is the parent of those that run tests. */
function say() {
  const own = wordsOf(pid);
  const isWorker = own.includes("--test-worker");
  const xml = ownReport(isWorker ? wordsOf(ppid) : own);
  const id = isWorker ? ppid : pid;
  const nested = isNested(id) || undefined;
  fs.writeFileSync(path.join(folder, `bun-${id}`), "");
  const start = { id, version: Bun.version, cwd: process.cwd(), xml: xml && path.resolve(xml), nested };
  const pipe = fs.openSync(path.join(folder, "bun.pipe"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
  fs.writeSync(pipe, `${JSON.stringify(start)}\n`);
  fs.closeSync(pipe);
}

try {
  if (folder && isRunner()) {
    try {
      say();
    } finally {
      clean();
    }
  }
} catch {
  // Nothing of ours may keep the command from running.
}
