/** Paths as text. node:path does more and costs every hook a millisecond to load. Names are checked elsewhere. */

export function join(...parts: string[]): string {
  const path = parts.join("/");
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}

export const LOWER = "abcdefghijklmnopqrstuvwxyz";
export const DIGITS = "0123456789";
export const HEX = `${DIGITS}abcdef`;
const IN_RUN_ID = `${LOWER}${DIGITS}-`;
const IN_NAME = `${LOWER}${LOWER.toUpperCase()}${DIGITS}._-`;

/** The first match of each regular expression costs a hook more than all the letters of its names. */
export function isMadeOf(text: string, letters: string): boolean {
  for (let i = 0; i < text.length; i++) if (!letters.includes(text.charAt(i))) return false;
  return text !== "";
}

export const isRunId = (id: string) => id.length <= 64 && id[0] !== "-" && isMadeOf(id, IN_RUN_ID);

/** Of a host, of a session: what can be part of a file's name. */
export const isPlainName = (name: string) => name.length <= 128 && name[0] !== "." && isMadeOf(name, IN_NAME);

export function dirname(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

export const basename = (path: string) => path.slice(path.lastIndexOf("/") + 1);
