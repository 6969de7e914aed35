import { resolve } from "node:path";
import { readHistory } from "../guard/history/count.ts";
import { showHistory, sizeInWords } from "../guard/history/show.ts";
import { transcriptsFolder } from "../hosts/claude/folders.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { homeDir } from "../store/home.ts";
import { type Io, type Parsed, print, realPath } from "./shared/args.ts";
import { openProgress, sinceAsked } from "./shared/screen.ts";

export const usage = `usage: pawl history [--since 30d|DATE | --all] [--project PATH] [--json]

Read the transcripts that Claude Code keeps (~/.claude/projects, or CLAUDE_CONFIG_DIR), find every turn that changed
files and then said that the work is done, and count how many had a passing run of all tests after the last change.
No installation needed. Nothing leaves the machine, nothing is written.

  --since        30d, 12h, 4w, or a date such as 2026-01-31; 30d if left out
  --all          sessions of any age
  --project      only sessions that began in or below this folder
  --json         print JSON

Exit codes: 0 read, 1 some files could not be read (the rest is shown), 2 wrong usage, 130 interrupted.`;

export const options = ["--since=", "--project=", "--json", "--all"];
export const exclusive = [["--all", "--since"]];
export const maxWords = 0;

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const { flags, values } = parsed;
  const since = flags.has("--all") ? null : Date.parse(sinceAsked(values["--since"] ?? "30d").since);
  // As the client knows it, with links followed. A folder that is gone may still have sessions.
  const project = values["--project"] === undefined ? null : realPath(resolve(io.cwd, values["--project"]));
  const progress = openProgress();
  const interrupt = () => {
    progress.clear();
    io.err("Interrupted. Nothing was written.\n");
    process.exit(130);
  };
  process.on("SIGINT", interrupt);
  const showProgress = (done: number, all: number) =>
    progress.show(`reading ${sizeInWords(done)} of ${sizeInWords(all)}`);
  const reading = readHistory(transcriptsFolder(), { since, project }, { progress: showProgress });
  const history = await reading.finally(() => {
    process.off("SIGINT", interrupt);
    progress.clear();
  });
  const text = () => `${showHistory(history, homeDir()).map(visible).join("\n")}\n`;
  return print(io, parsed, history, text, history.unread.length === 0 ? 0 : 1);
}
