/** The programs that the proof suite runs, found once. The suite's own homes are empty, so wrappers that read HOME do not work there. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const RUNNERS = resolve(import.meta.dir, "../../.cache/runners");

/** rustup's `cargo` looks for its toolchains in HOME: the toolchain's own folder is used instead. */
function rustFolder(): string[] {
  if (!Bun.which("rustc")) return [];
  const { stdout } = Bun.spawnSync(["rustc", "--print", "sysroot"]);
  return [join(stdout.toString().trim(), "bin")];
}

const node = Bun.which("node");
const system = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

export const PATH = [...new Set([...rustFolder(), ...(node ? [dirname(node)] : []), ...system])].join(":");

/**
 * The interpreter that has pytest: with several (pyenv, an image's own in /usr/local) it need not be the first in PATH.
 * pyenv's wrapper looks for the program in HOME: that program itself is taken.
 */
export const PYTHON = ["python3", "/usr/bin/python3", ownPython()].find(hasPytest) ?? "python3-with-pytest";

function ownPython(): string {
  if (!Bun.which("python3")) return "";
  return Bun.spawnSync(["python3", "-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
}

function hasPytest(python: string): boolean {
  if (Bun.which(python, { PATH }) === null) return false;
  return Bun.spawnSync([python, "-m", "pytest", "--version"], { env: { PATH } }).success;
}

export const has = (program: string) => Bun.which(program, { PATH }) !== null;

/** The `node_modules` of a pinned runner, installed by scripts/proof.mjs; null where it is not there. */
export function findRunner(name: string): string | null {
  const pinned: string[] = require("./runners.json");
  const found = pinned.filter((one) => one.startsWith(`${name}@`)).map((one) => join(RUNNERS, one, "node_modules"));
  return found.find((folder) => existsSync(folder)) ?? null;
}
