/** Looking on at a loop that runs in another terminal: what it keeps on disk, shown as the loop itself would show it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { IterationLine, Limits, LoopState } from "../kernel/types/loop.ts";
import { canResume, isRunning, type KeptLoop, listLoops, loadLoop, outputPath } from "../store/loops.ts";
import { EXIT_CODES } from "./core/loop.ts";
import { titleOf } from "./frame.ts";
import { terminalView } from "./progress.ts";
import { lengthOf, summaryText } from "./summary.ts";
import { openTail, type Tail } from "./tail.ts";
import { lineView, type Screen } from "./view.ts";

export interface AttachScreen extends Screen {
  isTTY: boolean;
  columns?: () => number;
  verbose?: boolean;
}

const LOOK_MS = 250;
const MOST_LISTED = 5;
const INTERRUPTED = 130;

/** The exit code is the loop's own, unless the person leaves before. */
export async function attach(
  root: string,
  id: string | undefined,
  screen: AttachScreen,
  interrupted: AbortSignal,
): Promise<number> {
  const kept = id === undefined ? listLoops(root).find(isRunning) : loadLoop(root, id);
  if (!kept) return failed(screen, id ? `there is no loop ${id}` : "no loop is at work here", resumable(root));
  if (kept.state.outcome !== null) return tellEnd(screen, kept.state);
  if (!isRunning(kept)) return tellLost(root, kept.state.id, screen);
  return await lookOn(root, kept, screen, interrupted);
}

async function lookOn(root: string, first: KeptLoop, screen: AttachScreen, interrupted: AbortSignal): Promise<number> {
  const { id } = first.state;
  const tail = openTail(outputPath(root, id));
  const shown = openShown(first, screen);
  try {
    for (let kept: KeptLoop | null = first; kept && isAtWork(kept); kept = loadLoop(root, id)) {
      follow(kept, tail, shown);
      await sleep(LOOK_MS, undefined, { signal: interrupted }).catch(() => undefined);
      if (interrupted.aborted) return left(shown, id, screen);
    }
    // It may have ended between the look at the file and the look at its process.
    const last = loadLoop(root, id);
    if (last) follow(last, tail, shown);
    shown.view.stop();
    return last && last.state.outcome !== null ? tellEnd(screen, last.state, shown) : tellLost(root, id, screen);
  } finally {
    shown.view.stop();
    tail.close();
  }
}

const isAtWork = (kept: KeptLoop) => kept.state.outcome === null && isRunning(kept);

function left({ view }: Shown, id: string, screen: AttachScreen): number {
  view.stop();
  screen.err(`The loop goes on. \`pawl loop --attach ${id}\` looks on again.\n`);
  return INTERRUPTED;
}

// ── What is shown ───────────────────────────────────────────────────────────

/** What looking on needs of a view. */
interface Watched {
  began(iteration: number, max: number | null, session: string, ago_ms: number): void;
  output(bytes: Uint8Array): void;
  iterated(line: IterationLine, state: LoopState): void;
  waiting(ms: number, why: string): void;
  ended(state: LoopState): void;
  stop(): void;
}

interface Shown {
  view: Watched;
  max: number | null;
  /** the agent whose work is shown */
  session: string | null;
  /** when the last iteration that is shown ended */
  until: string;
}

/** null: kept by a version that did not write them down. */
const limitsIn = ({ limits }: KeptLoop): Limits | null => limits ?? null;

function openShown(kept: KeptLoop, screen: AttachScreen): Shown {
  const { state } = kept;
  const limits = limitsIn(kept);
  const until = state.lines.at(-1)?.at ?? "";
  const view = screen.isTTY && process.env.TERM !== "dumb" ? onTerminal(kept, limits, screen) : inLines(screen);
  return { view, max: limits?.max_iterations ?? null, session: null, until };
}

function onTerminal({ state }: KeptLoop, limits: Limits | null, screen: AttachScreen): Watched {
  const { procedure, ai, id } = state;
  const columns = screen.columns ?? (() => process.stdout.columns ?? 80);
  const title = `${id} (Ctrl+C leaves it at work): ${titleOf({ procedure, ai, limits })}`;
  const view = terminalView(screen, { procedure, ai, limits, columns, verbose: screen.verbose ?? false, state, title });
  for (const line of state.lines.slice(-MOST_LISTED)) view.iterated(line, state);
  return view;
}

function inLines(screen: AttachScreen): Watched {
  const view = lineView(screen, { level: "info", verbose: screen.verbose ?? false });
  const iterated = view.iterated as Watched["iterated"];
  return { ...view, iterated, stop: () => undefined };
}

/** What has changed since the last look, in the order in which it happened. */
function follow({ state, agent, waiting }: KeptLoop, tail: Tail, shown: Shown): void {
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

function tellEnd(screen: AttachScreen, state: LoopState, shown?: Shown): number {
  // On a terminal the view itself closes with the summary.
  shown?.view.ended(state);
  if (!shown || !screen.isTTY) screen.out(`${summaryText(state)}\n`);
  return EXIT_CODES[state.outcome ?? "interrupted"];
}

function tellLost(root: string, id: string, screen: AttachScreen): number {
  const kept = loadLoop(root, id);
  if (!kept) return failed(screen, `the files of loop ${id} are gone`, [`look into .pawl/loops/${id}`]);
  const { iterations, procedure } = kept.state;
  const what = `loop ${id} (${procedure}) is not at work: its process${kept.runner ? ` ${kept.runner.pid}` : ""} is gone, after ${iterations} iteration${iterations === 1 ? "" : "s"}`;
  return failed(screen, what, [`\`pawl loop --resume ${id}\` goes on with the same count and budget`]);
}

function failed(screen: Screen, what: string, hints: string[]): number {
  screen.err(`pawl: ${what}\n  hint: ${hints.join("\n        ")}\n`);
  return 1;
}

function resumable(root: string): string[] {
  const loops = listLoops(root).filter(canResume);
  if (loops.length === 0) return ["`pawl loop <procedure>` begins one"];
  const rows = loops.slice(0, MOST_LISTED).map(({ state }) => {
    const { id, procedure, iterations, spent_ms, updated_at, outcome } = state;
    const spent = `${iterations} iteration${iterations === 1 ? "" : "s"}, ${lengthOf(spent_ms)}`;
    return `  ${id}  ${procedure}, ${outcome ?? "broken off"} after ${spent}, last at ${updated_at}`;
  });
  return ["`pawl loop --resume <loop>` goes on with one of these:", ...rows];
}
