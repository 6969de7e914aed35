/** After the story: the same records as a report, or as a page. */

import { cleanEnv, type Place } from "../../demo/place.ts";
import type { Io } from "./args.ts";
import { readAnswer } from "./confirm.ts";

const QUESTION = "See what it left: r for the report, d for the dashboard, Enter to end. ";

/** Ctrl-C ends what is being looked at, and then the demo as before. */
export async function offer(place: Place, io: Io): Promise<void> {
  for (;;) {
    const answer = readAnswer(io, QUESTION).toLowerCase();
    if (answer === "r") await show(place, ["report", "--since", "1h"]);
    else if (answer === "d") await show(place, ["dashboard"]);
    else return;
  }
}

async function show(place: Place, args: string[]): Promise<void> {
  const shown = { DISPLAY: process.env.DISPLAY, WAYLAND_DISPLAY: process.env.WAYLAND_DISPLAY, TERM: process.env.TERM };
  const env = { ...cleanEnv(place), ...shown };
  const before = process.listeners("SIGINT");
  process.removeAllListeners("SIGINT");
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  const stdio = ["inherit", "inherit", "inherit"] as const;
  await Bun.spawn([process.execPath, ...args], { cwd: place.root, env, stdio: [...stdio] }).exited;
  process.removeListener("SIGINT", ignore);
  for (const listener of before) process.on("SIGINT", listener as () => void);
}
