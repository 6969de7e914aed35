#!/usr/bin/env node
/** The tests in a browser need a chromium. Finds one, or installs Debian's where that is allowed; else says what to do. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** @param {string} path */
const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

function find() {
  if (process.env.CHROMIUM) return isProgram(process.env.CHROMIUM) ? process.env.CHROMIUM : null;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram) ?? null;
}

/** @type {(command: string, args: string[]) => boolean} */
const run = (command, args) => spawnSync(command, args, { stdio: "inherit" }).status === 0;

function install() {
  if (process.env.CHROMIUM || process.getuid?.() !== 0) return false;
  const options = ["-y", "-qq", "--no-install-recommends"];
  return run("apt-get", ["update", "-qq"]) && run("apt-get", ["install", ...options, "chromium"]);
}

if (find() === null && !(install() && find() !== null)) {
  console.error("The tests of the dashboard need a chromium, and none was found or could be installed.");
  console.error("  Install one (Debian: apt-get install chromium), or say where it is: CHROMIUM=/path/to/chromium");
  process.exit(1);
}
