/**
 * A second thread for long journals. While this one folds a part of a file, it folds the part behind it: the runs that begin
 * there. What it finds of other runs it passes on, unfolded, and it writes nothing. So it needs to know nothing but the file,
 * and whatever is wrong with it, its part is folded here.
 */
import type { MessageChannel } from "node:worker_threads";
import { join } from "../store/names.ts";
import type { DaySums } from "./days.ts";
import type { Counts } from "./fold-lines.ts";
import type { Place } from "./read.ts";
import type { Row } from "./shelf.ts";

const MB = 1024 * 1024;

/** How two threads share a file. */
export interface Team {
  /** bytes that this thread folds at a time; less than the other's, since it also writes */
  own: number;
  mates: number;
  /** A thread has to be started and to become quick: not worth it for less. */
  long: number;
  /** longer than any answer takes on a machine that is not lost */
  patience_ms: number;
  /** what the other thread runs */
  entry: string;
}

/** Parts take some hundredths of a second: more than two threads need to meet. */
const usualTeam = (): Team => ({
  own: 8 * MB,
  mates: 9 * MB,
  long: 400 * MB,
  patience_ms: 20_000,
  entry: Bun.main.includes("$bunfs") ? Bun.main : join(import.meta.dir, "../main.ts"),
});

/** null: there is nobody to share with. */
export const findTeam = (): Team | null => (navigator.hardwareConcurrency > 1 ? usualTeam() : null);

/** What to fold: from a line's end to another's. */
export interface Range {
  project: number;
  path: string;
  place: Place;
  end: Place;
  /** where the part before it begins, which is folded here */
  from: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

export interface Part extends Counts {
  rows: Row[];
  /** their states, one behind the other; where each ends */
  packed: Bytes;
  ends: number[];
  days: DaySums;
  /** lines of runs that began elsewhere */
  passed: Bytes;
}

export interface Mate {
  /** not yet answered */
  asked: readonly Range[];
  ask: (range: Range) => void;
  /** To the first one. null: it cannot, or does not answer. */
  answer: () => Part | null;
  /** Whatever it was asked. */
  forget: () => void;
  stop: () => void;
}

/** What the thread is started with. */
export interface Given {
  port: MessageChannel["port2"];
  /** how many answers there have been */
  answers: Int32Array;
}

/** Loaded only when there is a long journal. */
const threads = () => require("node:worker_threads") as typeof import("node:worker_threads");

export function startMate({ entry, patience_ms }: Team): Mate {
  const { MessageChannel, receiveMessageOnPort, Worker } = threads();
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const { port1: port, port2 } = new MessageChannel();
  const given: Given = { port: port2, answers };
  const worker = new Worker(entry, { argv: ["fold"], workerData: given, transferList: [port2] });
  // Who waits for its answer notices anyway.
  worker.on("error", () => {});
  worker.unref();
  const asked: Range[] = [];
  let taken = 0;
  const answer = (): Part | null => {
    const until = performance.now() + patience_ms;
    asked.shift();
    taken++;
    for (let seen = Atomics.load(answers, 0); seen < taken; seen = Atomics.load(answers, 0))
      if (Atomics.wait(answers, 0, seen, until - performance.now()) === "timed-out") return null;
    return (receiveMessageOnPort(port)?.message as Part | null | undefined) ?? null;
  };
  return {
    asked,
    answer,
    ask(range) {
      port.postMessage(range);
      asked.push(range);
    },
    forget() {
      while (asked.length > 0) answer();
    },
    stop() {
      port.close();
      void worker.terminate();
    },
  };
}
