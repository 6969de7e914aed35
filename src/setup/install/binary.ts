/** The one binary that hooks call. A running binary can put itself there; sources cannot. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { version } from "../../../package.json";
import { messageOf, readText, removeQuietly, TEMP_PREFIX, writeAtomic } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { InstallError } from "./error.ts";

export type BinaryState = "current" | "missing" | "other";

export interface BinaryPlan {
  path: string;
  state: BinaryState;
  /** the running binary, if it can take that place; null: this is no compiled binary */
  source: string | null;
}

export const binaryPath = () => join(homeDir(), ".local/share/pawl/bin/pawl");
const sidecarOf = (path: string) => `${path}.version`;

export function planBinary(): BinaryPlan {
  const path = binaryPath();
  const source = runningBinary();
  const there = statusOf(path);
  if (!there?.isFile()) return { path, state: "missing", source };
  if (source === null) return { path, state: versionOf(path) === version ? "current" : "other", source };
  const own = statSync(source);
  const same = (own.dev === there.dev && own.ino === there.ino) || isSame(source, path, own.size, there.size);
  return { path, state: same && (there.mode & 0o100) !== 0 ? "current" : "other", source };
}

/** Whatever keeps us from looking at it also keeps hooks from calling it. */
function statusOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function runningBinary(): string | null {
  if (!Bun.main.startsWith("/$bunfs/")) return null;
  try {
    return realpathSync(process.execPath);
  } catch {
    return null;
  }
}

/** What lies there is hashed itself: the sidecar is only a claim, and whoever swaps the one can leave the other. */
function isSame(source: string, path: string, size: number, there: number): boolean {
  if (size !== there) return false;
  const note = readText(sidecarOf(path), 4096);
  const said = note.ok ? note.text.trim().split(" ")[0] : undefined;
  return (said === undefined || said === version) && hashFile(path) === hashFile(source);
}

/**
 * Is the content another than its sidecar says? We note a hash there, the launcher size and time; false where nothing
 * is noted that could tell.
 */
export function wasSwapped(path: string): boolean {
  const note = readText(sidecarOf(path), 4096);
  const [, hash = "", stamp = ""] = note.ok ? note.text.trim().split(" ") : [];
  if (/^\d+-\d+$/.test(stamp)) {
    const { size, mtimeNs } = statSync(path, { bigint: true });
    return stamp !== `${size}-${mtimeNs}`;
  }
  return /^[0-9a-f]{64}$/.test(hash) && stamp === "" && hashFile(path) !== hash;
}

function hashFile(path: string): string {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    const buffer = new Uint8Array(1 << 20);
    for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer)) hasher.update(buffer.subarray(0, got));
    return hasher.digest("hex");
  } finally {
    closeSync(fd);
  }
}

/** What a binary says of itself; null: it does not answer. */
export function versionOf(path: string): string | null {
  try {
    const { exitCode, stdout } = Bun.spawnSync([path, "--version"], {
      cwd: "/",
      stdin: "ignore",
      stderr: "ignore",
      timeout: 5_000,
    });
    return exitCode === 0 ? (/^pawl (\S+)/.exec(stdout.toString())?.[1] ?? null) : null;
  } catch {
    return null;
  }
}

/** Puts the running binary where hooks call it, in one step, if what is there is missing or another. */
export function ensureBinary(plan: BinaryPlan = planBinary()): "current" | "copied" | "renewed" {
  if (plan.state === "current") return "current";
  if (plan.source === null)
    throw new InstallError(
      `the binary that hooks call is ${plan.state === "missing" ? "missing" : "of another version"}: ${plan.path}`,
      "this program runs from sources; call the installed `pawl`, or build one with `npm run build` and use dist/pawl",
    );
  try {
    copyInto(plan.source, plan.path);
  } catch (error) {
    throw new InstallError(
      `${plan.path} cannot be written: ${messageOf(error)}`,
      "free some space or fix the folder's permissions, then try again",
    );
  }
  return plan.state === "missing" ? "copied" : "renewed";
}

function copyInto(source: string, path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const temp = join(folder, `${TEMP_PREFIX}${process.pid}-${Math.random().toString(36).slice(2, 12)}`);
  try {
    copyFileSync(source, temp, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(temp, 0o755);
    syncFile(temp);
    const stamp = `${version} ${hashFile(temp)}\n`;
    renameSync(temp, path);
    writeAtomic(sidecarOf(path), stamp, 0o644);
  } finally {
    removeQuietly(temp);
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** After a failed installation: a binary that was not there before goes again. */
export function forgetBinary(path: string): void {
  removeQuietly(sidecarOf(path));
  removeQuietly(path);
}
