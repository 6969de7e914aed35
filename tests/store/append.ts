/** A writer of the journal alone. */
import { appendJournal } from "../../src/store/journal.ts";
import { sampleCommit } from "./samples.ts";

const [root, name, wanted] = process.argv.slice(2) as [string, string, string];
for (let seq = 1; seq <= Number(wanted); seq++) {
  const commit = sampleCommit(seq, { run: { id: name } });
  commit.records = [{ kind: "counted", text: "日本語 \n".repeat(seq % 50) }];
  appendJournal(root, commit);
}
