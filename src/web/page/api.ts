/** Asks the server. What it answers is typed where the answer is made. */
import { attempt } from "../../kernel/attempt.ts";
import type { Action, Done } from "../actions.ts";
import type { Answer, Question } from "../api.ts";
import type { Change } from "../live.ts";
import { type Wanted, withQuery } from "./route.ts";

export type Project = Answer<"now">["projects"][number];

/** How much of the journals the last figures cover, in percent; null: all of it. */
let percentRead: number | null = null;
export const readSoFar = () => percentRead;

/** The server does not know this page. */
export class Locked extends Error {}

export async function ask<Q extends Question>(question: Q, query: Wanted = {}): Promise<Answer<Q>> {
  const answer = await send(withQuery(`/api/${question}`, query), { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(((await answer.json()) as Done).message);
  const percent = answer.headers.get("x-pawl-reading");
  // Pages ask for this one along with their figures: it may be answered later, when more has been read.
  if (question !== "now") percentRead = percent === null ? null : Number(percent);
  return (await answer.json()) as Answer<Q>;
}

/** For pages on which a project can be chosen. */
export async function withProjects<T>(answer: Promise<T>): Promise<T & { projects: Project[] }> {
  const [data, { projects }] = await Promise.all([answer, ask("now")]);
  return { ...data, projects };
}

export async function act(action: Action): Promise<Done> {
  return (await (await post("/api/act", action)).json()) as Done;
}

/** Hears of changes until the stream ends or breaks. An EventSource could not say the token. */
export async function follow(signal: AbortSignal, opened: () => void, heard: (change: Change) => void): Promise<void> {
  const { ok, body } = await send("/api/live", { signal });
  if (!ok || body === null) return;
  opened();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + part.value).split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const data = /^event: change\ndata: (.*)$/.exec(event)?.[1];
      if (data !== undefined) heard(JSON.parse(data) as Change);
    }
  }
}

// ── The token ───────────────────────────────────────────────────────────────

const TOKEN = "pawl-token";
/** Kept for this tab alone, and for its reloads. */
let token = attempt(() => sessionStorage.getItem(TOKEN), null) ?? "";

/** What the link of `pawl dashboard` carried. If it is a wrong one, the token that this tab has still counts. */
export async function enter(given: string): Promise<void> {
  const answer = await post("/session", { token: given });
  if (!answer.ok) return;
  ({ token } = (await answer.json()) as { token: string });
  // A browser that keeps nothing can still show it.
  attempt(() => sessionStorage.setItem(TOKEN, token), undefined);
}

function post(path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json", "x-pawl": "1" };
  return send(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function send(path: string, what: RequestInit & { headers?: Record<string, string> }): Promise<Response> {
  const answer = await fetch(path, { ...what, headers: { ...what.headers, authorization: `Bearer ${token}` } });
  if (answer.status === 401) throw new Locked();
  return answer;
}
