/** Paths as text. node:path does more and costs every hook a millisecond to load. Names are checked elsewhere. */

export const join = (...parts: string[]) => parts.join("/").replace(/\/{2,}/g, "/");

export function dirname(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

export const basename = (path: string) => path.slice(path.lastIndexOf("/") + 1);
