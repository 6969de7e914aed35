/** What the doctor says: one line each, and what to do about it. */

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
export interface Ground {
  root: string;
  home: string;
  /** the host's own folder, usually ~/.claude */
  claude: string;
  /** the folder of settings that an administrator gives */
  managed: string;
  env: Record<string, string | undefined>;
  now: number;
}

export const ok = (id: string, what: string): Finding => ({ id, level: "ok", what, remedy: "" });
export const note = (id: string, what: string, remedy: string): Finding => ({ id, level: "note", what, remedy });
export const trouble = (id: string, what: string, remedy: string): Finding => ({ id, level: "trouble", what, remedy });

/** Text of others on our screen: one line, no control characters, not too long. */
export function clean(text: string, most = 100): string {
  const line = text
    .slice(0, most * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line.toWellFormed();
}

/** ~/x, or relative to the project. */
export function shown(path: string, { root, home }: Pick<Ground, "root" | "home">): string {
  if (path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

export const ageOf = (ms: number): string => {
  const hours = ms / 3_600_000;
  if (hours < 1) return `${Math.max(1, Math.round(ms / 60_000))} min`;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
};
