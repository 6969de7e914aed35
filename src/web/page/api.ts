/// <reference lib="dom" />
/** Asks the server. What it answers is typed where the answer is made. */
import type { Done } from "../actions.ts";
import type { NowData } from "../api.ts";

export type Project = NowData["projects"][number];

export interface Act {
  project: string;
  run: string;
  action: "answer" | "approve" | "pause" | "resume" | "abort" | "adopt";
  choice?: string;
  asked?: string;
  why?: string;
}

/** How much of the journals the last answer knew, in percent; null: all of it. */
let percentRead: number | null = null;
export const readSoFar = () => percentRead;

/** The server does not know this browser. */
export class Locked extends Error {}

export async function ask<T>(path: string, query: Record<string, string | null | undefined> = {}): Promise<T> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  const answer = await fetch(`/api/${path}${search === "" ? "" : `?${search}`}`, {
    headers: { accept: "application/json" },
  });
  if (answer.status === 401) throw new Locked();
  if (!answer.ok) throw new Error((await message(answer)) ?? `The server answered ${answer.status}.`);
  const percent = answer.headers.get("x-pawl-reading");
  percentRead = percent === null ? null : Number(percent);
  return (await answer.json()) as T;
}

export async function act(wish: Act): Promise<Done> {
  const answer = await post("/api/act", wish);
  if (answer.status === 401) throw new Locked();
  const body = (await answer.json().catch(() => null)) as Done | null;
  if (body && typeof body.message === "string") return { ...body, ok: answer.ok && body.ok !== false };
  return { ok: answer.ok, message: answer.ok ? "Done." : `The server answered ${answer.status}.` };
}

/** The key that `pawl dashboard` printed becomes a cookie, and leaves the address. */
export const enter = async (token: string): Promise<boolean> => (await post("/session", { token })).ok;

function post(path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json", "x-pawl": "1" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function message(answer: Response): Promise<string | null> {
  const body = (await answer.json().catch(() => null)) as { message?: unknown } | null;
  return typeof body?.message === "string" ? body.message : null;
}
