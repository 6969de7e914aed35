import type { Fact, Facts, Gate, GitFact, Need, Run } from "./types.ts";

/** A check Pawl makes itself before a claim counts. `unproven` is never `pass`. */
export type Verdict = { verdict: "pass" | "fail" | "unproven"; why: string };

export function needsOf(gates: Gate[], facts: Facts): Need[] {
  return gates.length > 0 && facts.git === undefined ? [{ kind: "git" }] : [];
}

/** The first verdict that is no pass, or a pass. */
export function judge(gates: Gate[], run: Run, facts: Facts): Verdict {
  let last: Verdict = { verdict: "pass", why: "no gate" };
  for (const _gate of gates) {
    last = judgeCommit(run, facts.git ?? { ok: false, why: "git was not asked" });
    if (last.verdict !== "pass") return last;
  }
  return last;
}

function judgeCommit(run: Run, git: Fact<GitFact>): Verdict {
  if (!git.ok) return { verdict: "unproven", why: `Pawl could not look into git (${git.why})` };
  const { head, head_at, dirty, changed } = git.value;
  if (!dirty) return { verdict: "pass", why: "nothing is left to commit" };
  const isNew = head !== "" && head !== run.base?.head && head_at.slice(0, 19) >= run.entered_at.slice(0, 19);
  if (isNew) return { verdict: "pass", why: `commit ${head.slice(0, 12)} was made in this step` };
  return { verdict: "fail", why: `no commit was made in this step and the tree has changes: ${changed.join(", ")}` };
}
