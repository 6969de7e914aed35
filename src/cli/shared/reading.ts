/** A long history takes a while to be read the first time: a line on the terminal says how far it is. */
import { makeProgress } from "../../verify/progress.ts";
import type { Io } from "./args.ts";

const PATIENCE_MS = 500;

export interface Reading {
  told(share: number): void;
  /** before anything else is written */
  clear(): void;
}

/** `isQuiet`: the output is for a program. Without a terminal it is silent anyway. */
export function tellReading(io: Io, isQuiet: boolean): Reading {
  const columns = !isQuiet && process.stderr.isTTY ? process.stderr.columns || 80 : 0;
  const progress = makeProgress({ write: io.err, columns }, Number.POSITIVE_INFINITY);
  const began = performance.now();
  return {
    told(share) {
      if (performance.now() - began < PATIENCE_MS || share === 1) return;
      progress.show(`reading the journals: ${Math.floor(share * 100)} %`);
    },
    clear: progress.clear,
  };
}
