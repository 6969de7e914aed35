/** A name for this machine that claims can carry: readable, and not the same on two laptops of one make. */
import { statSync } from "node:fs";
import { hostname } from "node:os";
import { hashOf } from "../store/files.ts";
import { homeDir } from "../store/home.ts";

export function machineName(): string {
  const host =
    hostname()
      .split(".")[0]!
      .replace(/[^A-Za-z0-9-]+/g, "-")
      .slice(0, 20) || "machine";
  return `${host}-${hashOf(`${hostname()}\n${homeMark()}`).slice(0, 4)}`;
}

/** Two machines may share a name; the home's own number and birth differ, and stay as long as it does. */
function homeMark(): string {
  try {
    const { ino, birthtimeMs } = statSync(homeDir());
    return `${ino} ${Math.round(birthtimeMs)}`;
  } catch {
    return "";
  }
}
