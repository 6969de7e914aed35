/** Perl: prove and Test::Harness keep each test file's output where a module of ours tells them to. */
import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { join } from "../../store/names.ts";
import type { ProcessReport } from "../core/named.ts";
import { readTap } from "../core/text-report.ts";
import { type Family, isPlain, type ReportPlace, toReport } from "./family.ts";
import module from "./hooks/PawlReport.pm" with { type: "text" };

export const perl: Family = {
  hooks: { "perl/PawlReport.pm": module },
  env: ({ hooks }, { PERL5OPT = "" }) =>
    isPlain(hooks) ? { PERL5OPT: `-I${hooks}/perl -MPawlReport ${PERL5OPT}`.trim() } : {},
  read: (place) =>
    readdirSync(place.reports, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.startsWith("prove-"))
      .map(({ name }) => readOne(place, join(place.reports, name))),
};

/** A harness that was killed leaves no `.end`, which holds its folder. */
function readOne({ root }: ReportPlace, folder: string): ProcessReport {
  const end = attempt(() => readFileSync(`${folder}.end`, "utf8").trim(), null);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const reports = files.map((file) => readTap(readFileSync(join(folder, file), "utf8"), file));
  return toReport("prove", end ?? root, {
    tests: reports.flatMap(({ tests }) => tests),
    whole: end !== null && reports.every(({ whole }) => whole),
  });
}
