import type { Io } from "./args.ts";
export const summary = "see what Pawl does";
export const usage = "usage: pawl demo [--fast]";
export function run(_args: string[], io: Io): number {
  io.out("coming\n");
  return 0;
}
