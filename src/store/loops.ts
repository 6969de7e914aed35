/** A loop on disk: its count, its cost and its processes, so that it can continue after a crash or a reboot. */
import type { Limits, LoopState } from "../kernel/types/loop.ts";
import { ensureDir, insideRoot, isObject, namesOrNone, type SyncMode, writeAtomic } from "./files.ts";
import { isPlainName } from "./names.ts";
import { asIdentity, type Identity, processState } from "./processes/process.ts";
import { readSealed, seal } from "./seal.ts";

export interface KeptLoop {
  state: LoopState;
  /** its command-line arguments; `--resume` uses them again */
  asked: string[];
  limits?: Limits;
  /** the process that drives it */
  runner: Identity | null;
  /** the running agent; its process group ends with it */
  agent: (Identity & { iteration: number; session: string; began: string }) | null;
  /** why and how long it waits */
  waiting: { until: string; why: string } | null;
}

const loopFolder = (id: string) => `.pawl/loops/${id}`;
const loopContext = (root: string, id: string) => `loop ${id} ${root}`;

const statePath = (root: string, id: string) => insideRoot(root, `${loopFolder(id)}/state.json`);
export const outputPath = (root: string, id: string) => insideRoot(root, `${loopFolder(id)}/output.log`);

/** `how`: what only matters until a reboot, such as the running process, is not synced. */
export function saveLoop(root: string, kept: KeptLoop, how: SyncMode = "synced"): void {
  const { id } = kept.state;
  ensureDir(root, loopFolder(id));
  writeAtomic(statePath(root, id), seal(loopContext(root, id), JSON.stringify(kept)), 0o600, how);
}

/** null: it does not exist, or Pawl did not write it. */
export function loadLoop(root: string, id: string): KeptLoop | null {
  if (!isPlainName(id)) return null;
  const value = readSealed(loopContext(root, id), statePath(root, id));
  if (!isObject(value?.state)) return null;
  const kept = value as unknown as KeptLoop;
  return { ...kept, runner: asIdentity(kept.runner as never), agent: asIdentity(kept.agent as never) && kept.agent };
}

/** By its own id or by that of its run, which is what people see. */
export const findLoop = (root: string, id: string): KeptLoop | null =>
  loadLoop(root, id) ?? listLoops(root).find(({ state }) => state.run === id) ?? null;

/** Newest first. */
export function listLoops(root: string): KeptLoop[] {
  return namesOrNone(insideRoot(root, ".pawl/loops"))
    .flatMap((id) => loadLoop(root, id) ?? [])
    .toSorted((a, b) => b.state.updated_at.localeCompare(a.state.updated_at));
}

export const isRunning = ({ runner }: KeptLoop) => runner !== null && processState(runner) !== "gone";

/** It ended early: a crash, the person, or a limit that can be raised. */
export const canResume = (kept: KeptLoop) =>
  !isRunning(kept) &&
  (kept.state.outcome === null || ["interrupted", "limit", "not-started"].includes(kept.state.outcome));
