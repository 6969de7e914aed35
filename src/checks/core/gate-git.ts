/** What git says, against what a gate wants of it. */

import { matchesGlob } from "../../kernel/text/glob.ts";
import { plain } from "../../kernel/text/safe-text.ts";
import type { Facts, GitFact } from "../../kernel/types/run.ts";
import type { Gate } from "../../kernel/types/workflow.ts";
import type { Background, Judged } from "./gate.ts";

export type Finding = Partial<Judged> & Pick<Judged, "verdict" | "why">;
export const pass = (why: string): Finding => ({ verdict: "pass", why });
export const fail = (why: string): Finding => ({ verdict: "fail", why });
export const unproven = (why: string): Finding => ({ verdict: "unproven", why });

export function judgeGit(wanted: NonNullable<Gate["git"]>, background: Background, facts: Facts): Finding {
  const git = facts.git ?? { ok: false, why: "git was not asked" };
  if (!git.ok) return unproven(`Pawl could not look into git (${git.why})`);
  const { head, head_at } = git.value;
  const veiled = newlyHidden(git.value, background.base);
  const dirty = git.value.dirty || veiled.length > 0;
  const left = `the tree has changes: ${[...git.value.changed, ...veiled].map(plain).join(", ")}`;
  if (wanted === "clean") return dirty ? fail(left) : pass("nothing is left to commit");
  const { base, entered_at } = background;
  const isNew = head !== "" && head !== base?.head && head_at.slice(0, 19) >= entered_at.slice(0, 19);
  const commit = `commit ${head.slice(0, 12)} was made in this step`;
  if (wanted === "committed") {
    if (!isNew) return fail("no commit was made in this step");
    return dirty ? fail(`${commit}, but ${left}`) : pass(commit);
  }
  if (!dirty) return pass("nothing is left to commit");
  return isNew ? pass(commit) : fail(`no commit was made in this step and ${left}`);
}

/** What git was told to look away from since the run began is not clean: nobody can see it. */
function newlyHidden({ hidden = [] }: GitFact, base: GitFact | null): string[] {
  const before = base?.hidden ?? hidden;
  const fresh = hidden.filter((path) => !before.includes(path));
  return fresh.slice(0, 5).map((path) => `${path} (git was told not to look at it)`);
}

export function judgeBranch(globs: string[], facts: Facts): Finding {
  const git = facts.git ?? { ok: false, why: "git was not asked" };
  if (!git.ok) return unproven(`Pawl could not look into git (${git.why})`);
  const { branch } = git.value;
  if (branch === "") return fail("there is no current branch");
  const refused = globs.find((glob) => glob.startsWith("!") && matchesGlob(branch, glob.slice(1)));
  const wanted = globs.filter((glob) => !glob.startsWith("!"));
  const fits = refused === undefined && (wanted.length === 0 || wanted.some((glob) => matchesGlob(branch, glob)));
  return fits
    ? pass(`on branch ${plain(branch)}`)
    : fail(`the branch is ${plain(branch)}, wanted: ${globs.join(", ")}`);
}
