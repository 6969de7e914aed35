/** Builds dist/pawl: one executable, with everything in it. */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { FLAGS } from "../bin/flags.mjs";

mkdirSync("dist", { recursive: true });
const temp = `dist/.pawl-${process.pid}`;
const { exitCode, stderr, stdout } = Bun.spawnSync([
  process.execPath,
  "build",
  ...FLAGS,
  "src/main.ts",
  "--outfile",
  temp,
]);
if (exitCode !== 0) {
  rmSync(temp, { force: true });
  console.error(`build failed\n${stdout}${stderr}`);
  process.exit(1);
}
renameSync(temp, "dist/pawl");
