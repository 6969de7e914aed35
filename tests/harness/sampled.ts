/**
 * Which faults of a sweep are tried: every n-th in `npm test`, all of them with PAWL_SWEEP=all, as .ci/run sets it.
 * PAWL_SWEEP=<number> begins with another one. The choice is part of a test's title, so a failure names it.
 */
const { PAWL_SWEEP = "0" } = process.env;
const ALL = PAWL_SWEEP === "all";

export const SAMPLE = ALL ? "all faults" : `sampled, PAWL_SWEEP=${PAWL_SWEEP}`;

/** From 1 to `count`, as faults are numbered. `shift` lets two sweeps of the same calls try different ones. */
export function sampled(count: number, every: number, shift = 0): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return ALL ? all : all.filter((at) => (at + Number(PAWL_SWEEP) + shift) % every === 0);
}
