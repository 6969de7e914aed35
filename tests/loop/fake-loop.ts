/**
 * Plays a loop through the view of the terminal, as a program of its own: each step is made when the file of that name is
 * in the folder that is named first. SIGINT ends it as it ends a real loop.
 */
import { existsSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LoopState, Verdict } from "../../src/kernel/types/loop.ts";
import { ended, newLoop } from "../../src/loop/core/loop.ts";
import { terminalView } from "../../src/loop/terminal.ts";

export const FAKE_LOOP = import.meta.path;
const LIMITS = { max_iterations: 5, failure_threshold: 3, time_limit: 28_800, budget: 20 };
const AT = "2026-01-02T03:04:05.000Z";

async function play(folder: string, verbose: boolean): Promise<void> {
  const screen = { out: (text: string) => void writeSync(1, text), err: (text: string) => void writeSync(2, text) };
  const columns = () => process.stdout.columns ?? 80;
  const view = terminalView(screen, { procedure: "build", ai: "claude", limits: LIMITS, columns, verbose });
  let state = newLoop({ id: "lo-1", procedure: "build", ai: "claude", run: "" }, AT);
  const over = (outcome: NonNullable<LoopState["outcome"]>, why: string) => {
    view.ended(ended(state, { kind: "end", outcome, why }, AT));
    process.exit(0);
  };
  process.on("SIGINT", () => over("interrupted", "interrupted"));
  const say = (line: object | string) =>
    view.output(new TextEncoder().encode(`${typeof line === "string" ? line : JSON.stringify(line)}\n`));
  const iterate = (verdict: Verdict, why: string) => {
    state = counted(state, verdict, why);
    view.iterated(state.lines.at(-1)!, state);
  };

  view.began(1, 5, "s1");
  say({ type: "system", subtype: "init", cwd: "/p" });
  say(assistant({ type: "text", text: "I begin with the \u001b[31mparser\u001b[0m \u001b]0;title\u0007and 漢字.\n" }));
  say(assistant({ type: "tool_use", id: "1", name: "Edit", input: { file_path: "/p/src/parser.ts" } }));
  await step(folder, "second");
  iterate("continue", "The first task is done");
  view.began(2, 5, "s2");
  say(
    assistant({ type: "tool_use", id: "2", name: "Bash", input: { command: `npm test ${"very-long-".repeat(30)}` } }),
  );
  say(assistant({ type: "text", text: "漢字".repeat(200) }));
  await step(folder, "wait");
  iterate("spoilt", "limit: usage limit reached");
  view.waiting(4_325_000, "usage limit: usage limit reached");
  await step(folder, "end");
  view.began(2, 5, "s3");
  iterate("success", "SUCCESS: all three are done");
  over("success", "SUCCESS: all three are done");
}

const assistant = (block: object) => ({ type: "assistant", message: { content: [block] } });

function counted(state: LoopState, verdict: Verdict, why: string): LoopState {
  const iteration = state.iterations + 1;
  const line = { iteration, at: AT, verdict, why, elapsed_ms: 65_000, cost_usd: 0.42, session: "s" };
  const iterations = state.iterations + (verdict === "spoilt" ? 0 : 1);
  const cost_usd = state.cost_usd + 0.42;
  return { ...state, iterations, cost_usd, spent_ms: state.spent_ms + 65_000, lines: [...state.lines, line] };
}

async function step(folder: string, name: string): Promise<void> {
  while (!existsSync(join(folder, name))) await Bun.sleep(20);
}

if (import.meta.main) await play(process.argv[2]!, process.argv.includes("--verbose"));
