#!/usr/bin/env node
/** What npm installs as `pawl`: runs the platform package's binary. In a checkout it compiles one first. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { contentOf, isCurrent, isExecutable, placeOf, releasedBinary, Trouble, textOf } from "./place.mjs";

/** What an agent's client calls: must be quick and never in the way, so these never build and never complain. */
const SILENT = ["hook", "rewake", "statusline"];
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const args = process.argv.slice(2);
const silent = SILENT.includes(args[0] ?? "");

try {
  handOver(releasedBinary(ROOT) ?? (await checkoutBinary()));
} catch (error) {
  giveUp(error);
}

async function checkoutBinary() {
  const place = placeOf();
  if (!silent) await prepare(place);
  else if (!isExecutable(place.binary)) process.exit(0);
  return place.binary;
}

/** @param {import("./place.mjs").Place} place */
async function prepare(place) {
  const content = contentOf(ROOT);
  if (isCurrent(place, content)) return;
  const { renew } = await import("./renew.mjs");
  if (process.stderr.isTTY) process.stderr.write("preparing pawl (once per version)…\n");
  try {
    renew(place, ROOT, content);
  } catch (error) {
    if (!isExecutable(place.binary)) throw error;
    const [version = "an unknown version"] = textOf(place.sidecar).split(" ").filter(Boolean);
    process.stderr.write(`${complaint(error)}  going on with the binary that is there: ${version}\n`);
  }
}

/** We listen before there is a binary that could say it is ready for a signal. @param {string} binary */
function handOver(binary) {
  for (const name of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(name, () => {
      // A terminal sends Ctrl-C to both of us; twice would mean "now!" to some commands.
      if (name !== "SIGINT" || ![0, 1, 2].some(isatty)) child.kill(name);
    });
  }
  const child = spawn(binary, args, { stdio: "inherit" });
  child.on("error", giveUp);
  child.on("exit", endAs);
}

/** @param {number | null} code @param {NodeJS.Signals | null} signal */
function endAs(code, signal) {
  if (!signal) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/** @param {unknown} error */
function giveUp(error) {
  if (silent) process.exit(0);
  process.stderr.write(complaint(error));
  process.exit(3);
}

/** @param {unknown} error */
function complaint(error) {
  const hint = error instanceof Trouble ? error.hint : "install pawl again; if that does not help, please report this";
  return `pawl: ${error instanceof Error ? error.message : String(error)}\n  hint: ${hint}\n`;
}
