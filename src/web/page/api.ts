/** Asks the server. What it answers is typed where the answer is made. */
import type { Action, Done } from "../actions.ts";
import type { Answer, Question } from "../api.ts";
import { type Wanted, withQuery } from "./route.ts";

export type Project = Answer<"now">["projects"][number];

/** How much of the journals the last figures cover, in percent; null: all of it. */
let percentRead: number | null = null;
export const readSoFar = () => percentRead;

/** The server does not know this browser. */
export class Locked extends Error {}

export async function ask<Q extends Question>(question: Q, query: Wanted = {}): Promise<Answer<Q>> {
  const answer = await fetch(withQuery(`/api/${question}`, query), { headers: { accept: "application/json" } });
  if (answer.status === 401) throw new Locked();
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
  const answer = await post("/api/act", action);
  if (answer.status === 401) throw new Locked();
  return (await answer.json()) as Done;
}

/** The key that `pawl dashboard` printed becomes a cookie, and leaves the address. */
export const enter = async (token: string): Promise<boolean> => (await post("/session", { token })).ok;

function post(path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json", "x-pawl": "1" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}
