/** The dashboard's server: inspects, routes, answers. node:http, because it tells the target as it was sent. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { logError } from "../store/errors.ts";
import { isObject, parseJson } from "../store/files.ts";
import { act } from "./actions.ts";
import { type Api, openFigures, readApi } from "./api.ts";
import { type Live, openLive } from "./live.ts";
import { allowedHosts, HEADERS, inspect, LARGEST_BODY, openSessions, RequestError, type Sessions } from "./security.ts";

export interface DashboardOptions extends Omit<Api, "figures"> {
  host: string;
  /** 0: any that is free */
  port: number;
  /** what is served besides data, by its path */
  files: ReadonlyMap<string, { type: string; body: string }>;
  /** whose word an action is */
  who: string;
}

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

interface Context extends DashboardOptions, Api {
  /** what a browser may call this server */
  hosts: ReadonlySet<string>;
  sessions: Sessions;
  live: Live;
}

const BODY_MS = 10_000;
/** Also those that never say what they want; the server drops them after some seconds. */
const MOST_CONNECTIONS = 256;
/** A page that stopped reading is let go: it comes back by itself. */
const MOST_UNREAD = 256 * 1024;

export async function startDashboard(options: DashboardOptions) {
  const sessions = openSessions();
  const live = openLive(options.projects);
  const figures = openFigures(options.projects);
  const context: Context = { ...options, hosts: new Set(), sessions, live, figures };
  const server = createServer((request, response) => void answer(context, request, response));
  server.maxConnections = MOST_CONNECTIONS;
  await once(server.listen(options.port, options.host), "listening");
  const { port } = server.address() as AddressInfo;
  context.hosts = allowedHosts(options.host, port);
  const name = options.host.includes(":") ? `[${options.host}]` : options.host;
  const close = () => {
    live.close();
    figures.close();
    server.close();
    server.closeAllConnections();
  };
  return { port, origin: `http://${name}:${port}`, sessions, close };
}

// ── One request ─────────────────────────────────────────────────────────────

type Reply = { status: number; type: string; body: string; headers?: Record<string, string> };

async function answer(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await replyTo(context, request, response).catch(refusal);
  if (reply === null || response.headersSent) return;
  const { status, type, body, headers = {} } = reply;
  response.writeHead(status, { ...HEADERS, "content-type": type, ...headers });
  response.end(body);
}

/** null: the answer goes on by itself. */
async function replyTo(context: Context, request: IncomingMessage, response: ServerResponse): Promise<Reply | null> {
  const place = inspect(request, context.hosts);
  return request.method === "POST" ? write(context, place, request) : read(context, place, request, response);
}

type RequestPlace = ReturnType<typeof inspect>;

async function read(
  context: Context,
  { path, query, authorization }: RequestPlace,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const file = context.files.get(path);
  if (file) return { status: 200, ...file };
  if (!path.startsWith("/api/")) throw nothingHere();
  refuseUnknown(context, authorization);
  if (path === "/api/live") return stream(context, request, response);
  const data = await readApi(context, path.slice("/api/".length), query);
  if (data === null) throw nothingHere();
  // For the page: the figures may not yet be those of the whole journal.
  const share = context.figures.share();
  return json(200, data, share < 1 ? { "x-pawl-reading": String(Math.floor(share * 100)) } : {});
}

async function write(
  context: Context,
  { path, authorization }: RequestPlace,
  request: IncomingMessage,
): Promise<Reply> {
  if (path === "/session") {
    const { token } = await readBody(request);
    return json(200, { token: context.sessions.exchange(typeof token === "string" ? token : "", Date.now()) });
  }
  if (path !== "/api/act") throw nothingHere();
  refuseUnknown(context, authorization);
  const { readOnly, projects, who } = context;
  if (readOnly !== null) throw new RequestError(`nothing can be changed here: ${readOnly}`, 403);
  const done = act(await readBody(request), projects, who);
  return json(done.ok ? 200 : 409, done);
}

const nothingHere = () => new RequestError("there is nothing here", 404);

function refuseUnknown({ sessions }: Context, authorization: string): void {
  if (!sessions.isKnown(authorization)) throw new RequestError("open the address that `pawl dashboard` printed", 401);
}

function stream({ live }: Context, request: IncomingMessage, response: ServerResponse): null {
  const leave = live.join((text) => {
    if (response.writableLength > MOST_UNREAD) response.destroy();
    else response.write(text);
  });
  if (leave === null) throw new RequestError("too many pages are open", 503);
  response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream; charset=utf-8" });
  response.write(": listening\n\n");
  response.on("close", leave);
  request.on("close", leave);
  return null;
}

// ── In and out ──────────────────────────────────────────────────────────────

/** An object, whole and in time; or it is refused. */
function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const fail = (why: string) => reject(new RequestError(why));
  const late = setTimeout(fail, BODY_MS, "the request did not come to its end");
  const parts: Buffer[] = [];
  let length = 0;
  request.on("data", (part: Buffer) => {
    length += part.length;
    if (length > LARGEST_BODY) fail("that is too much");
    else parts.push(part);
  });
  request.on("error", () => fail("the request broke off"));
  request.on("end", () => {
    const value = parseJson(Buffer.concat(parts).toString("utf8"));
    if (isObject(value)) resolve(value);
    else fail("this is no JSON object");
  });
  return promise.finally(() => clearTimeout(late));
}

const json = (status: number, value: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(value),
  headers,
});

/** What was refused may still be on its way: the connection is not used again. */
function refusal(error: unknown): Reply {
  if (error instanceof RequestError)
    return json(error.status, { ok: false, message: error.message }, { ...error.headers, connection: "close" });
  logError(null, "dashboard", error);
  return refusal(new RequestError("Pawl hit an internal error; see errors.log in ~/.local/state/pawl", 500));
}
