/** Where the one binary lives, and whether it is the one this package would make. Runs at every call: keep it cheap. */
import { createHash } from "node:crypto";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";

/** What the person can fix: what is wrong, and what to do next. */
export class Trouble extends Error {
  /** @param {string} message @param {string} hint */
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/**
 * The executable of the platform package, or null in a checkout, which has no platform packages.
 * An npm that does not know the field `libc` installs both Linux packages: then the libc of this Node decides.
 * @param {string} root
 */
export function releasedBinary(root) {
  const manifest = join(root, "package.json");
  const { version, optionalDependencies } = JSON.parse(readFileSync(manifest, "utf8"));
  if (!optionalDependencies) return null;
  const name = `@pawl/${process.platform}-${process.arch}`;
  const known = [name, `${name}-musl`].filter((one) => one in optionalDependencies);
  const found = known.flatMap((one) => executableOf(manifest, one, version));
  if (found.length > 0) return found.length > 1 && isMusl() ? found[1] : found[0];
  if (known.length === 0)
    throw new Trouble(
      `there is no build of Pawl for ${process.platform} ${process.arch}`,
      `on Windows, use WSL; there are builds for: ${Object.keys(optionalDependencies).join(", ")}`,
    );
  throw new Trouble(
    `the package ${name} ${version} is not installed; it holds the program`,
    "it is an optional dependency: run `npm install -g pawl` again, without --omit=optional or --no-optional",
  );
}

/** @param {string} from @param {string} name @param {string} version @returns {string[]} */
function executableOf(from, name, version) {
  try {
    const manifest = createRequire(from).resolve(`${name}/package.json`);
    const path = join(dirname(manifest), "bin", "pawl");
    return JSON.parse(readFileSync(manifest, "utf8")).version === version && isExecutable(path) ? [path] : [];
  } catch {
    return [];
  }
}

function isMusl() {
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header?.glibcVersionRuntime === undefined;
}

/** @typedef {{ folder: string, binary: string, sidecar: string, hook: string }} Place */

/** @returns {Place} */
export function placeOf() {
  const home = process.env.HOME || userInfo().homedir;
  if (!home.startsWith("/")) throw new Trouble("there is no home folder", "set HOME to an absolute path");
  const folder = join(home, ".local", "share", "pawl", "bin");
  const hook = join(home, ".local", "share", "pawl", "hook");
  return { folder, binary: join(folder, "pawl"), sidecar: join(folder, "pawl.version"), hook };
}

/**
 * `<version> <content-hash>` of the package: everything that ends up in the binary or says how it is made. The list
 * of what to ship and the list of what to look at are the same, so that neither can forget a folder.
 * @param {string} root
 */
export function contentOf(root) {
  const { version, files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const hash = createHash("sha256");
  for (const path of ["package.json", .../** @type {string[]} */ (files)]
    .flatMap((name) => filesIn(root, name))
    // Made from src, by the compiler in a checkout.
    .filter((path) => !path.startsWith("bin/page-"))
    .sort()) {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return `${version} ${hash.digest("hex")}`;
}

/** @param {string} root @param {string} name @returns {string[]} */
function filesIn(root, name) {
  const found = statSync(join(root, name), { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isFile()) return [name];
  return entriesOf(root, name);
}

/** @param {string} root @param {string} folder @returns {string[]} */
function entriesOf(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? entriesOf(root, path) : [path];
  });
}

/** @param {Place} place @param {string} content */
export function isCurrent({ binary, sidecar, hook }, content) {
  return isExecutable(binary) && isExecutable(hook) && textOf(sidecar) === stampOf(content, binary);
}

/**
 * The line of the sidecar. Its third word ties it to one file on disk: a truncated or foreign binary, or a sidecar
 * that lost a race against another version's, is found out by one stat.
 * @param {string} content @param {string} binary
 */
export function stampOf(content, binary) {
  const { size, mtimeNs } = statSync(binary, { bigint: true });
  return `${content} ${size}-${mtimeNs}\n`;
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** @param {string} path */
export function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
