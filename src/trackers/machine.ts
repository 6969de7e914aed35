/** A name for this machine that claims can carry: readable, and not the same on two laptops of one make. */
import { attempt } from "../kernel/attempt.ts";
import { stat } from "../native/disk.ts";
import { hashOf, readText } from "../store/files.ts";
import { homeDir } from "../store/home.ts";

export function machineName(): string {
  // Where the kernel shows it, node:os need not be loaded.
  const shown = readText("/proc/sys/kernel/hostname", 4_096);
  const name = shown.ok ? shown.text.trimEnd() : (require("node:os") as typeof import("node:os")).hostname();
  const host =
    name
      .split(".")[0]!
      .replace(/[^A-Za-z0-9-]+/g, "-")
      .slice(0, 20) || "machine";
  return `${host}-${hashOf(`${name}\n${homeMark()}`).slice(0, 4)}`;
}

/** Two machines may share a name; the home's own number and birth differ, and stay as long as it does. */
function homeMark(): string {
  const found = attempt(() => stat(homeDir()), undefined);
  // Not every file system knows the birth; what node:fs says then is part of the names of earlier claims.
  const birth = found?.birthtimeMs || attempt(() => node().statSync(homeDir()).birthtimeMs, 0);
  return found === undefined ? "" : `${found.ino} ${Math.round(birth)}`;
}

const node = () => require("node:fs") as typeof import("node:fs");
