import type { Place } from "../demo/place.ts";
import type { Screen } from "../demo/screen.ts";
import { UserError } from "../kernel/user-error.ts";
import { type Io, parseArgs } from "./shared/args.ts";
import { isInteractive } from "./shared/confirm.ts";

export const summary = "see what Pawl does, in thirty seconds, without an agent";
export const usage = `usage: pawl demo [--fast] [--keep]

An agent claims that all tests pass, in a throw-away git project: no account, no network. The agent is scripted,
everything else is real: hook processes, tests, the run on disk, git. Exit 0: everything went as told; 1: it did not.

--fast  without pauses (as always when the output is no terminal)
--keep  leave the throw-away project there and print its path`;

export async function run(args: string[], io: Io): Promise<number> {
  const { flags, words } = parseArgs(args, ["--fast", "--keep"]);
  if (words.length > 0) throw new UserError("demo takes no names", "usage: pawl demo [--fast] [--keep]");
  const { makePlace, removePlace } = await import("../demo/place.ts");
  const place = makePlace();
  // What its hooks seal is read with their home's key.
  process.env.HOME = place.home;
  const leave = () => {
    if (!flags.has("--keep")) removePlace(place);
  };
  // Also on Ctrl-C, and when the reader of a pipe has gone.
  process.on("exit", leave);
  for (const [name, number] of [["SIGINT", 2] as const, ["SIGTERM", 15] as const, ["SIGHUP", 1] as const])
    process.on(name, () => process.exit(128 + number));
  const screen = await openFor(io, flags.has("--fast"));
  return perform(place, screen, { keep: flags.has("--keep"), fast: flags.has("--fast") }, io);
}

interface Wishes {
  keep: boolean;
  fast: boolean;
}

async function openFor(io: Io, fast: boolean): Promise<Screen> {
  const { openScreen } = await import("../demo/screen.ts");
  return openScreen({
    write: io.out,
    color: io.isTTY && !process.env.NO_COLOR && process.env.TERM !== "dumb",
    paced: io.isTTY && !fast,
    columns: io.isTTY ? process.stdout.columns || 80 : 100,
  });
}

async function perform(place: Place, screen: Screen, { keep, fast }: Wishes, io: Io): Promise<number> {
  const { DemoFailed } = await import("../demo/place.ts");
  const { approve, fillPlace } = await import("../demo/project.ts");
  const { newPlay } = await import("../demo/play.ts");
  const { playAll } = await import("../demo/scenes.ts");
  const { showSummary } = await import("../demo/summary.ts");
  const play = newPlay(place, screen);
  try {
    await fillPlace(place);
    await introduce(screen, approve(place));
    await playAll(play);
    await showSummary(play);
  } catch (error) {
    if (!(error instanceof DemoFailed)) throw error;
    const look = keep ? `the project is in ${place.root}` : "`pawl demo --keep` leaves the project there to look at";
    io.err(`\npawl: the demo did not go as it should; ${error.message}\n  hint: ${look}\n`);
    return 1;
  }
  if (isInteractive(io) && !fast) await (await import("./shared/offer.ts")).offer(place, io);
  else await screen.plain("`pawl report` and `pawl dashboard` show the same of your own projects.");
  const where = keep ? `The project is kept in ${place.root}` : "The project is removed again (--keep keeps it)";
  await screen.plain(`${where}.`);
  await screen.plain("Next: `pawl init` in a project of yours; it shows what it will touch, and asks.");
  return 0;
}

async function introduce(screen: Screen, command: string): Promise<void> {
  await screen.plain("Your agent says done. Pawl checks.");
  await screen.plain(
    "A throw-away git project with 12 tests. You, the agent and its client are scripted; Pawl is real: each answer comes from a hook process that gets what Claude Code sends.",
  );
  await screen.plain(
    `Pawl runs no command of a repository before a person has approved it (\`pawl trust\`). Here the demo did so for you: ${command}.`,
  );
  if (process.env.PAWL === "0")
    await screen.plain("PAWL=0 is set in this shell, so Pawl is off for your agents here; the demo runs without it.");
}
