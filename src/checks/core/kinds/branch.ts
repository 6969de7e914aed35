/** `branch`: the current branch matches one of these globs, and none that begins with "!". */

import { matchesGlob } from "../../../kernel/text/glob.ts";
import { safeText } from "../../../kernel/text/safe-text.ts";
import type { Facts, Gate } from "../../../kernel/types/run.ts";
import { type Background, type Finding, fail, kind, pass, unproven } from "./kind.ts";

export const branch = kind({
  schema: ({ gateLines, optional }) => ({
    check: optional(
      gateLines,
      'The branch matches one of these globs and none that begins with "!": ["feature/*"], ["!main"].',
    ),
  }),
  needs: "git",
  judge,
});

function judge({ branch: globs = [] }: Gate, _background: Background, facts: Facts): Finding {
  const read = facts.git ?? { ok: false, why: "git was not asked" };
  if (!read.ok) return unproven(`git could not be read (${read.why})`);
  const current = read.value.branch;
  if (current === "") return fail("there is no current branch");
  const refused = globs.some((glob) => glob.startsWith("!") && matchesGlob(current, glob.slice(1)));
  const wanted = globs.filter((glob) => !glob.startsWith("!"));
  const fits = !refused && (wanted.length === 0 || wanted.some((glob) => matchesGlob(current, glob)));
  return fits
    ? pass(`on branch ${safeText(current)}`)
    : fail(`the branch is ${safeText(current)}, wanted: ${globs.join(", ")}`);
}
