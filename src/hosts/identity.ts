/** Who an event is. Hosts give stops no id, so its content has to serve as one. */

/** sha256 over length-prefixed parts, so that ("ab","c") and ("a","bc") differ. */
export function hash(...parts: string[]): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const part of parts) hasher.update(`${part.length}:${part}`);
  return hasher.digest("hex");
}

export function eventId(host: string, session: string, turn: string, kind: string, ...rest: string[]): string {
  return hash(host, session, turn, kind, ...rest);
}
