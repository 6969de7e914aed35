/** The scenes in their order. */
import { openSession } from "./host.ts";
import type { Play } from "./play.ts";
import { arming, criticalReview, quotedTag, realClaim, secondSession } from "./scenes.ts";
import { commitRefused, crashAndCompaction, resumedElsewhere } from "./scenes-2.ts";

export async function playAll(play: Play): Promise<void> {
  const session = openSession(play.place);
  await arming(play, session);
  await quotedTag(play, session);
  await realClaim(play, session);
  await criticalReview(play, session);
  await secondSession(play);
  await crashAndCompaction(play, session);
  await commitRefused(play, session);
  await resumedElsewhere(play);
}
