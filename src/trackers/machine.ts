/** A name for this machine that claims can carry: readable, and not the same on two laptops of one make. */
import { ffi, libc } from "../native/libc.ts";
import { hashOf, readText } from "../store/files.ts";
import { homeDir } from "../store/home.ts";

export function machineName(): string {
  const name = hostName();
  const host =
    name
      .split(".")[0]!
      .replace(/[^A-Za-z0-9-]+/g, "-")
      .slice(0, 20) || "machine";
  return `${host}-${hashOf(`${name}\n${homeMark()}`).slice(0, 4)}`;
}

/** Where the kernel shows it, node:os need not be loaded. */
function hostName(): string {
  const shown = readText("/proc/sys/kernel/hostname", 4_096);
  return shown.ok ? shown.text.trimEnd() : (require("node:os") as typeof import("node:os")).hostname();
}

/** Two machines may share a name; the home's own number and birth differ, and stay as long as it does. */
function homeMark(): string {
  try {
    const { ino, birthtimeMs } = homeFound();
    return `${ino} ${Math.round(birthtimeMs)}`;
  } catch {
    return "";
  }
}

const [AT_FDCWD, STATX_INO, STATX_BTIME, HIGH] = [-100, 0x100, 0x800, 2 ** 32];

/** struct statx in words of four bytes: what it tells at 0, inode at 8, time of birth at 20. Not every file system knows it. */
function homeFound(): { ino: number; birthtimeMs: number } {
  const path = new TextEncoder().encode(`${homeDir()}\0`);
  const s = new Uint32Array(new ArrayBuffer(256));
  const said = libc?.statx(AT_FDCWD, ffi.ptr(path), 0, STATX_INO | STATX_BTIME, ffi.ptr(new Uint8Array(s.buffer)));
  if (said !== 0 || (s[0]! & STATX_BTIME) === 0)
    return (require("node:fs") as typeof import("node:fs")).statSync(homeDir());
  return { ino: s[8]! + s[9]! * HIGH, birthtimeMs: (s[20]! + s[21]! * HIGH) * 1000 + s[22]! / 1e6 };
}
