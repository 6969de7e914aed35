/** npm as the machine has it configured (registry, cache, certificates), but with a prefix and a home of our own. */
import { mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Ran } from "../harness/harness.ts";
import { environment, homeIn, type Installed, run, scratch } from "./package.ts";

const QUIET = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

export interface Machine extends Installed {
  prefix: string;
}

/** Nothing on it but node and npm. The package will be where `npm install -g` puts it. */
export function cleanMachine(): Machine {
  const base = scratch();
  const prefix = join(base, "prefix");
  mkdirSync(prefix);
  return { base, prefix, root: join(prefix, "lib/node_modules/pawl"), ...homeIn(base) };
}

export function npm(args: string[], options: { cwd: string; home: string }): string {
  const more = {
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), ".npm"),
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /^(NODE_EXTRA_CA_CERTS|https?_proxy)$/i.test(name)),
    ),
  } as Record<string, string>;
  const { code, out, err } = run(["npm", ...QUIET, ...args], {
    cwd: options.cwd,
    env: environment(options.home, more),
  });
  if (code !== 0) throw new Error(`npm ${args.join(" ")} failed (${code}):\n${out}${err}`);
  return out;
}

/** Path of the tarball. */
export function pack(root: string): string {
  const folder = scratch();
  npm(["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root, home: folder });
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
}

export function installGlobally(machine: Machine, tarball: string, ...options: string[]): void {
  npm(["install", "-g", "--prefix", machine.prefix, tarball, ...options], { cwd: machine.base, home: machine.home });
}

/** By its name, as a person would, from a shell that has the prefix on its PATH. */
export function pawl(machine: Machine, args: string[]): Ran {
  const PATH = `${join(machine.prefix, "bin")}:${process.env.PATH}`;
  return run(["/bin/sh", "-c", 'exec pawl "$@"', "sh", ...args], {
    cwd: machine.base,
    env: environment(machine.home, { PATH }),
  });
}
