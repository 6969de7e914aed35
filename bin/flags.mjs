/**
 * How Pawl is compiled, here and on a user's machine. The last two flags keep the .env and bunfig.toml of the folder
 * a hook runs in (the user's repository) out of the binary.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--splitting",
  "--format=esm",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/** Which parts every hook uses: scripts/build.ts finds that out. Another version's costs nothing but its use. */
export const ORDER = "bin/bytecode-order.txt";

/** @param {string} root the package @param {string} to @param {boolean} ordered */
export function compileArguments(root, to, ordered) {
  const order = join(root, ORDER);
  const flags = ordered && existsSync(order) ? [...FLAGS, `--bytecode-order=${order}`] : FLAGS;
  return ["build", ...flags, join(root, "src", "main.ts"), "--outfile", to];
}
