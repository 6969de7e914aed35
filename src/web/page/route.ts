/** Which page: `#/run?project=…&id=…`. After the hash, so it never reaches a server's log. */
import type { JSX } from "preact";

/** `unknown`: the address names no page. */
export type PageName = "now" | "runs" | "run" | "stages" | "tasks" | "loops" | "journal" | "unknown";

export type Query = Record<string, string>;
/** What is empty is left out. */
export type Wanted = Record<string, string | null | undefined>;

export interface View<T> {
  title(data: T): string;
  load(query: Query): Promise<T>;
  Page(props: { data: T; query: Query }): JSX.Element;
  /** milliseconds after which it is asked for again, though no change was announced */
  again?(data: T): number | null;
}

export const PAGES: { name: PageName; title: string; key: string }[] = [
  { name: "now", title: "Now", key: "n" },
  { name: "runs", title: "Runs", key: "r" },
  { name: "stages", title: "Stages", key: "s" },
  { name: "tasks", title: "Tasks", key: "t" },
  { name: "loops", title: "Loops", key: "l" },
  { name: "journal", title: "Journal", key: "j" },
];

export function currentRoute(): { page: PageName; query: Query } {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const known = path === "run" || PAGES.some(({ name }) => name === path);
  const page = known ? (path as PageName) : path === "" ? "now" : "unknown";
  return { page, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function withQuery(path: string, query: Wanted): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const link = (page: PageName, query: Wanted = {}) => withQuery(`#/${page}`, query);

export function go(page: PageName): void {
  location.hash = link(page);
}

/** Filters change the address, but not every typed letter is a place to come back to. */
export function refine(page: PageName, query: Wanted): void {
  history.replaceState(null, "", link(page, query));
  drawAgain();
}

export const drawAgain = () => dispatchEvent(new HashChangeEvent("hashchange"));
