/** A project with Pawl installed in it, in perfect health; and a look at every byte of it. */
import { expect } from "bun:test";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../../package.json";
import type { Finding } from "../../../src/setup/doctor/finding.ts";
import {
  CLIENT,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  type RunOptions,
  runHook,
  shell,
} from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";

export const BINARY = ".local/share/pawl/bin/pawl";
export const SCRIPT = ".local/share/pawl/hook";
export const LOCAL = ".claude/settings.local.json";

export function bare(options: { git?: boolean } = {}): Place {
  const place = makePlace(options);
  mkdirSync(join(place.home, dirname(BINARY)), { recursive: true, mode: 0o755 });
  symlinkSync(PAWL, join(place.home, BINARY));
  write(place.home, `${BINARY}.version`, `${version} tests\n`);
  copyFileSync(join(import.meta.dir, "../../../bin/hook.sh"), join(place.home, SCRIPT));
  return place;
}

export function healthy(): Place {
  const place = bare();
  const { code, err } = runInProcess(place, ["init", "--with", "all", "--yes"]);
  if (code !== 0) throw new Error(`init failed: ${err}`);
  return place;
}

export function write(base: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(base, path)), { recursive: true, mode: 0o755 });
  writeFileSync(join(base, path), text);
}

type Hooks = Record<string, { hooks: Record<string, unknown>[] }[]>;

/** Changes the hooks in the project's settings. */
export function edit(place: Place, change: (hooks: Hooks) => void): void {
  const settings = JSON.parse(readFileSync(join(place.root, LOCAL), "utf8"));
  change(settings.hooks);
  write(place.root, LOCAL, `${JSON.stringify(settings, null, 2)}\n`);
}

export const user = (place: Place, text: string) => write(place.home, ".claude/settings.json", text);

export function plugin(place: Place, id: string, hooks: object | null, installed = "1.0.0"): void {
  const installPath = join(place.home, ".claude/plugins/cache", id.replace("@", "-"));
  user(place, JSON.stringify({ enabledPlugins: { [id]: true } }));
  const registry = { version: 2, plugins: { [id]: [{ installPath, version: installed }] } };
  write(place.home, ".claude/plugins/installed_plugins.json", JSON.stringify(registry));
  if (hooks) write(installPath, "hooks/hooks.json", JSON.stringify(hooks));
}

/** The id of a run that has just begun. */
export function arm(place: Place): string {
  const session = { ...openSession(place, "A"), turn: 1 };
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" }));
  return shell(place, "ls .pawl/runs").out.trim();
}

/** One thing wrong: what is done to a healthy place, what the doctor finds, and words of it. */
export type Case = [name: string, harm: (place: Place) => void, ids: string[], words: string];

export function expectFound([, harm, ids, words]: Case): void {
  const place = healthy();
  harm(place);
  const before = snapshot(place);
  const found = diagnose(place);
  expect(found.ids).toEqual(ids);
  expect(
    found.findings.map(({ what, remedy, lines = [] }) => [what, ...lines, remedy].join(" | ")).join("\n"),
  ).toContain(words);
  for (const { level, remedy } of found.findings) expect(remedy === "").toBe(level === "ok");
  expect(found.code).toBe(ids.some((id) => id.startsWith("trouble")) ? 1 : 0);
  expect(snapshot(place)).toEqual(before);
}

export interface Diagnosis {
  code: number | null;
  ok: boolean;
  findings: Finding[];
  /** everything that is not well */
  ids: string[];
}

export function diagnose(place: Place, options: RunOptions = {}): Diagnosis {
  const { code, out, err } = runInProcess(place, ["doctor", "--json"], {
    ...options,
    env: { ...CLIENT, ...options.env },
  });
  if (err !== "") throw new Error(`the doctor complained: ${err}`);
  const { ok, sections } = JSON.parse(out) as { ok: boolean; sections: { findings: Finding[] }[] };
  const findings = sections.flatMap((section) => section.findings);
  return { code, ok, findings, ids: findings.flatMap(({ id, level }) => (level === "ok" ? [] : [`${level} ${id}`])) };
}

/** Every name below the place with its kind, rights and content. */
export const snapshot = ({ base }: Place): Record<string, string> => Object.fromEntries(below(base));

/** Links are not followed: some lead in a circle. */
function below(folder: string): [string, string][] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const inner = lstatSync(path).isDirectory() ? below(path) : [];
    return [[path, describe(path)], ...inner];
  });
}

function describe(path: string): string {
  const found = lstatSync(path);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (!found.isFile()) return `${found.isDirectory() ? "folder" : "other"} ${mode}`;
  return `file ${mode} ${found.size > 1 << 20 ? found.size : readFileSync(path, "latin1")}`;
}
