/** `pawl verify --wait` with less patience: <root> <ms>. Its exit code is the command's. */
import { makeProgress } from "../../src/verify/progress.ts";
import { waitForChecks } from "../../src/verify/wait.ts";

const write = (text: string) => void process.stdout.write(text);
const { code, lines } = await waitForChecks(
  process.argv[2]!,
  Number(process.argv[3]),
  makeProgress({ write, columns: 0 }, 100),
);
console.log(lines.join("\n"));
process.exit(code);
