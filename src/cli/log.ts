import { readdirSync, statSync } from "node:fs";
import { attempt } from "../kernel/attempt.ts";
import { readJournal } from "../store/journal.ts";
import { type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { inWords } from "./shared/words.ts";

export const usage = `usage: pawl log [--follow] [--json] [--run ID] [--kind KIND]

Print the project's journal, oldest first. --follow waits for more (Ctrl-C stops it). --json prints one object per line.`;

export const options = ["--follow", "--json", "--run=", "--kind="];

export async function run({ flags, values }: Parsed, io: Io): Promise<number> {
  const root = projectRoot(io);
  const seen = new Set<string>();
  const print = () => {
    for (const line of readJournal(root)) {
      const key = `${line.run}/${line.seq}/${line.i}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (values["--run"] && !String(line.run).startsWith(values["--run"])) continue;
      if (values["--kind"] && line.kind !== values["--kind"]) continue;
      io.out(flags.has("--json") ? `${JSON.stringify(line)}\n` : `${plain(line)}\n`);
    }
  };
  print();
  if (!flags.has("--follow")) {
    if (seen.size === 0 && !flags.has("--json")) io.err("The journal is empty: no workflow has started here yet.\n");
    return 0;
  }
  for (let size = journalSize(root); ; ) {
    await Bun.sleep(200);
    const now = journalSize(root);
    if (now !== size) print();
    size = now;
  }
}

function plain(line: { at: string; run: string; stage?: unknown; [key: string]: unknown }): string {
  const stage = typeof line.stage === "string" ? line.stage : "";
  return `${line.at.slice(0, 19)}Z  ${line.run.padEnd(13)} ${stage.padEnd(9)} ${inWords(line as Parameters<typeof inWords>[0])}`;
}

function journalSize(root: string): number {
  const dir = `${root}/.pawl/journal`;
  return attempt(() => readdirSync(dir).reduce((sum, name) => sum + statSync(`${dir}/${name}`).size, 0), 0);
}
