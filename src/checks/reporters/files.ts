/** Runners that leave their results in the project: maven, gradle, tap. .NET is asked for its own kind, outside of it. */
import { readdirSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { basename, dirname, join } from "../../store/names.ts";
import type { ProcessReport } from "../core/named.ts";
import { LEFT_OUT } from "../core/test-class.ts";
import { readTap } from "../core/text-report.ts";
import { readJunit, readTrx } from "../core/xml-report.ts";
import { type Family, type ReportPlace, readFresh, toReport } from "./family.ts";

export const files: Family = {
  hooks: {},
  env: ({ reports }) => ({ VSTestLogger: "trx", VSTestResultsDirectory: `${reports}/dotnet` }),
  read: (place) => [...findFolders(place.root).flatMap((folder) => readModule(place, folder)), ...readDotnet(place)],
};

const XML = /\.xml$/;

/** One runner for each module that has results of now. */
function readModule(place: ReportPlace, folder: string): ProcessReport[] {
  const module = dirname(folder);
  switch (basename(folder)) {
    case "target":
      return [
        ...readXml(place, "maven", module, join(folder, "surefire-reports")),
        ...readXml(place, "maven", module, join(folder, "failsafe-reports")),
      ];
    case "build":
      return readXml(place, "gradle", module, join(folder, "test-results"));
    case ".tap":
      return readTapFiles(place, module, join(folder, "test-results"));
    default:
      return [];
  }
}

function readXml(place: ReportPlace, runner: string, module: string, folder: string): ProcessReport[] {
  const reports = freshFiles(place, folder, XML).flatMap(({ text }) => readJunit(text) ?? []);
  return reports.length === 0 ? [] : [toReport(runner, module, together(reports))];
}

function readDotnet(place: ReportPlace): ProcessReport[] {
  const found = freshFiles(place, join(place.reports, "dotnet"), /\.trx$/);
  return found.flatMap(({ text }) => {
    const report = readTrx(text);
    return report === null ? [] : [toReport("dotnet", place.root, report)];
  });
}

function readTapFiles(place: ReportPlace, module: string, folder: string): ProcessReport[] {
  const found = freshFiles(place, folder, /\.tap$/);
  const reports = found.map(({ path, text }) => readTap(text, path.slice(folder.length + 1, -".tap".length)));
  return reports.length === 0 ? [] : [toReport("tap", module, together(reports))];
}

type Part = Parameters<typeof toReport>[2];

const together = (parts: Part[]): Part => ({
  tests: parts.flatMap(({ tests }) => tests),
  whole: parts.every(({ whole }) => whole),
});

function freshFiles(place: ReportPlace, folder: string, name: RegExp): { path: string; text: string }[] {
  return attempt(() => readdirSync(folder, { recursive: true, withFileTypes: true }), [])
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .flatMap((path) => {
      const text = readFresh(place, path);
      return text === null ? [] : [{ path, text }];
    });
}

// ── Where to look ───────────────────────────────────────────────────────────

const DEEPEST = 5;
const MOST_FOLDERS = 2_000;
/** Where people build with cmake. */
const BUILD = /^(?:build|out|cmake-build-.*)$/;

/** Folders that may hold results, by their own name: not too deep, and none in what was installed. */
export function findFolders(root: string): string[] {
  const found: string[] = [];
  let level = [root];
  for (let depth = 0; depth < DEEPEST && found.length < MOST_FOLDERS; depth++) {
    const inside = level.flatMap(foldersIn);
    found.push(...inside);
    level = inside.filter((path) => BUILD.test(basename(path)) || !/^\./.test(basename(path).replace(LEFT_OUT, ".")));
  }
  return found;
}

const foldersIn = (folder: string) =>
  attempt(() => readdirSync(folder, { withFileTypes: true }), [])
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name));
