import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { readHistory } from "../guard/history/count.ts";
import { transcriptsFolder } from "../guard/history/find.ts";
import { showHistory, sizeInWords } from "../guard/history/show.ts";
import { UserError } from "../kernel/user-error.ts";
import { homeDir } from "../store/home.ts";
import { makeProgress } from "../verify/progress.ts";
import { type Io, parseArgs } from "./shared/args.ts";
import { visible, visibleJson } from "./shared/visible.ts";

export const summary = 'how often the agent\'s "done" was true, from the transcripts on this machine';
export const usage = `usage: pawl history [--since 30d|DATE | --all] [--project PATH] [--json]

Read the transcripts that Claude Code keeps (~/.claude/projects, or CLAUDE_CONFIG_DIR), find every turn that changed
files and then said that the work is done, and count how many had a passing run of all tests after the last change.
No installation needed. Nothing leaves the machine, nothing is written.

  --since        30d, 12h, 4w, or a date such as 2026-01-31; 30d if left out
  --all          sessions of any age
  --project      only sessions that began in or below this folder
  --json         print JSON

Exit codes: 0 read, 1 some files could not be read (the rest is shown), 2 wrong usage, 130 interrupted.`;

const DEFAULT_SINCE = "30d";
const UNITS: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

class Interrupted extends Error {}

export async function run(args: string[], io: Io): Promise<number> {
  const { words, flags, values } = parseArgs(args, ["--since=", "--project=", "--json", "--all"]);
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "see `pawl history --help`");
  if (flags.has("--all") && values["--since"] !== undefined)
    throw new UserError("--all and --since cannot be used together", "use one of them");
  const since = flags.has("--all") ? null : sinceOf(values["--since"] ?? DEFAULT_SINCE);
  const project = values["--project"] === undefined ? null : folderOf(io.cwd, values["--project"]);
  const progress = makeProgress(screen(), Number.POSITIVE_INFINITY);
  let interrupted = false;
  const onInterrupt = () => {
    interrupted = true;
  };
  process.on("SIGINT", onInterrupt);
  try {
    const history = await readHistory(
      transcriptsFolder(),
      { since, project },
      {
        progress(done, all) {
          if (interrupted) throw new Interrupted();
          progress.show(`reading ${sizeInWords(done)} of ${sizeInWords(all)}`);
        },
      },
    );
    progress.clear();
    const lines = flags.has("--json") ? [visibleJson(history)] : showHistory(history, homeDir()).map(visible);
    io.out(`${lines.join("\n")}\n`);
    return history.unread.length === 0 ? 0 : 1;
  } catch (error) {
    progress.clear();
    if (!(error instanceof Interrupted)) throw error;
    io.err("Interrupted. Nothing was written.\n");
    return 130;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

const screen = () => ({
  write: (text: string) => void process.stderr.write(text),
  columns: process.stderr.isTTY ? process.stderr.columns || 80 : 0,
});

function sinceOf(text: string): number {
  const span = /^(\d{1,5})([hdw])$/.exec(text);
  if (span) return Date.now() - Number(span[1]) * UNITS[span[2]!]!;
  const date = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(date))
    throw new UserError(`--since ${text} is not a time`, "write 30d, 12h, 4w, or a date: 2026-01-31");
  return date;
}

/** As the client knows it: links followed. A folder that is gone may still have sessions. */
function folderOf(cwd: string, given: string): string {
  const path = resolve(cwd, given);
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
