/** Watching a loop that runs in another terminal: its files, shown as the loop itself would show them. */

import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../kernel/text/counted.ts";
import type { LoopState } from "../kernel/types/loop.ts";
import { canResume, findLoop, isRunning, type KeptLoop, listLoops, loadLoop, outputPath } from "../store/loops.ts";
import { EXIT_CODES } from "./core/loop.ts";
import { openTail, type Tail } from "./output-log.ts";
import { renderTitle, terminalView } from "./terminal.ts";
import { formatLength, type LoopView, lineView, type Screen, summaryText } from "./view.ts";

export interface AttachScreen extends Screen {
  isTTY: boolean;
  columns?: () => number;
  verbose?: boolean;
}

const LOOK_MS = 250;
const MOST_LISTED = 5;

/** Returns the loop's own exit code, or 130 if the person leaves first. */
export async function attach(
  root: string,
  id: string | undefined,
  screen: AttachScreen,
  interrupted: AbortSignal,
): Promise<number> {
  const kept = id === undefined ? listLoops(root).find(isRunning) : findLoop(root, id);
  if (!kept) return failed(screen, id ? `there is no loop ${id}` : "no loop is running here", resumable(root));
  if (kept.state.outcome !== null) return showEnd(screen, kept.state);
  if (!isRunning(kept)) return showLost(root, kept.state.id, screen);
  return await watch(root, kept, screen, interrupted);
}

async function watch(root: string, first: KeptLoop, screen: AttachScreen, interrupted: AbortSignal): Promise<number> {
  const { id } = first.state;
  const tail = openTail(outputPath(root, id));
  const shown = openShown(first, screen);
  try {
    for (let kept: KeptLoop | null = first; kept && isWorking(kept); kept = loadLoop(root, id)) {
      follow(kept, tail, shown);
      await sleep(LOOK_MS, undefined, { signal: interrupted }).catch(() => undefined);
      if (!interrupted.aborted) continue;
      shown.view.stop();
      screen.err(`The loop continues. \`pawl loop --attach ${id}\` attaches again.\n`);
      return EXIT_CODES.interrupted;
    }
    // It may have ended after its file was read and before its process was checked.
    const last = loadLoop(root, id);
    if (last) follow(last, tail, shown);
    shown.view.stop();
    return last && last.state.outcome !== null ? showEnd(screen, last.state, shown) : showLost(root, id, screen);
  } finally {
    shown.view.stop();
    tail.close();
  }
}

const isWorking = (kept: KeptLoop) => kept.state.outcome === null && isRunning(kept);

// ── What is shown ───────────────────────────────────────────────────────────

interface AttachState {
  view: LoopView;
  max: number | null;
  /** of the agent whose work is shown */
  session: string | null;
  /** when the last iteration that is shown ended */
  until: string;
}

function openShown({ state, ...kept }: KeptLoop, screen: AttachScreen): AttachState {
  const limits = kept.limits ?? null;
  const { verbose = false, columns = () => process.stdout.columns ?? 80 } = screen;
  const shown = { max: limits?.max_iterations ?? null, session: null, until: state.lines.at(-1)?.at ?? "" };
  if (!screen.isTTY || process.env.TERM === "dumb")
    return { ...shown, view: lineView(screen, { level: "info", verbose }) };
  const { procedure, ai, id } = state;
  const title = `${id} (Ctrl+C detaches): ${renderTitle({ procedure, ai, limits })}`;
  const view = terminalView(screen, { procedure, ai, limits, columns, verbose, state, title });
  for (const line of state.lines.slice(-MOST_LISTED)) view.iterated(line, state);
  return { ...shown, view };
}

/** Shows what has changed since the last look, in order. */
function follow({ state, agent, waiting }: KeptLoop, tail: Tail, shown: AttachState): void {
  const { view } = shown;
  for (const bytes of shown.session === null ? [] : tail.read()) view.output(bytes);
  for (const line of state.lines.filter(({ at }) => at > shown.until)) {
    view.iterated(line, state);
    shown.until = line.at;
    shown.session = null;
  }
  if (waiting) view.waiting(Date.parse(waiting.until) - Date.now(), waiting.why);
  if (!agent || agent.session === shown.session) return;
  view.began(agent.iteration, shown.max, agent.session, Math.max(0, Date.now() - Date.parse(agent.began)));
  shown.session = agent.session;
  tail.restart();
  for (const bytes of tail.read()) view.output(bytes);
}

// ── How it ends ─────────────────────────────────────────────────────────────

function showEnd(screen: AttachScreen, state: LoopState, shown?: AttachState): number {
  // On a terminal the view itself closes with the summary.
  shown?.view.ended(state);
  if (!shown || !screen.isTTY) screen.out(`${summaryText(state)}\n`);
  return EXIT_CODES[state.outcome ?? "interrupted"];
}

function showLost(root: string, id: string, screen: AttachScreen): number {
  const kept = loadLoop(root, id);
  if (!kept) return failed(screen, `the files of loop ${id} are missing`, [`see .pawl/loops/${id}`]);
  const { iterations, procedure } = kept.state;
  const what = `loop ${id} (${procedure}) is not running: its process${kept.runner ? ` ${kept.runner.pid}` : ""} is gone, after ${counted(iterations, "iteration")}`;
  return failed(screen, what, [`\`pawl loop --resume ${id}\` continues with the same count and budget`]);
}

function failed(screen: Screen, what: string, hints: string[]): number {
  screen.err(`pawl: ${what}\n  hint: ${hints.join("\n        ")}\n`);
  return 1;
}

function resumable(root: string): string[] {
  const loops = listLoops(root).filter(canResume);
  if (loops.length === 0) return ["`pawl loop <procedure>` starts one"];
  const rows = loops.slice(0, MOST_LISTED).map(({ state }) => {
    const { id, procedure, iterations, spent_ms, updated_at, outcome } = state;
    const spent = `${counted(iterations, "iteration")}, ${formatLength(spent_ms)}`;
    return `  ${id}  ${procedure}, ${outcome ?? "interrupted"} after ${spent}, last at ${updated_at}`;
  });
  return ["`pawl loop --resume <loop>` continues one of these:", ...rows];
}
