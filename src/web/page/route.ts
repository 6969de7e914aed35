/// <reference lib="dom" />
/** Which page: `#/run?project=…&id=…`. After the hash, so it never reaches a server's log. */

export type PageName = "now" | "runs" | "run" | "stages" | "tasks" | "loops" | "journal";

export type Query = Record<string, string>;

export interface Route {
  page: PageName;
  query: Query;
}

export const PAGES: { name: PageName; title: string; key: string }[] = [
  { name: "now", title: "Now", key: "n" },
  { name: "runs", title: "Runs", key: "r" },
  { name: "stages", title: "Stages", key: "s" },
  { name: "tasks", title: "Tasks", key: "t" },
  { name: "loops", title: "Loops", key: "l" },
  { name: "journal", title: "Journal", key: "j" },
];

export function currentRoute(): Route {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const known = path === "run" || PAGES.some(({ name }) => name === path);
  return { page: known ? (path as PageName) : "now", query: Object.fromEntries(new URLSearchParams(search)) };
}

export function link(page: PageName, query: Record<string, string | null | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${page}${search === "" ? "" : `?${search}`}`;
}

export function go(page: PageName, query: Record<string, string | null | undefined> = {}): void {
  location.hash = link(page, query);
}

/** Filters change the address, but not every typed letter is a place to come back to. */
export function refine(page: PageName, query: Record<string, string | null | undefined>): void {
  history.replaceState(null, "", link(page, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}
