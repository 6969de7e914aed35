/** A copy of this package in a folder of its own, a scratch home, and the launcher in a real process. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Ran } from "../harness/harness.ts";

export const ROOT = resolve(import.meta.dir, "../..");
const NODE = Bun.which("node") ?? "node";

/** The parts of package.json that the tests look at or change. */
interface Manifest {
  name: string;
  version: string;
  files: string[];
  dependencies: Record<string, string>;
}

export interface Installed {
  base: string;
  /** where the package is */
  root: string;
  home: string;
  binary: string;
  sidecar: string;
}

const bases: string[] = [];

export function scratch(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "pawl-package-")));
  bases.push(base);
  return base;
}

export function removeScratch(): void {
  for (const base of bases.splice(0)) rmSync(base, { recursive: true, force: true });
}

export function manifestOf(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

export function setVersion(root: string, version: string): void {
  writeFileSync(join(root, "package.json"), JSON.stringify({ ...manifestOf(root), version }));
}

/** What `npm pack` would ship, and package.json. */
export function copyPackage(root: string): void {
  mkdirSync(root, { recursive: true });
  for (const name of ["package.json", ...manifestOf(ROOT).files].filter((name) => existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  }
}

/** As after an installation, but with the dependencies of this checkout: no network, no waiting. */
export function installed(inside = "package"): Installed {
  const base = scratch();
  const root = join(base, inside);
  copyPackage(root);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  return { base, root, ...homeIn(base) };
}

/** The space is on purpose. */
export function homeIn(base: string): Omit<Installed, "base" | "root"> {
  const home = join(base, "my home");
  mkdirSync(home);
  const binary = join(home, ".local/share/pawl/bin/pawl");
  return { home, binary, sidecar: `${binary}.version` };
}

/** Dependencies as `--ignore-scripts` leaves them: a placeholder, and the program in the platform's package. */
export function blockScripts({ root }: Installed, where: "hoisted" | "nested"): void {
  const real = join(ROOT, "node_modules");
  const modules = join(root, "node_modules");
  rmSync(modules);
  for (const name of dependencies(ROOT).filter((one) => one !== "bun"))
    cpSync(join(real, name), join(modules, name), { recursive: true });
  put(join(modules, "bun/package.json"), readFileSync(join(real, "bun/package.json")));
  put(join(modules, "bun/bin/bun.exe"), "echo not run >&2\nexit 1\n", 0o755);
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const platform = join(
    modules,
    where === "nested" ? "bun/node_modules" : ".",
    `@oven/bun-${process.platform}-${arch}`,
  );
  put(join(platform, "package.json"), "{}");
  mkdirSync(join(platform, "bin"));
  symlinkSync(process.execPath, join(platform, "bin/bun"));
}

export function put(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

// ── Processes ───────────────────────────────────────────────────────────────

/** Nothing of the environment the tests run in. */
export function environment(home: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", ...more };
}

export function launch(place: Installed, args: string[], more: Record<string, string> = {}, cwd = place.base): Ran {
  return run(launcher(place, args), { cwd, env: environment(place.home, more) });
}

export function launcher({ root }: Installed, args: string[]): string[] {
  return [NODE, join(root, "bin/pawl.mjs"), ...args];
}

export function run(cmd: string[], options: { cwd: string; env: Record<string, string>; input?: string }): Ran {
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd,
    cwd: options.cwd,
    env: options.env,
    stdin: Buffer.from(options.input ?? ""),
    timeout: 100_000,
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}

/** Changes whenever another file takes the place. */
export function identityOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** With those of the dependencies themselves. */
function dependencies(folder: string): string[] {
  const own = Object.keys(manifestOf(folder).dependencies ?? {});
  const below = own.filter((name) => name !== "bun").flatMap((name) => dependencies(join(ROOT, "node_modules", name)));
  return [...new Set([...own, ...below])];
}
