import { existsSync } from "node:fs";
import { join } from "node:path";
import { reportMarkdown, reportText, type ShownParts } from "../insight/core/report-text.ts";
import { gatherReport } from "../insight/report.ts";
import { knownProjects } from "../store/projects.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { clockTime, projectNames, projectPath, screenColumns, sinceAsked } from "./shared/screen.ts";

export const usage = `usage: pawl report [--since TIME] [--all] [--full] [--markdown | --json] [--exit-code]

Show one screen for the morning after, from Pawl's own records: what needs you and the command that resolves it; what is
done and what proved it; what failed or stalled, and why; what is still running; what was not checked (claims without a
check, approvals instead of a pass, gates that are off, trees on which no command ran); what it cost. What an agent says is
marked as a claim.

  --since TIME   start time: 20:00, 2h, 30m, 3d, yesterday, "yesterday 18:00", monday, 2026-01-31, 2026-01-31T20:00.
                 Default: yesterday 18:00. Open items are always included, up to a week old
  --all          every project that Pawl knows, not only this one
  --full         all entries and all proofs, even if they do not fit on one screen
  --markdown     everything, ready to paste; quoted text is formatted as code
  --json         print JSON: {at, since, projects, needs, done, failed, running, unchecked, cost, unread}
  --exit-code    exit 1 if something needs you, failed, stalled or could not be read

Exit codes: 0 shown; with --exit-code 1 as above; 2 wrong usage.`;

const DEFAULT_SINCE = "yesterday 18:00";
const ROWS = 44;

export const options = ["--since=", "--all", "--full", "--markdown", "--json", "--exit-code"];
export const exclusive = [["--markdown", "--json"]];
export const maxWords = 0;

export function run(parsed: Parsed, io: Io): number {
  const { flags, values } = parsed;
  const asked = values["--since"] ?? DEFAULT_SINCE;
  const { since, at } = sinceAsked(asked);
  const here = projectRoot(io);
  const roots = flags.has("--all") ? allProjects(here) : [here];
  const view = gatherReport(roots, since, at);
  const shown: ShownParts = {
    ...{ asked, name: projectNames(roots), path: projectPath, time: (time) => clockTime(time, at) },
    ...{ columns: screenColumns(io), rows: screenRows(io), full: flags.has("--full") },
  };
  const isBad = view.needs.length + view.failed.length + view.unread.length > 0;
  const text = () => (flags.has("--markdown") ? reportMarkdown(view, shown) : reportText(view, shown));
  return print(io, parsed, view, text, flags.has("--exit-code") && isBad ? 1 : 0);
}

/** This folder too, if it is a project. */
function allProjects(here: string): string[] {
  const known = knownProjects();
  return known.includes(here) || (known.length > 0 && !existsSync(join(here, ".pawl"))) ? known : [here, ...known];
}

/** Every section gets its place, even in a low terminal. */
const screenRows = ({ isTTY }: Io) => (isTTY ? Math.max(24, process.stdout.rows ?? ROWS) : ROWS);
