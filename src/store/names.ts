/** Paths as text. node:path does more and costs every hook a millisecond to load. Names are checked elsewhere. */

export function join(...parts: string[]): string {
  const path = parts.join("/");
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}

export function dirname(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

export const basename = (path: string) => path.slice(path.lastIndexOf("/") + 1);
