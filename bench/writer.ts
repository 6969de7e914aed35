/** One of the writers of contention.ts: `bun writer.ts moves|journal <root> <run> <writer> <count>`. */
import type { Commit } from "../src/kernel/types/run.ts";
import { appendJournal } from "../src/store/journal.ts";
import { commitRun, loadRun } from "../src/store/runs.ts";

const [what, root = "", id = "", writer = "", count = "0"] = process.argv.slice(2);

function newest(): Commit {
  const loaded = loadRun(root, id);
  if (!loaded) throw new Error(`no run ${id}`);
  return loaded.commit;
}

const marked = (commit: Commit, seq: number, move: number): Commit => ({
  ...commit,
  run: { ...commit.run, seq },
  records: [{ kind: "benched", writer, move }],
  effects: [],
});

/** Returns how often someone else was first. */
function move(n: number): number {
  for (let lost = 0; ; lost++) {
    const commit = newest();
    if (commitRun(root, marked(commit, commit.run.seq + 1, n)) === "committed") return lost;
  }
}

let lost = 0;
if (what === "moves") for (let n = 0; n < Number(count); n++) lost += move(n);
else {
  const commit = newest();
  // after the run's own, since a line is known by its run and number
  const first = commit.run.seq + Number(writer) * Number(count) + 1;
  for (let n = 0; n < Number(count); n++) appendJournal(root, marked(commit, first + n, n));
}
console.log(lost);
