/** The dashboard's server: inspects, routes, answers. node:http, because it tells the target as it was sent. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { logError } from "../store/errors.ts";
import { isObject, parseJson } from "../store/files.ts";
import { act } from "./actions.ts";
import { type Api, readApi } from "./api.ts";
import { type Figures, openFigures } from "./figures.ts";
import { type Live, openLive } from "./live.ts";
import type { Words } from "./now.ts";
import { AskedError, type Projects } from "./projects.ts";
import {
  allowedHosts,
  HEADERS,
  inspect,
  isRefusal,
  LARGEST_BODY,
  type Lock,
  type Passed,
  type Refusal,
} from "./security.ts";
import { cookieName, openSessions, type Sessions } from "./sessions.ts";

export interface DashboardOptions {
  host: string;
  /** 0: any that is free */
  port: number;
  /** why nothing can be changed; null: it can */
  readOnly: string | null;
  /** what is given out besides data, by its path */
  files: ReadonlyMap<string, { type: string; body: string }>;
  projects: Projects;
  words: Words;
  /** whose word an action is */
  who: string;
}

export interface Dashboard {
  port: number;
  origin: string;
  sessions: Sessions;
  close(): void;
}

interface House {
  options: DashboardOptions;
  lock: Lock;
  sessions: Sessions;
  live: Live;
  api: Api;
}

const BODY_MS = 10_000;
/** Also those that never say what they want; the server drops them after some seconds. */
const MOST_CONNECTIONS = 256;
/** A page that stopped reading is let go: it comes back by itself. */
const MOST_UNREAD = 256 * 1024;

export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  let port = options.port;
  const sessions = openSessions(() => cookieName(port));
  const live = openLive(options.projects);
  const figures: Figures = openFigures(options.projects);
  const api = { projects: options.projects, words: options.words, readOnly: options.readOnly, figures };
  const house: House = { options, lock: { hosts: new Set(), readOnly: options.readOnly }, sessions, live, api };
  const server = createServer((request, response) => void answer(house, request, response));
  server.maxConnections = MOST_CONNECTIONS;
  port = await listening(server, options);
  house.lock = { hosts: allowedHosts(options.host, port), readOnly: options.readOnly };
  const name = options.host.includes(":") ? `[${options.host}]` : options.host;
  const close = () => {
    live.close();
    figures.close();
    server.close();
    server.closeAllConnections();
  };
  return { port, origin: `http://${name}:${port}`, sessions, close };
}

function listening(server: Server, { host, port }: DashboardOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

// ── One request ─────────────────────────────────────────────────────────────

interface Reply {
  status: number;
  type: string;
  body: string;
  headers?: Record<string, string>;
}

async function answer(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await replyTo(house, request, response).catch(failed);
  if (reply === null || response.headersSent) return;
  const { status, type, body, headers = {} } = reply;
  response.writeHead(status, { ...HEADERS, "content-type": type, ...headers });
  response.end(body);
}

/** null: the answer goes on by itself. */
async function replyTo(house: House, request: IncomingMessage, response: ServerResponse): Promise<Reply | null> {
  const asked = { method: request.method ?? "", target: request.url ?? "", raw: request.rawHeaders };
  const passed = inspect(asked, house.lock);
  if (isRefusal(passed)) return refusal(passed);
  return request.method === "POST" ? write(house, passed, request) : read(house, passed, request, response);
}

function failed(error: unknown): Reply {
  if (error instanceof AskedError) return refusal({ status: error.status, why: error.message });
  logError(null, "dashboard", error);
  return refusal({ status: 500, why: "Pawl hit an internal error; see errors.log in ~/.local/state/pawl" });
}

const NOTHING: Refusal = { status: 404, why: "there is nothing here" };
const UNKNOWN: Refusal = { status: 401, why: "open the address that `pawl dashboard` printed" };

async function read(
  house: House,
  { path, query, cookie }: Passed,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Reply | null> {
  const file = house.options.files.get(path);
  if (file) return { status: 200, ...file };
  if (!path.startsWith("/api/")) return refusal(NOTHING);
  if (!house.sessions.isKnown(cookie)) return refusal(UNKNOWN);
  if (path === "/api/live") return stream(house, request, response);
  const data = await readApi(house.api, path.slice("/api/".length), query);
  return data === null ? refusal(NOTHING) : json(200, data, reading(house.api.figures));
}

/** For the page: the figures are not yet those of the whole journal. */
function reading(figures: Figures): Record<string, string> {
  const share = figures.share();
  return share < 1 ? { "x-pawl-reading": String(Math.floor(share * 100)) } : {};
}

async function write(house: House, { path, cookie }: Passed, request: IncomingMessage): Promise<Reply> {
  if (path === "/session") return enter(house, await bodyOf(request));
  if (path !== "/api/act") return refusal(NOTHING);
  if (!house.sessions.isKnown(cookie)) return refusal(UNKNOWN);
  const { readOnly } = house.lock;
  if (readOnly !== null) return refusal({ status: 403, why: `nothing can be changed here: ${readOnly}` });
  const done = act(await bodyOf(request), house.options.projects, house.options.who);
  return json(done.ok ? 200 : 409, done);
}

/** The only way to a cookie. */
function enter({ sessions }: House, body: Record<string, unknown>): Reply {
  const exchanged = sessions.exchange(typeof body.token === "string" ? body.token : "", Date.now());
  if (exchanged.ok) return json(200, { ok: true }, { "set-cookie": exchanged.cookie });
  const { status, why, wait } = exchanged;
  return refusal({ status, why, ...(wait !== undefined && { headers: { "retry-after": String(wait) } }) });
}

function stream({ live }: House, request: IncomingMessage, response: ServerResponse): null {
  const leave = live.join((text) => {
    if (response.writableLength > MOST_UNREAD) response.destroy();
    else response.write(text);
  });
  if (leave === null) throw new AskedError("too many pages are open", 503);
  response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream; charset=utf-8" });
  response.write("retry: 1000\n\n");
  response.on("close", leave);
  request.on("close", leave);
  return null;
}

// ── In and out ──────────────────────────────────────────────────────────────

/** An object, whole and in time; or it is refused. */
function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const late = setTimeout(() => reject(new AskedError("the request did not come to its end")), BODY_MS);
    const fail = (why: string) => {
      clearTimeout(late);
      reject(new AskedError(why));
    };
    request.on("data", (part: Buffer) => {
      length += part.length;
      if (length > LARGEST_BODY) fail("that is too much");
      else parts.push(part);
    });
    request.on("error", () => fail("the request broke off"));
    request.on("end", () => {
      clearTimeout(late);
      const value = parseJson(Buffer.concat(parts).toString("utf8"));
      if (isObject(value)) resolve(value);
      else reject(new AskedError("this is no JSON object"));
    });
  });
}

const json = (status: number, value: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(value),
  headers,
});

/** What was refused may still be on its way: the connection is not used again. */
const refusal = ({ status, why, headers = {} }: Refusal) =>
  json(status, { ok: false, message: why }, { ...headers, connection: "close" });
