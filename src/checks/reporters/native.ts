/** C and C++: googletest writes XML where a variable says so; ctest always keeps a log in its build folder. */
import { readdirSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { dirname, join } from "../../store/names.ts";
import type { ProcessReport } from "../core/named.ts";
import { readCtest } from "../core/text-report.ts";
import { readJunit } from "../core/xml-report.ts";
import { type Family, type ReportPlace, readFresh, toReport } from "./family.ts";
import { findFolders } from "./files.ts";

export const native: Family = {
  hooks: {},
  env: ({ reports }) => ({ GTEST_OUTPUT: `xml:${reports}/gtest/` }),
  read(place) {
    const logs = findFolders(place.root)
      .filter((folder) => folder.endsWith("/Testing"))
      .flatMap((folder) => readLog(place, join(folder, "Temporary")));
    // One process for each test, at the same time: their files overwrite each other, and ctest knows the names.
    const isSplit = logs.some(({ log }) => log.includes("--gtest_filter="));
    return [...logs.map(({ report }) => report), ...(isSplit ? [] : readGtest(place))];
  },
};

function readLog(place: ReportPlace, folder: string): { log: string; report: ProcessReport }[] {
  const log = readFresh(place, join(folder, "LastTest.log"));
  if (log === null) return [];
  const disabled = readFresh(place, join(folder, "LastTestsDisabled.log")) ?? "";
  return [{ log, report: toReport("ctest", dirname(dirname(folder)), readCtest(log, disabled)) }];
}

function readGtest(place: ReportPlace): ProcessReport[] {
  const folder = join(place.reports, "gtest");
  return attempt(() => readdirSync(folder), [])
    .sort()
    .flatMap((name) => {
      const report = readJunit(readFresh(place, join(folder, name)) ?? "");
      return report === null ? [] : [toReport("gtest", place.root, report)];
    });
}
