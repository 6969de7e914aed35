/** `git`: nothing is left to commit, or a commit was made in this stage. */

import { safeText } from "../../../kernel/text/safe-text.ts";
import type { Facts, Gate, GitFact } from "../../../kernel/types/run.ts";
import { type Background, type Finding, fail, kind, pass, unproven } from "./kind.ts";

export const git = kind({
  schema: ({ optional, word }) => ({
    check: optional(
      word("clean", "committed", "committed-or-clean"),
      "clean: nothing is left to commit. committed: a commit was made in this stage, and nothing is left. committed-or-clean: one of the two.",
    ),
  }),
  needs: "git",
  outsideRun: (gate) => (gate.git === "clean" ? null : "a run: it is about a stage's commit"),
  judge,
});

function judge(gate: Gate, { base, entered_at }: Background, facts: Facts): Finding {
  const read = facts.git ?? { ok: false, why: "git was not asked" };
  if (!read.ok) return unproven(`git could not be read (${read.why})`);
  const { head, head_at, changed } = read.value;
  const hidden = newlyHidden(read.value, base);
  const dirty = read.value.dirty || hidden.length > 0;
  const left = `the tree has changes: ${[...changed, ...hidden].map(safeText).join(", ")}`;
  if (gate.git === "clean") return dirty ? fail(left) : pass("nothing is left to commit");
  const isNew = head !== "" && head !== base?.head && head_at.slice(0, 19) >= entered_at.slice(0, 19);
  const commit = `commit ${head.slice(0, 12)} was made in this step`;
  if (gate.git === "committed") {
    if (!isNew) return fail("no commit was made in this step");
    return dirty ? fail(`${commit}, but ${left}`) : pass(commit);
  }
  if (!dirty) return pass("nothing is left to commit");
  return isNew ? pass(commit) : fail(`no commit was made in this step and ${left}`);
}

/** A file that git was told to ignore since the run began is not clean: its changes cannot be seen. */
function newlyHidden({ hidden = [] }: GitFact, base: GitFact | null): string[] {
  const before = base?.hidden ?? hidden;
  const fresh = hidden.filter((path) => !before.includes(path));
  return fresh.slice(0, 5).map((path) => `${path} (git was told not to look at it)`);
}
