/** Who holds the address with its token gets a cookie, and from then on is known by it. Nothing of it is kept on disk. */
import { randomBytes, timingSafeEqual } from "node:crypto";

const MOST_SESSIONS = 100;
/** So many wrong tokens in a window of so many milliseconds; then no one is listened to until it is over. */
const MOST_WRONG = 10;
const WINDOW_MS = 30_000;
const TICKET_MS = 120_000;

export type Exchange = { ok: true; cookie: string } | { ok: false; status: 401 | 429; why: string; wait?: number };

export interface Sessions {
  /** in the printed address: for as many browsers as the person opens it in */
  token: string;
  /** for the browser that we open ourselves: others can see a program's arguments, so it counts once and not for long */
  ticket(now: number): string;
  exchange(token: string, now: number): Exchange;
  isKnown(cookieHeader: string): boolean;
}

const secret = () => randomBytes(32).toString("hex");
const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
const isSame = (a: Uint8Array, b: Uint8Array) => timingSafeEqual(a, b);

/** Cookies of one machine are shared by all its ports: the name tells ours apart. */
export const cookieName = (port: number) => `pawl-${port}`;

export function openSessions(name: () => string): Sessions {
  const token = secret();
  const tokenDigest = digest(token);
  const tickets: { digest: Uint8Array; until: number }[] = [];
  const known: Uint8Array[] = [];
  let wrong: number[] = [];
  const takeTicket = (given: Uint8Array, now: number) => {
    const at = tickets.findIndex((ticket) => isSame(ticket.digest, given));
    return at >= 0 && tickets.splice(at, 1)[0]!.until > now;
  };
  return {
    token,
    ticket(now) {
      const made = secret();
      tickets.push({ digest: digest(made), until: now + TICKET_MS });
      return made;
    },
    exchange(given, now) {
      wrong = wrong.filter((at) => now - at < WINDOW_MS);
      if (wrong.length >= MOST_WRONG) {
        const wait = Math.ceil((wrong[0]! + WINDOW_MS - now) / 1000);
        return { ok: false, status: 429, why: "too many wrong tokens: wait a moment", wait };
      }
      const asked = digest(given);
      if (!isSame(asked, tokenDigest) && !takeTicket(asked, now)) {
        wrong.push(now);
        return { ok: false, status: 401, why: "this is not the token: open the address that `pawl dashboard` printed" };
      }
      const cookie = secret();
      known.push(digest(cookie));
      if (known.length > MOST_SESSIONS) known.shift();
      return { ok: true, cookie: `${name()}=${cookie}; Path=/; HttpOnly; SameSite=Strict` };
    },
    isKnown(header) {
      const start = `${name()}=`;
      const values = header
        .split(";")
        .map((part) => part.trim())
        .filter((part) => part.startsWith(start));
      if (values.length !== 1) return false;
      const asked = digest(values[0]!.slice(start.length));
      return known.filter((one) => isSame(one, asked)).length > 0;
    },
  };
}
