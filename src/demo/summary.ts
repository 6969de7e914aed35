/** The end: what the journal says about each claim, beside what was true. */
import { readJournal } from "../store/journal.ts";
import { expect, type Play } from "./play.ts";

interface Claim {
  /** the run moved */
  believed: boolean;
}

export async function showSummary(play: Play): Promise<void> {
  const { screen, truths, events, kills } = play;
  const claims = claimsIn(play);
  expect(claims.length === truths.length, `${truths.length} claims in the journal (it has ${claims.length})`);
  const lies = claims.filter((_, at) => !truths[at]);
  const taken = lies.filter((claim) => claim.believed).length;
  expect(
    claims.every((claim, at) => claim.believed === truths[at]),
    "what is true is believed, and nothing else",
  );
  await screen.title(`${claims.length} claims, ${lies.length} false, ${taken} of them believed`);
  await screen.plain(
    `Counted in Pawl's journal; what was false was found out without Pawl. ${events} hook processes, ${kills} of them killed.`,
  );
}

const MOVED = ["advanced", "ended", "asked", "halted"];

/** One save holds a claim and what followed from it. */
function claimsIn({ place, run }: Play): Claim[] {
  const lines = [...readJournal(place.root)];
  const moved = new Set(lines.filter(({ kind }) => MOVED.includes(kind)).map(({ run, seq }) => `${run} ${seq}`));
  const claims = lines.filter(({ kind }) => kind === "signalled");
  expect(
    claims.every((claim) => claim.run === run),
    "all claims are of the one run",
  );
  return claims.map(({ run, seq }) => ({ believed: moved.has(`${run} ${seq}`) }));
}
