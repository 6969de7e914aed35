import type { DemoPlace } from "../demo/project.ts";
import type { Io, Parsed } from "./shared/args.ts";
import { isInteractive, readAnswer } from "./shared/confirm.ts";

export const usage = `usage: pawl demo [--fast] [--keep]

An agent claims that all tests pass, in a throw-away git project: no account, no network. The agent is scripted,
everything else is real: hook processes, tests, the run on disk, git. Exit 0: everything went as the script says;
1: it did not.

--fast  no pauses (the default when the output is not a terminal)
--keep  keep the throw-away project and print its path`;

export const options = ["--fast", "--keep"];
export const maxWords = 0;

export async function run({ flags }: Parsed, io: Io): Promise<number> {
  const { approve, DemoFailed, fillPlace, makePlace, removePlace } = await import("../demo/project.ts");
  const { openScreen } = await import("../demo/screen.ts");
  const { tellStory } = await import("../demo/story.ts");
  const [fast, keep] = [flags.has("--fast"), flags.has("--keep")];
  const place = makePlace();
  // What its hooks seal is read with their home's key.
  process.env.HOME = place.home;
  // Also on Ctrl-C, and when the reader of a pipe has gone.
  process.on("exit", () => keep || removePlace(place));
  for (const [name, number] of [["SIGINT", 2] as const, ["SIGTERM", 15] as const, ["SIGHUP", 1] as const])
    process.on(name, () => process.exit(128 + number));
  const screen = openScreen({
    write: io.out,
    color: io.isTTY && !process.env.NO_COLOR && process.env.TERM !== "dumb",
    paced: io.isTTY && !fast,
    columns: io.isTTY ? process.stdout.columns || 80 : 100,
  });
  try {
    await fillPlace(place);
    for (const line of introduction(approve(place))) await screen.plain(line);
    await tellStory(place, screen);
  } catch (error) {
    if (!(error instanceof DemoFailed)) throw error;
    const look = keep ? `the project is in ${place.root}` : "`pawl demo --keep` keeps the project for you to look at";
    io.err(`\npawl: the demo did not go as it should; ${error.message}\n  hint: ${look}\n`);
    return 1;
  }
  if (isInteractive(io) && !fast) await offer(place, io);
  else await screen.plain("`pawl report` and `pawl dashboard` show the same for your own projects.");
  const where = keep ? `The project is kept in ${place.root}` : "The project is removed again (--keep keeps it)";
  await screen.plain(`${where}.`);
  await screen.plain("Next: run `pawl init` in one of your projects; it shows every change first, and asks.");
  return 0;
}

const introduction = (command: string) => [
  "Your agent says done. Pawl checks.",
  "A throw-away git project with 12 tests. You, the agent and its client are scripted; Pawl is real: each answer comes from a hook process that gets what Claude Code sends.",
  `Pawl runs no command of a repository before a person has approved it (\`pawl trust\`). Here the demo did so for you: ${command}.`,
  ...(process.env.PAWL === "0"
    ? ["PAWL=0 is set in this shell, so Pawl is off for your agents here; the demo runs without it."]
    : []),
];

// ── After the story: the same records as a report, or as a page ─────────────

/** Ctrl-C ends what is shown, and then the demo as before. */
async function offer(place: DemoPlace, io: Io): Promise<void> {
  const question = "See what it left: r for the report, d for the dashboard, Enter to end. ";
  for (;;) {
    const answer = readAnswer(io, question).toLowerCase();
    if (answer === "r") await show(place, ["report", "--since", "1h"]);
    else if (answer === "d") await show(place, ["dashboard"]);
    else return;
  }
}

async function show(place: DemoPlace, args: string[]): Promise<void> {
  const { cleanEnv } = await import("../demo/project.ts");
  const shown = { DISPLAY: process.env.DISPLAY, WAYLAND_DISPLAY: process.env.WAYLAND_DISPLAY, TERM: process.env.TERM };
  const before = process.listeners("SIGINT");
  process.removeAllListeners("SIGINT");
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  const env = { ...cleanEnv(place), ...shown };
  await Bun.spawn([process.execPath, ...args], { cwd: place.root, env, stdio: ["inherit", "inherit", "inherit"] })
    .exited;
  process.removeListener("SIGINT", ignore);
  for (const listener of before) process.on("SIGINT", listener as () => void);
}
