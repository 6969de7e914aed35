/** Brings a Claude Code client into the cache, once. `PAWL_CLIENT` chooses the version (scripts/hosts.mjs sets it). */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The versions that the suite must pass on; the first is the default. */
export const SUPPORTED = ["2.1.325", "2.1.197"];
export const VERSION = process.env.PAWL_CLIENT ?? SUPPORTED[0]!;

const ROOT = resolve(import.meta.dir, "../..");
const CACHE = join(ROOT, ".cache");
const HOME = join(CACHE, `claude-code-${VERSION}`);

let ready: Promise<string> | undefined;

/** Path of a client that has said its version. Installs it first if need be. */
export function claudeBinary(): Promise<string> {
  ready ??= prepare();
  return ready;
}

async function prepare(): Promise<string> {
  if (!existsSync(HOME)) await install();
  const binary = nativeBinary(HOME);
  await prove(binary);
  return binary;
}

/** The binary alone: the launcher around it wants a newer Node, and npm may forbid its set-up script. */
const PLATFORM = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

function nativeBinary(folder: string): string {
  return join(folder, "node_modules", PLATFORM, process.platform === "win32" ? "claude.exe" : "claude");
}

async function install(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "installing-"));
  try {
    await npmInstall(folder);
    await moveInto(folder, HOME);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Two test runs may install at once; the first to finish wins, the other's copy is dropped. */
async function moveInto(folder: string, target: string): Promise<void> {
  await rename(folder, target).catch((error) => {
    if (!existsSync(target)) throw error;
  });
}

async function npmInstall(folder: string): Promise<void> {
  const options = ["--no-save", "--no-audit", "--no-fund", "--engine-strict=false", "--ignore-scripts"];
  const what = `${PLATFORM}@${VERSION}`;
  const npm = Bun.spawn(["npm", "install", "--prefix", folder, ...options, what], { stdout: "pipe", stderr: "pipe" });
  const said = await new Response(npm.stderr).text();
  if ((await npm.exited) !== 0) throw new Error(`npm could not install ${what}:\n${said}`);
}

async function prove(binary: string): Promise<void> {
  const env = { HOME: "/nonexistent", PATH: "/usr/bin:/bin" };
  const claude = Bun.spawn([binary, "--version"], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const said = await new Response(claude.stdout).text();
  if (!said.startsWith(VERSION)) throw new Error(`${binary} --version said "${said.trim()}", expected ${VERSION}`);
}

if (import.meta.main) console.log(await claudeBinary());
