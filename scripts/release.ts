/**
 * Makes release/: one package per platform with the executable, and `pawl`, which chooses one of them.
 * `--only linux-x64` makes one platform, `--to <folder>` writes to another folder.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileArguments } from "../bin/flags.mjs";
import manifest from "../package.json";

const ROOT = resolve(import.meta.dir, "..");
const CACHE = join(ROOT, "node_modules/.cache/bun");
const BUN = manifest.dependencies.bun;

interface Platform {
  os: string;
  cpu: string;
  libc?: string;
}

/** The names of the packages, without the scope. */
const PLATFORMS: Record<string, Platform> = {
  "linux-x64": { os: "linux", cpu: "x64", libc: "glibc" },
  "linux-arm64": { os: "linux", cpu: "arm64", libc: "glibc" },
  "linux-x64-musl": { os: "linux", cpu: "x64", libc: "musl" },
  "linux-arm64-musl": { os: "linux", cpu: "arm64", libc: "musl" },
  "darwin-x64": { os: "darwin", cpu: "x64" },
  "darwin-arm64": { os: "darwin", cpu: "arm64" },
};

function run(command: string[], cwd: string): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: exit ${exitCode}\n${stdout}${stderr}`);
}

/** Bun for that platform, from the npm registry; kept for the next release. */
function fetchBun(name: string): string {
  const bun = `bun-${name.replace("arm64", "aarch64")}`;
  const folder = join(CACHE, `${bun}-${BUN}`);
  if (!existsSync(folder)) {
    const work = `${folder}.${process.pid}`;
    mkdirSync(work, { recursive: true });
    run(["npm", "pack", "--silent", `@oven/${bun}@${BUN}`], work);
    run(["tar", "-xzf", `oven-${bun}-${BUN}.tgz`], work);
    renameSync(join(work, "package"), folder);
    rmSync(work, { recursive: true });
  }
  return join(folder, "bin/bun");
}

function put(path: string, content: object | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
}

function makePlatform(to: string, name: string): void {
  const { os, cpu, libc } = PLATFORMS[name]!;
  const folder = join(to, name);
  const binary = join(folder, "bin/pawl");
  const { version, license } = manifest;
  const description = `Pawl's program for ${name}`;
  put(join(folder, "package.json"), {
    ...{ name: `@pawl/${name}`, version, description, license, os: [os], cpu: [cpu] },
    ...(libc ? { libc: [libc] } : {}),
    files: ["bin"],
  });
  put(join(folder, "README.md"), `${description}. Install \`pawl\`, which brings it.\n`);
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  mkdirSync(dirname(binary), { recursive: true });
  const target = [`--target=bun-${name}`, `--compile-executable-path=${fetchBun(name)}`];
  run([process.execPath, ...compileArguments(ROOT, binary, true, target)], folder);
  chmodSync(binary, 0o755);
  console.log(`@pawl/${name}  ${(statSync(binary).size / 1e6).toFixed(1)} MB`);
}

function makeMain(to: string): void {
  const { name, version, description, license, type, engines, bin } = manifest;
  const optionalDependencies = Object.fromEntries(Object.keys(PLATFORMS).map((one) => [`@pawl/${one}`, version]));
  const folder = join(to, "pawl");
  put(join(folder, "package.json"), {
    ...{ name, version, description, license, type, engines, bin, files: ["bin"], optionalDependencies },
  });
  for (const file of ["bin/pawl.mjs", "bin/place.mjs", "LICENSE", "README.md"])
    put(join(folder, file), readFileSync(join(ROOT, file), "utf8"));
  chmodSync(join(folder, "bin/pawl.mjs"), 0o755);
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    to: { type: "string", default: join(ROOT, "release") },
  },
});
const names = values.only?.split(",") ?? Object.keys(PLATFORMS);
const unknown = names.filter((name) => !(name in PLATFORMS));
if (unknown.length > 0) {
  console.error(`unknown platform: ${unknown.join(", ")}\n  hint: choose from ${Object.keys(PLATFORMS).join(", ")}`);
  process.exit(1);
}
const to = resolve(values.to);
for (const name of [...names, "pawl"]) rmSync(join(to, name), { recursive: true, force: true });
for (const name of names) makePlatform(to, name);
makeMain(to);
