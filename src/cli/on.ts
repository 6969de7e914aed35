import { switchTo } from "./off.ts";
import type { Io } from "./shared/args.ts";

export const summary = "turn Pawl on again";
export const usage = "usage: pawl on [shortcuts] [--session ID] [--host claude]";
export const run = (args: string[], io: Io) => switchTo(false, args, io);
