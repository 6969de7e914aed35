/**
 * How long an agent has worked. Measured on a clock that stands still while the machine sleeps (`Bun.nanoseconds` is
 * CLOCK_MONOTONIC on Linux), and looked at every second: where the clock runs on, or timers come late, a gap between
 * two looks is sleep and not work. A suspended laptop is no timeout.
 */

const LOOK_MS = 1_000;
/** No machine that is awake is so late. */
const ASLEEP_MS = 30_000;

export interface Patience {
  /** comes when the agent has worked that long */
  over: Promise<void>;
  spent_ms(): number;
  stop(): void;
}

/** `now`: nanoseconds. */
export function startPatience(ms: number, now: () => number = Bun.nanoseconds): Patience {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let last = now();
  let spent = 0;
  let timer: Timer | undefined;
  const count = () => {
    const at = now();
    const gap = (at - last) / 1e6;
    spent += gap > ASLEEP_MS ? LOOK_MS : gap;
    last = at;
    return spent;
  };
  const look = () => {
    const left = ms - count();
    if (left <= 0) resolve();
    else timer = setTimeout(look, Math.min(LOOK_MS, Math.ceil(left)));
  };
  look();
  return { over, spent_ms: count, stop: () => clearTimeout(timer) };
}
