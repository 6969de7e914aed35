/** A loop on disk: its count, its cost and its processes, so that it can continue after a crash or a reboot. */
import type { Limits, LoopState } from "../kernel/types/loop.ts";
import { rename } from "../native/disk.ts";
import { ensureDir, insideRoot, isObject, namesOrNone, parseJson, readText, withTemp } from "./files.ts";
import { dirname, isPlainName } from "./names.ts";
import { asIdentity, type Identity, whereabouts } from "./processes/process.ts";
import { seal, unseal } from "./seal.ts";

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

const folderOf = (id: string) => `.pawl/loops/${id}`;
const contextOf = (root: string, id: string) => `loop ${id} ${root}`;

export const outputPath = (root: string, id: string) => insideRoot(root, `${folderOf(id)}/output.log`);

/** `how`: what only matters until a reboot, such as the running process, is not synced. */
export function saveLoop(root: string, kept: KeptLoop, how: "synced" | "unsynced" = "synced"): void {
  const { id } = kept.state;
  ensureDir(root, folderOf(id));
  const path = insideRoot(root, `${folderOf(id)}/state.json`);
  withTemp(dirname(path), seal(contextOf(root, id), JSON.stringify(kept)), 0o600, (temp) => rename(temp, path), how);
}

/** null: it does not exist, or Pawl did not write it. */
export function loadLoop(root: string, id: string): KeptLoop | null {
  if (!isPlainName(id)) return null;
  const file = readText(insideRoot(root, `${folderOf(id)}/state.json`));
  const json = file.ok ? unseal(contextOf(root, id), file.text) : null;
  const value = json === null ? null : parseJson(json);
  if (!isObject(value) || !isObject(value.state)) return null;
  const kept = value as unknown as KeptLoop;
  return { ...kept, runner: asIdentity(kept.runner as never), agent: asIdentity(kept.agent as never) && kept.agent };
}

/** Newest first. */
export function listLoops(root: string): KeptLoop[] {
  return namesOrNone(insideRoot(root, ".pawl/loops"))
    .flatMap((id) => loadLoop(root, id) ?? [])
    .toSorted((a, b) => b.state.updated_at.localeCompare(a.state.updated_at));
}

export const isRunning = ({ runner }: KeptLoop) => runner !== null && whereabouts(runner) !== "gone";

/** It ended early: a crash, the person, or a limit that can be raised. */
export const canResume = (kept: KeptLoop) =>
  !isRunning(kept) &&
  (kept.state.outcome === null || ["interrupted", "limit", "not-started"].includes(kept.state.outcome));
