/** Runs the pinned Bun, also where npm was not allowed to run install scripts and `node_modules/.bin/bun` is a placeholder. */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { findBun } from "../bin/renew.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Tests play a client, and no person's word counts in one that an agent started: whose shell this is must not matter.
const { AI_AGENT: _agent, ...env } = process.env;
const { status } = spawnSync(findBun(root), process.argv.slice(2), { stdio: "inherit", env });
process.exit(status ?? 1);
