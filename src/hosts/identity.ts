/** Who an event is. Hosts give stops no id, so its content has to serve as one. */

/** sha256 over length-prefixed parts, so that ("ab","c") and ("a","bc") differ. */
export function hash(...parts: string[]): string {
  return Bun.SHA256.hash(parts.map((part) => `${part.length}:${part}`).join(""), "hex");
}

export function eventId(host: string, session: string, turn: string, kind: string, ...rest: string[]): string {
  return hash(host, session, turn, kind, ...rest);
}
