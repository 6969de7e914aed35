/** The other thread: folds what it is given, and tells what came of it. */
import { workerData } from "node:worker_threads";
import type { RunState } from "./core/fold.ts";
import { packRun } from "./core/fold-pack.ts";
import { openScanner, type Scanner } from "./core/journal-scan.ts";
import { newPacker, type Packer } from "./core/packed.ts";
import { newDaySums, noteVisits } from "./days.ts";
import { type Counts, openFold, type Shelf } from "./fold-lines.ts";
import type { Given, Part, Range } from "./mate.ts";
import { readOn } from "./read.ts";
import { type Row, rowOf } from "./shelf.ts";

const FIRST_ROOM = 1 << 20;

export function serve(): void {
  const { port, answers } = workerData as Given;
  const scanner = openScanner();
  const packer = newPacker();
  port.on("message", (range: Range) => {
    const part = tryTo(() => foldRange(scanner, packer, range));
    if (part === null) port.postMessage(null);
    else port.postMessage(part, [part.packed.buffer, part.passed.buffer]);
    Atomics.add(answers, 0, 1);
    Atomics.notify(answers, 0);
  });
}

function tryTo<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** null: it is not the file that was meant. */
function foldRange(scanner: Scanner, packer: Packer, { project, path, place, end }: Range): Part | null {
  const counts: Counts = { events: 0, skipped: 0 };
  const days = newDaySums();
  const rows: Row[] = [];
  const ends: number[] = [];
  const packed = newHeap();
  const passed = newHeap();
  const elsewhere = new Set<string>();
  const save = (state: RunState) => {
    noteVisits(days, project, state);
    rows.push(rowOf(state));
    ends.push((ends.at(-1) ?? 0) + Number(packed.write(packRun(packer, state))));
  };
  const passOn: Shelf["passOn"] = (what, { run, seq, i }, bytes, from, to) => {
    if (what === "record" && seq === 1 && i === 0 && !elsewhere.has(run)) return false;
    elsewhere.add(run);
    passed.write(bytes.subarray(from, to + 1));
    return true;
  };
  const fold = openFold(scanner, counts, { load: () => null, save, room: Number.POSITIVE_INFINITY, passOn });
  const after = readOn(path, place, { ...fold, isEnough: () => false }, end.offset);
  if (after?.offset !== end.offset) return null;
  fold.flush();
  return { ...counts, rows, packed: contentOf(packed), ends, days, passed: contentOf(passed) };
}

/** Bytes, one behind the other. */
function newHeap(): Bun.ArrayBufferSink {
  const heap = new Bun.ArrayBufferSink();
  heap.start({ asUint8Array: true, highWaterMark: FIRST_ROOM });
  return heap;
}

const contentOf = (heap: Bun.ArrayBufferSink) => heap.end() as Uint8Array<ArrayBuffer>;
