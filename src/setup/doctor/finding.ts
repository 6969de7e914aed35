/** What the doctor says: one line each, and what to do about it. */
import { accessSync, constants } from "node:fs";
import { clientVersion } from "../../hosts/claude/wire.ts";
import { attempt } from "../../kernel/attempt.ts";

export type Level = "ok" | "note" | "trouble";

export interface Finding {
  id: string;
  level: Level;
  what: string;
  /** what to do; "" where nothing is to be done */
  remedy: string;
  /** more to read, below it */
  lines?: string[];
}

export interface Section {
  title: string;
  findings: Finding[];
}

/** Where to look. Given, so that every check can be tried on any ground. */
export interface DoctorContext {
  root: string;
  home: string;
  /** the host's own folder, usually ~/.claude */
  claude: string;
  /** the folder of settings that an administrator gives */
  managed: string;
  env: Record<string, string | undefined>;
  now: number;
}

/** The version of the client that calls us, else of the one on the PATH; null: unknown. */
export function findClient({ env }: DoctorContext): string | null {
  const claude = clientVersion(env) === null ? Bun.which("claude", { PATH: env.PATH ?? "" }) : null;
  if (claude === null) return clientVersion(env);
  const how = { cwd: "/", env, stdin: "ignore", stderr: "ignore", timeout: 10_000 } as const;
  const said = attempt(() => Bun.spawnSync([claude, "--version"], how).stdout.toString(), "");
  return /^\d+\.\d+\.\d+/.exec(said)?.[0] ?? null;
}

/** A check returns a list of findings, so each of these makes a list of one. */
const teller =
  (level: Level) =>
  (id: string, what: string, remedy: string, lines?: string[]): Finding[] => [
    { id, level, what, remedy, ...(lines && { lines }) },
  ];
export const note = teller("note");
export const trouble = teller("trouble");
export const ok = (id: string, what: string) => teller("ok")(id, what, "");

export const MOST_SHOWN = 5;

export const mayRun = (path: string) =>
  attempt(() => {
    accessSync(path, constants.X_OK);
    return true;
  }, false);

/** Text of others on our screen: one line, no control characters, not too long. */
export function clean(text: string, most = 100): string {
  const line = text
    .slice(0, most * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line.toWellFormed();
}

/** ~/x, or relative to the project. */
export function shortPath(path: string, { root, home }: Pick<DoctorContext, "root" | "home">): string {
  if (path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

export const formatAge = (ms: number): string => {
  const hours = ms / 3_600_000;
  if (hours < 1) return `${Math.max(1, Math.round(ms / 60_000))} min`;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
};
