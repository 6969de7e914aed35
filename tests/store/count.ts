/** A writer: moves the run on `wanted` times by compare-and-swap, and says so only after each commit. */
import { appendJournal } from "../../src/store/journal.ts";
import { commitRun, loadRun } from "../../src/store/runs.ts";
import { ID, sampleCommit } from "./samples.ts";

const [root, name, wanted] = process.argv.slice(2) as [string, string, string];

for (let n = 0; n < Number(wanted); ) {
  const loaded = loadRun(root, ID);
  if (loaded === null) throw new Error("the run is gone");
  const { run } = loaded.commit;
  const next = sampleCommit(run.seq + 1, { run: { ledger: { ...run.ledger, idle: run.ledger.idle + 1 } } });
  next.records = [{ kind: "counted", name, n }];
  if (commitRun(root, next) === "lost") continue;
  appendJournal(root, next);
  process.stdout.write(`${n++}\n`);
}
