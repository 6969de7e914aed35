/** Compiles the binary with the Bun that the package brought, and puts it in place. Loaded only when that is needed. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { compileArguments, PAGE, pageArguments } from "./flags.mjs";
import { isCurrent, stampOf, Trouble } from "./place.mjs";

/** @typedef {import("./place.mjs").Place} Place */

const BUILD = ".build-";
/** No build takes this long: what is older was left by one that was killed. */
const LEFT_BEHIND_MS = 10 * 60_000;

/** @param {Place} place @param {string} root the package @param {string} content what it is, as the sidecar says it */
export function renew(place, root, content) {
  const work = workFolder(place.folder);
  try {
    const made = compile(findBun(root), root, work);
    if (!isCurrent(place, content)) putInPlace(place, made, content, root);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function workFolder(folder) {
  try {
    mkdirSync(dirname(dirname(folder)), { recursive: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweep(folder);
    return mkdtempSync(join(folder, BUILD));
  } catch (error) {
    throw new Trouble(
      `cannot write to ${folder}: ${messageOf(error)}`,
      "the binary that hooks call lives there; make it writable, or set HOME",
    );
  }
}

/** @param {string} folder */
function sweep(folder) {
  for (const name of readdirSync(folder).filter((name) => name.startsWith(BUILD))) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > LEFT_BEHIND_MS) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Bun reads a bunfig.toml from its working folder and leaves a half-made file there: it works in an empty folder of
 * ours, on the same file system as the target.
 * @param {string} bun @param {string} root @param {string} work
 */
function compile(bun, root, work) {
  const made = join(work, "pawl");
  // The package brings the page; a checkout makes it, since its sources may be newer.
  for (const name of existsSync(join(root, "scripts/build.ts")) ? PAGE : []) {
    const text = join(root, `${name}.new`);
    runBun(bun, pageArguments(root, name, text), work);
    renameSync(text, join(root, name));
  }
  runBun(bun, compileArguments(root, made, true), work);
  prove(made);
  return made;
}

/** @param {string} bun @param {string[]} args @param {string} work */
function runBun(bun, args, work) {
  const { status, error, stdout, stderr } = spawnSync(bun, args, {
    cwd: work,
    env: plainEnvironment(),
    encoding: "utf8",
  });
  if (!error && status === 0) return;
  throw new Trouble(
    `cannot compile: ${error?.message ?? `${stdout}${stderr}`.trim()}`,
    "make room if the disk is full; otherwise install pawl again",
  );
}

/** What would change the result: options for Bun, and NODE_ENV, which is compiled in. */
function plainEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(BUN|NODE)_/.test(name)));
}

/** Only a binary that runs may take the place of one that does. @param {string} made */
function prove(made) {
  chmodSync(made, 0o755);
  const file = openSync(made, "r");
  fsyncSync(file);
  closeSync(file);
  const { status, signal, error } = spawnSync(made, ["--version"], {
    cwd: "/",
    env: plainEnvironment(),
    stdio: "ignore",
  });
  if (status !== 0) {
    throw new Trouble(
      `the new binary does not run: ${error?.message ?? signal ?? `exit code ${status}`}`,
      `is ${dirname(made)} on a file system that forbids programs (noexec)?`,
    );
  }
}

/** The sidecar last: a crash before costs one more build. @param {Place} place @param {string} made @param {string} content @param {string} root */
function putInPlace(place, made, content, root) {
  const script = `${made}.hook`;
  writeFileSync(script, readFileSync(join(root, "bin/hook.sh")), { mode: 0o755 });
  renameSync(script, place.hook);
  const note = `${made}.version`;
  writeFileSync(note, stampOf(content, made), { mode: 0o644 });
  renameSync(made, place.binary);
  renameSync(note, place.sidecar);
}

// ── Bun ─────────────────────────────────────────────────────────────────────

/** @param {string} root */
export function findBun(root) {
  const folder = folderOf(join(root, "package.json"), "bun");
  const found = folder && [join(folder, "bin", "bun.exe"), ...platformBuns(folder)].find(isBun);
  if (found) return found;
  throw new Trouble(
    `there is no Bun for ${process.platform} ${process.arch} beside ${root}`,
    "it comes as an optional dependency: install pawl again without --omit=optional (or --no-optional)",
  );
}

/** Without install scripts the package `bun` holds a placeholder, and the program stays in its platform's package. @param {string} folder */
function platformBuns(folder) {
  const manifest = join(folder, "package.json");
  const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, "utf8"));
  const prefix = `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
  return Object.keys(optionalDependencies)
    .filter((name) => name === prefix || name.startsWith(`${prefix}-`))
    .flatMap((name) => folderOf(manifest, name) ?? [])
    .map((found) => join(found, "bin", "bun"));
}

/** @param {string} from a file that has the package as its dependency @param {string} name */
function folderOf(from, name) {
  try {
    return dirname(createRequire(from).resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

/** Tried out: there may be a placeholder, or the package of another libc. @param {string} path */
function isBun(path) {
  return (
    existsSync(path) &&
    spawnSync(path, ["--version"], { cwd: "/", env: plainEnvironment(), stdio: "ignore" }).status === 0
  );
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
