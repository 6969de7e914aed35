/**
 * Builds dist/pawl: one executable, with everything in it. Built twice: the first one shows which parts every hook uses,
 * the second has those together, so that the system brings fewer pages of it into memory (docs/decisions/0004).
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compileArguments, ORDER, PAGE, pageArguments } from "../bin/flags.mjs";

const ROOT = resolve(import.meta.dir, "..");
/** What any session may send, and what most of them send most. */
const USUAL: [args: string[], payload: object][] = [
  [["hook", "claude"], { hook_event_name: "UserPromptSubmit", prompt: "fix it, then tell me what it was" }],
  [["hook", "claude"], { hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "I looked at it." }],
  [["statusline"], { cwd: "/nowhere", cost: { total_cost_usd: 1 } }],
];

function run(command: string[], env: Record<string, string | undefined>, input = ""): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env, stdin: Buffer.from(input) });
  if (exitCode === 0) return;
  throw new Error(`${command[0]}: exit ${exitCode}\n${stdout}${stderr}`);
}

const compile = (to: string, order: boolean) =>
  run([process.execPath, ...compileArguments(ROOT, to, order)], process.env);

/** Of the parts that Bun wrote down: functions and modules that were used, modules that were not. */
function usedBy(binary: string, work: string): string {
  const used = new Set<string>();
  const unused = new Set<string>();
  USUAL.forEach(([args, payload], n) => {
    const out = join(work, `order-${n}`);
    const env = { HOME: work, PATH: process.env.PATH, BUN_BYTECODE_ORDER_OUT: out };
    run([binary, ...args], env, JSON.stringify({ session_id: "build", transcript_path: "/nowhere.jsonl", ...payload }));
    for (const line of readFileSync(out, "utf8").split("\n")) {
      if (line.startsWith("F ") || line.startsWith("M ")) used.add(line);
      if (line.startsWith("N ")) unused.add(line);
    }
  });
  const never = [...unused].filter((line) => !used.has(`M ${line.slice(2)}`));
  return `${["v2", ...used, ...never].join("\n")}\n`;
}

function bundlePage(): void {
  for (const made of PAGE) {
    run([process.execPath, ...pageArguments(ROOT, made, join(ROOT, `${made}.new`))], process.env);
    renameSync(join(ROOT, `${made}.new`), join(ROOT, made));
  }
}

function build(work: string): void {
  bundlePage();
  const first = join(work, "first/pawl");
  const second = join(work, "second/pawl");
  for (const binary of [first, second]) mkdirSync(resolve(binary, ".."));
  compile(first, false);
  const order = join(work, "order");
  writeFileSync(order, usedBy(first, work));
  renameSync(order, join(ROOT, ORDER));
  compile(second, true);
  renameSync(second, join(ROOT, "dist/pawl"));
}

mkdirSync(join(ROOT, "dist"), { recursive: true });
const work = mkdtempSync(join(ROOT, "dist/.build-"));
try {
  build(work);
} catch (error) {
  console.error(`build failed\n${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
