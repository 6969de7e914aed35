/** The end: what was counted, and what is left on disk. */
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { findRunDir, readCommits } from "../store/archive.ts";
import { hasJournal, readJournal } from "../store/journal.ts";
import { git } from "./place.ts";
import { expect, type Play } from "./play.ts";

export async function showSummary(play: Play): Promise<void> {
  const { screen, place, tally } = play;
  const said = tally.believed + tally.refused.length;
  const dirt = await git(place, "status", "--porcelain");
  expect(dirt === "", `a clean tree in the end, Pawl's own files included (git shows ${dirt})`);
  await screen.title("That was it");
  await screen.plain(`${said} tags said by the agents: ${tally.believed} believed, ${tally.refused.length} not.`);
  await screen.plain(`Not believed: ${tally.refused.join(", ")}.`);
  await screen.plain(`${tally.events} hook processes, ${tally.kills} of them killed with -9, nothing lost.`);
  await screen.plain(`On disk: ${describeDisk(play)}.`);
  await screen.plain(`In git: ${await git(place, "rev-list", "--count", "HEAD")} commits, and a clean tree.`);
}

function describeDisk({ place, run }: Play): string {
  const dir = findRunDir(place.root, run);
  expect(dir !== null && existsSync(dir), "the finished run is kept");
  const commits = readCommits(place.root, run);
  const whole = commits.every((commit, i) => commit.run.seq === i + 1 && hasJournal(place.root, commit));
  expect(whole, "every save is there and has its line in the journal");
  const lines = [...readJournal(place.root)].length;
  return `${relative(place.root, dir!)} with ${commits.length} saves, ${lines} journal lines`;
}
