/**
 * Another time for processes of ours. Bun loads a file of the test before the program, and that file puts another Date
 * in place: the product has no switch for it. Times of files stay the kernel's.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Clock {
  /** how far it is off, in milliseconds */
  off: number;
  now: () => number;
  step: (ms: number) => void;
  /** for the processes that shall go by it */
  env: Record<string, string>;
}

const program = (off: number) => `const Real = Date;
const now = () => Real.now() + ${off};
globalThis.Date = new Proxy(Real, {
  construct: (_, args) => (args.length === 0 ? new Real(now()) : new Real(...args)),
  get: (_, key) => (key === "now" ? now : Real[key]),
});
`;

export function makeClock(folder: string): Clock {
  const path = join(folder, "clock.js");
  const clock: Clock = { off: 0, now: () => Date.now() + clock.off, step, env: { BUN_OPTIONS: `--preload ${path}` } };
  function step(ms: number): void {
    clock.off += ms;
    writeFileSync(path, program(clock.off));
  }
  step(0);
  return clock;
}
