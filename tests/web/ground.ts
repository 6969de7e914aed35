/** The real binary as a dashboard of its own, and clients for it: one that behaves, one that writes bytes. */
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { PAWL, type Place } from "../harness/harness.ts";
import { DESKTOP } from "../harness/terminal-window.ts";
import { perform, type Step, type World } from "../scenarios/scenario.ts";

export interface Running {
  pid: number;
  port: number;
  origin: string;
  token: string;
  /** what it said on stderr */
  err: string;
}

const PATIENCE_MS = 20_000;
const started: number[] = [];

/** The shell ends at once, so that the dashboard is no one's child here: it does not matter whether an agent runs the tests. */
export async function startDashboard(
  place: Place,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const [out, err] = ["out", "err"].map((name) => join(place.base, `${name}-${started.length}`)) as [string, string];
  rmSync(out, { force: true });
  const script = 'out=$1; err=$2; shift 2; "$@" </dev/null >"$out" 2>"$err" & echo $!';
  const cmd = ["/bin/sh", "-c", script, "sh", out, err, PAWL, "dashboard", "--json", ...args];
  const { stdout } = Bun.spawnSync({ cmd, cwd: place.root, env: { ...DESKTOP, ...place.env, ...env } });
  const pid = Number(stdout.toString());
  started.push(pid);
  const line = await until(
    () => /^(.+)\n/.exec(textOf(out))?.[1],
    () => textOf(err),
  );
  const { url, port } = JSON.parse(line) as { url: string; port: number };
  const { origin, hash } = new URL(url);
  return { pid, port, origin, token: hash.replace("#token=", ""), err: textOf(err) };
}

export function stopDashboards(): void {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, "SIGTERM");
    } catch {
      // it ended before
    }
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Polls until there is something; `why` tells what went wrong where there never is. */
export async function until<T>(
  find: () => T | undefined | Promise<T | undefined>,
  why = () => "",
  ms = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await find();
    if (found) return found as NonNullable<T>;
    if (Date.now() > end) throw new Error(`nothing came within ${ms} ms ${why()}`);
    await Bun.sleep(10);
  }
}

// ── A browser's page ────────────────────────────────────────────────────────

export interface Client {
  /** what it says with every request */
  authorization: string;
  get(path: string): Promise<Response>;
  data(path: string): Promise<Data>;
  act(body: unknown): Promise<{ status: number; ok: boolean; message: string; waits?: string }>;
}

// biome-ignore lint/suspicious/noExplicitAny: what the server says is looked at, not trusted
export type Data = any;

export const PAGE = (origin: string) => ({ origin, "content-type": "application/json", "x-pawl": "1" });

export async function enter({ origin, token }: Running): Promise<Client> {
  const session = await fetch(`${origin}/session`, {
    method: "POST",
    headers: PAGE(origin),
    body: JSON.stringify({ token }),
  });
  const authorization = `Bearer ${((await session.json()) as { token?: string }).token}`;
  const get = (path: string) => fetch(`${origin}${path}`, { headers: { authorization } });
  return {
    authorization,
    get,
    data: async (path) => (await get(path)).json(),
    act: async (body) => {
      const said = await fetch(`${origin}/api/act`, {
        method: "POST",
        headers: { ...PAGE(origin), authorization },
        body: JSON.stringify(body),
      });
      return { status: said.status, ...((await said.json()) as { ok: boolean; message: string }) };
    },
  };
}

// ── Bytes ───────────────────────────────────────────────────────────────────

export interface Heard {
  status: number;
  head: string;
  body: string;
}

/** Exactly these bytes, and what comes back until the server is through, or for so long. */
export function raw(port: number, text: string, ms = PATIENCE_MS): Promise<Heard> {
  return new Promise((resolve) => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      const [head = "", ...body] = got.split("\r\n\r\n");
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body: body.join("\r\n\r\n") });
    };
    const timer = setTimeout(done, ms);
    socket.on("data", (bytes) => {
      got += bytes.toString();
      if (isWhole(got)) done();
    });
    socket.on("close", done);
    socket.on("error", done);
  });
}

/** It says how long it is, and is. */
function isWhole(got: string): boolean {
  const [head = "", ...body] = got.split("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return body.length > 0 && length !== undefined && Buffer.byteLength(body.join("\r\n\r\n")) >= Number(length);
}

export function lines(method: string, target: string, headers: Record<string, string>, body = ""): string {
  const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const all = Object.entries({ ...headers, ...length, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${method} ${target} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n${body}`;
}

// ── Runs ────────────────────────────────────────────────────────────────────

export const newWorld = (place: Place): World => ({ place, sessions: {}, current: "one", last: null });

export function play(world: World, steps: Step[]): void {
  for (const step of steps) perform(world, step);
}

export const ISSUES =
  "🚨 Critical Issues (1 found)\n\n1. an empty catch (api.ts:42)\n\n<promise>REVIEW_ISSUES_FOUND</promise>";

/** A run of complete-work whose review found something: it waits for the person's decision. */
export const TO_QUESTION: Step[] = [
  { prompt: "/complete-work review cleanup" },
  { stop: ISSUES },
  { stop: "What should I do?" },
];
