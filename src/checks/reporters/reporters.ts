/**
 * Names and results of single tests, from Pawl's own small reporters: written fresh for each command, loaded by
 * environment variables alone, at any depth below it. docs/decisions/0028-named-results.md
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { attempt } from "../../kernel/attempt.ts";
import type { NamedReport } from "../../kernel/types/verdict.ts";
import { dirname, join } from "../../store/names.ts";
import { foldReports } from "../core/named.ts";
import { bun, openPipe } from "./bun.ts";
import { cargo } from "./cargo.ts";
import { elixir } from "./elixir.ts";
import type { Family, ReportPlace } from "./family.ts";
import { files } from "./files.ts";
import { go } from "./go.ts";
import { js } from "./js.ts";
import { native } from "./native.ts";
import { perl } from "./perl.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { watchReports } from "./watch.ts";

const FAMILIES: Family[] = [js, bun, python, go, cargo, ruby, php, elixir, perl, native, files];

export interface Reports {
  /** to add to a cleaned environment */
  env: Record<string, string>;
  /** null: no runner was heard */
  read(): NamedReport | null;
  /** the output of a command that failed: our own files kept it from running */
  isBrokenBy(output: string): boolean;
  close(): void;
}

/** `env` is the command's cleaned environment. */
export function openReports(root: string, env: Record<string, string>): Reports {
  const folder = mkdtempSync(join(folderOutside(root), "pawl-report-"));
  const [hooks, reports] = [join(folder, "hooks"), join(folder, "reports")];
  mkdirSync(hooks, { mode: 0o700 });
  mkdirSync(reports, { mode: 0o700 });
  const pipe = openPipe(reports);
  const place = { root, hooks, reports, began: Date.now(), piped: pipe.text };
  for (const { hooks } of FAMILIES) writeHooks(place.hooks, hooks);
  chmodSync(place.hooks, 0o500);
  const watching = watchReports(reports, pipe);
  return {
    env: variables(place, env),
    read: () => foldReports([...watching.read(), ...fromFiles(place)], rootsOf(root)),
    isBrokenBy: (output) => output.includes(place.hooks) || FAMILIES.some(({ broken }) => broken?.test(output)),
    close() {
      watching.close();
      attempt(() => chmodSync(place.hooks, 0o700), undefined);
      attempt(() => rmSync(folder, { recursive: true, force: true }), undefined);
    },
  };
}

/** A temporary folder may be set to a place in the project, where runners would find our files. */
export function folderOutside(root: string): string {
  const folder = attempt(() => realpathSync(tmpdir()), "/tmp");
  return rootsOf(root).some((one) => `${folder}/`.startsWith(`${one}/`)) ? "/tmp" : folder;
}

const rootsOf = (root: string) => [...new Set([root, attempt(() => realpathSync(root), root)])];

function writeHooks(folder: string, hooks: Record<string, string>): void {
  for (const [name, text] of Object.entries(hooks)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: text.startsWith("#!") ? 0o500 : 0o400 });
  }
}

/** A reporter takes these away again, and gives back what was there before: what its tests start finds no trace of us. */
function variables(place: ReportPlace, env: Record<string, string>): Record<string, string> {
  const added: Record<string, string> = {};
  for (const family of FAMILIES) Object.assign(added, family.env(place, { ...env, ...added }));
  const names = Object.keys(added);
  const before = names.flatMap((name) => (env[name] === undefined ? [] : [[`PAWL_WAS_${name}`, env[name]]]));
  return {
    ...added,
    ...Object.fromEntries(before),
    PAWL_REPORT_DIR: place.reports,
    PAWL_REPORT_VARS: names.join(" "),
  };
}

/** A file that cannot be read reports nothing; the command's exit status still counts. */
const fromFiles = (place: ReportPlace) => FAMILIES.flatMap(({ read }) => attempt(() => read?.(place) ?? [], []));
