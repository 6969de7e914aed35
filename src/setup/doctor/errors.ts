/** What went wrong on our side within the last week: the end of both error logs. */
import { readTail } from "../../store/files.ts";
import { statePath } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { clean, type Finding, type Ground, note, ok, shown } from "./finding.ts";

const TAIL = 64 * 1024;
const WEEK_MS = 7 * 24 * 3_600_000;
const MOST = 5;

export function checkErrors(ground: Ground): Finding[] {
  const logs = [join(ground.root, ".pawl/errors.log"), statePath("errors.log")];
  const found = logs.flatMap((path) => recentIn(path, ground));
  return found.length > 0 ? found : [ok("errors", "no errors within a week")];
}

function recentIn(path: string, ground: Ground): Finding[] {
  const lines = (readTail(path, TAIL)?.text ?? "").split("\n").filter((line) => isRecent(line, ground.now));
  if (lines.length === 0) return [];
  const many =
    lines.length > MOST
      ? `the last ${MOST} of ${lines.length} errors`
      : `${lines.length} error${lines.length > 1 ? "s" : ""}`;
  const what = `${many} within a week, in ${shown(path, ground)}`;
  return [
    {
      ...note("errors", what, "`pawl log` shows what happened around them"),
      lines: lines.slice(-MOST).map((line) => clean(line, 200)),
    },
  ];
}

function isRecent(line: string, now: number): boolean {
  const at = Date.parse(/^\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0] ?? "");
  return now - at < WEEK_MS;
}
