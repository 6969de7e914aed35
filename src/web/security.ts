/**
 * The dashboard's lock. Every request passes here before anything is routed, as it came over the wire: what is written
 * otherwise than a browser on this page would write it is refused, never repaired.
 */

/** A request as it was sent: the target is not normalised, the headers are not merged. */
export interface Asked {
  method: string;
  target: string;
  /** name, value, name, value … */
  raw: string[];
}

export interface Refusal {
  status: number;
  why: string;
  headers?: Record<string, string>;
}

export interface Passed {
  path: string;
  query: URLSearchParams;
  cookie: string;
}

export interface Lock {
  /** exactly these, with their port */
  hosts: ReadonlySet<string>;
  /** why nothing can be changed; null: it can */
  readOnly: string | null;
}

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

/** In this order: who is asked, what is asked for, who asks. */
export function inspect(asked: Asked, lock: Lock): Passed | Refusal {
  const host = only(asked, "host");
  if (host === null || !lock.hosts.has(host)) return { status: 403, why: "this is not the name of the dashboard" };
  const place = placeOf(asked.target);
  if (place === null) return { status: 400, why: "there is no such address" };
  if (asked.method !== "GET" && asked.method !== "POST")
    return { status: 405, why: "only GET and POST are known here", headers: { allow: "GET, POST" } };
  const stranger = strangerIn(asked, host);
  if (stranger) return stranger;
  const refused = asked.method === "POST" ? wrongWrite(asked) : null;
  return refused ?? { ...place, cookie: only(asked, "cookie") ?? "" };
}

export const isRefusal = (result: object): result is Refusal => "status" in result;

/** null: not there, or there more than once, which no browser does. */
function only({ raw }: Asked, name: string): string | null {
  const values = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === name);
  return values.length === 1 ? values[0]! : null;
}

const has = ({ raw }: Asked, name: string) => raw.some((word, at) => at % 2 === 0 && word.toLowerCase() === name);

/** All our paths are plain: dots that climb, doubled or encoded slashes and whole addresses mean nothing here. */
function placeOf(target: string): { path: string; query: URLSearchParams } | null {
  const [, path = "", query = ""] = /^(\/[A-Za-z0-9._/-]*)(?:\?([\x21-\x7e]*))?$/.exec(target) ?? [];
  if (path === "" || target.length > 4096 || path.includes("//") || /(^|\/)\.{1,2}(\/|$)/.test(path)) return null;
  const parsed = new URLSearchParams(query);
  return [...parsed.values()].some((value) => value.includes("\0")) ? null : { path, query: parsed };
}

/** Another page, another program of the same machine on another port: neither is this page. */
function strangerIn(asked: Asked, host: string): Refusal | null {
  const site = only(asked, "sec-fetch-site");
  if (has(asked, "sec-fetch-site") && site !== "same-origin" && site !== "none")
    return { status: 403, why: "another site asks" };
  const origin = only(asked, "origin");
  if (has(asked, "origin") ? origin !== `http://${host}` : asked.method === "POST")
    return { status: 403, why: "another page asks" };
  return null;
}

/** What a form, or a script of another page, cannot send without being asked back first. */
function wrongWrite(asked: Asked): Refusal | null {
  const type = only(asked, "content-type") ?? "";
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type) || has(asked, "content-encoding"))
    return { status: 415, why: "only plain JSON is read" };
  if (only(asked, "x-pawl") !== "1") return { status: 403, why: "the header x-pawl is missing" };
  const length = Number(only(asked, "content-length") ?? 0);
  if (!(length <= LARGEST_BODY)) return { status: 413, why: "that is too much" };
  return null;
}
