/** Runs the pinned Bun, also where npm was not allowed to run install scripts and `node_modules/.bin/bun` is a placeholder. */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { findBun } from "../bin/renew.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { status } = spawnSync(findBun(root), process.argv.slice(2), { stdio: "inherit" });
process.exit(status ?? 1);
