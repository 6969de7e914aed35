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

/** @param {string} root the package @param {string} to @param {boolean} ordered @param {string[]} target flags for another platform */
export function compileArguments(root, to, ordered, target = []) {
  const order = join(root, ORDER);
  const flags = ordered && existsSync(order) ? [...FLAGS, `--bytecode-order=${order}`] : FLAGS;
  return ["build", ...flags, ...target, join(root, "src", "main.ts"), "--outfile", to];
}

/** The dashboard's page, as two texts that the program embeds: in the package, and made once in a checkout. */
export const PAGE = ["bin/page-script.txt", "bin/page-style.txt"];

/** @param {string} root the package @param {string} made one of PAGE @param {string} to */
export function pageArguments(root, made, to) {
  const entry = made === PAGE[0] ? "app.tsx" : "style/index.css";
  return ["build", join(root, "src/web/page", entry), "--target=browser", "--minify", "--outfile", to];
}
