/**
 * PHP: a file that every PHP process loads first asks phpunit, pest and paratest for their XML, or finds out where the
 * project has it written. The file is there, but empty, where a test exits.
 */
import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { join } from "../../store/names.ts";
import type { ProcessReport } from "../core/named.ts";
import { readJunit } from "../core/xml-report.ts";
import { type Family, type ReportPlace, readFresh, toReport } from "./family.ts";
import prepend from "./hooks/prepend.php" with { type: "text" };

export const php: Family = {
  hooks: { "prepend.php": prepend, "php/pawl.ini": `auto_prepend_file="\${PAWL_REPORT_PREPEND}"\n` },
  // An empty entry is the system's own folder.
  env: ({ hooks }, { PHP_INI_SCAN_DIR = "" }) => ({
    PHP_INI_SCAN_DIR: `${PHP_INI_SCAN_DIR}:${hooks}/php`,
    PAWL_REPORT_PREPEND: `${hooks}/prepend.php`,
  }),
  read: (place) =>
    readdirSync(place.reports)
      .filter((name) => name.endsWith(".place"))
      .flatMap((name) => attempt(() => readOne(place, join(place.reports, name)), [])),
};

function readOne(place: ReportPlace, path: string): ProcessReport[] {
  const { xml, cwd } = JSON.parse(readFileSync(path, "utf8"));
  const text = readFresh(place, xml);
  const report = text === null ? null : readJunit(text);
  return report === null ? [] : [toReport("phpunit", cwd, report)];
}
