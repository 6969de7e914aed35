/**
 * The dashboard's lock. Every request passes here before anything is routed, as it came over the wire: what is written
 * otherwise than a browser on this page would write it is refused, never repaired.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The request was wrong; the person may read the message. */
export class RequestError extends Error {
  override name = "RequestError";
  constructor(
    message: string,
    readonly status = 400,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** As it was sent: the target is not normalised, the headers are not merged (name, value, name, value …). */
type RawRequest = Pick<IncomingMessage, "method" | "url" | "rawHeaders">;

export const LARGEST_BODY = 64 * 1024;

/** Sent with every answer, also with refusals. */
export const HEADERS: Record<string, string> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

export const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

/** What a browser may call this server. Browsers leave the port out where it is the usual one. */
export function allowedHosts(host: string, port: number): Set<string> {
  const named = host.includes(":") ? `[${host}]` : host;
  const names = [...new Set([...LOOPBACK, named])];
  return new Set(names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])));
}

/** In this order: who is asked, what is asked for, who asks. `hosts`: exactly these, with their port. */
export function inspect(request: RawRequest, hosts: ReadonlySet<string>) {
  const host = only(request, "host");
  if (host === null || !hosts.has(host)) throw new RequestError("this is not the name of the dashboard", 403);
  const place = parseTarget(request.url ?? "");
  if (request.method !== "GET" && request.method !== "POST")
    throw new RequestError("only GET and POST are known here", 405, { allow: "GET, POST" });
  refuseStrangers(request, host);
  if (request.method === "POST") refuseForms(request);
  return { ...place, authorization: only(request, "authorization") ?? "" };
}

/** null: not there, or there more than once, which no browser does. */
function only({ rawHeaders: raw }: RawRequest, name: string): string | null {
  const values = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === name);
  return values.length === 1 ? values[0]! : null;
}

const has = ({ rawHeaders: raw }: RawRequest, name: string) =>
  raw.some((word, at) => at % 2 === 0 && word.toLowerCase() === name);

/** All our paths are plain: dots that climb, doubled or encoded slashes and whole addresses mean nothing here. */
function parseTarget(target: string): { path: string; query: URLSearchParams } {
  const [, path = "", query = ""] = /^(\/[A-Za-z0-9._/-]*)(?:\?([\x21-\x7e]*))?$/.exec(target) ?? [];
  const parsed = new URLSearchParams(query);
  const isOdd = path.includes("//") || /(^|\/)\.{1,2}(\/|$)/.test(path) || [...parsed.values()].join().includes("\0");
  if (path === "" || target.length > 4096 || isOdd) throw new RequestError("there is no such address");
  return { path, query: parsed };
}

/** Another page, another program of the same machine on another port: neither is this page. */
function refuseStrangers(request: RawRequest, host: string): void {
  const site = only(request, "sec-fetch-site");
  if (has(request, "sec-fetch-site") && site !== "same-origin" && site !== "none")
    throw new RequestError("another site asks", 403);
  const isOther = has(request, "origin") ? only(request, "origin") !== `http://${host}` : request.method === "POST";
  if (isOther) throw new RequestError("another page asks", 403);
}

/** What a form, or a script of another page, cannot send without being asked back first. */
function refuseForms(request: RawRequest): void {
  const type = only(request, "content-type") ?? "";
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type) || has(request, "content-encoding"))
    throw new RequestError("only plain JSON is read", 415);
  if (only(request, "x-pawl") !== "1") throw new RequestError("the header x-pawl is missing", 403);
  const length = Number(only(request, "content-length") ?? 0);
  if (!(length <= LARGEST_BODY)) throw new RequestError("that is too much", 413);
}

// ── Sessions ────────────────────────────────────────────────────────────────

const TICKET_MS = 120_000;

export type Sessions = ReturnType<typeof openSessions>;

const secret = () => randomBytes(32).toString("hex");
const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();

/**
 * The page says the token with every request: a cookie would go to every port of this machine. Wrong ones are neither
 * counted nor kept: nobody guesses 256 bits, and whoever could make us count could keep the person out.
 */
export function openSessions() {
  const token = secret();
  const tokenDigest = digest(token);
  const spoken = digest(`Bearer ${token}`);
  const tickets: { digest: Uint8Array; until: number }[] = [];
  const takeTicket = (given: Uint8Array, now: number) => {
    const at = tickets.findIndex((ticket) => timingSafeEqual(ticket.digest, given));
    return at >= 0 && tickets.splice(at, 1)[0]!.until > now;
  };
  return {
    /** in the printed address: for as many browsers as the person opens it in */
    token,
    /** for the browser that we open ourselves: others can see a program's arguments, so it counts once and not for long */
    ticket(now: number) {
      const made = secret();
      tickets.push({ digest: digest(made), until: now + TICKET_MS });
      return made;
    },
    /** What the address carried, token or ticket, becomes the token. */
    exchange(given: string, now: number): string {
      const asked = digest(given);
      if (timingSafeEqual(asked, tokenDigest) || takeTicket(asked, now)) return token;
      throw new RequestError("this is not the token: open the address that `pawl dashboard` printed", 401);
    },
    isKnown: (authorization: string) => timingSafeEqual(digest(authorization), spoken),
  };
}
