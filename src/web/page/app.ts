/// <reference lib="dom" />
/** The frame: which page is shown, when it is drawn, and the door. */
import { setReadOnly } from "./actions.ts";
import { ask, enter, Locked, type Now, readSoFar } from "./api.ts";
import { announce, byId, h, replaceKeeping } from "./dom.ts";
import { startKeys } from "./keys.ts";
import { type Change, listen, stopListening } from "./live.ts";
import { empty, heading, tick, type View } from "./parts.ts";
import { currentRoute, link, PAGES, type PageName } from "./route.ts";
import { startTheme } from "./theme.ts";
import { viewJournal } from "./view-journal.ts";
import { viewLoops, viewRuns, viewTasks } from "./view-lists.ts";
import { viewNow } from "./view-now.ts";
import { viewRun } from "./view-run.ts";
import { viewStages } from "./view-stages.ts";

const VIEWS: Record<PageName, View<unknown>> = {
  now: viewNow,
  runs: viewRuns,
  run: viewRun,
  stages: viewStages,
  tasks: viewTasks,
  loops: viewLoops,
  journal: viewJournal,
};

/** What is on the screen: a place and the answer it was drawn from. */
let shown = { place: "", page: "", text: "" };
let asked = 0;

void start();

async function start(): Promise<void> {
  startTheme();
  startKeys();
  document.querySelector(".skip")?.addEventListener("click", toContent);
  if (await takeToken()) await open();
  else showDoor();
}

async function open(): Promise<void> {
  drawPages();
  addEventListener("hashchange", () => void show());
  setInterval(tick, 1000);
  await show();
  if (shown.page !== "door") listen(heard);
}

/** The address after `#` is ours, so the link may not go there. */
function toContent(event: globalThis.Event): void {
  event.preventDefault();
  byId("main").focus();
}

async function takeToken(): Promise<boolean> {
  const said = location.hash.replace(/^#(token=|t=)?/, "");
  if (said === "" || said.startsWith("/")) return true;
  history.replaceState(null, "", link("now"));
  return enter(said).catch(() => false);
}

// ── Drawing ─────────────────────────────────────────────────────────────────

async function show(): Promise<void> {
  const { page, query } = currentRoute();
  const place = location.hash;
  const view = VIEWS[page];
  asked += 1;
  const mine = asked;
  markPage(page === "run" ? "runs" : page);
  try {
    const data = await view.load(query);
    if (mine !== asked) return;
    draw(view, data, place, page, query);
    showReading(view.again?.(data) ?? null);
  } catch (error) {
    if (error instanceof Locked) showDoor();
    else if (mine === asked) fail(error, place, page);
  }
}

function draw(view: View<unknown>, data: unknown, place: string, page: string, query: Record<string, string>): void {
  const text = JSON.stringify(data);
  if (shown.place === place && shown.text === text) return;
  const samePage = shown.page === page;
  const isFirst = shown.page === "";
  const samePlace = shown.place === place;
  shown = { place, page, text };
  document.title = `${view.title(data)} · Pawl`;
  replaceKeeping(byId("view"), view.draw(data, query), samePlace);
  if (!samePage) arrive(view.title(data), isFirst);
}

/** A new page begins at its top, for eyes, keys and ears. */
function arrive(title: string, isFirst: boolean): void {
  scrollTo(0, 0);
  if (!isFirst) byId("view").querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  announce(title);
}

function fail(error: unknown, place: string, page: string): void {
  // While it is offline, what was there before is better than nothing.
  if (error instanceof TypeError && shown.place === place) return;
  shown = { place, page, text: "" };
  document.title = "Pawl";
  const why = error instanceof Error ? error.message : String(error);
  const again = h("button", { type: "button", click: () => void show() }, "Try again");
  byId("view").replaceChildren(heading("This page cannot be shown"), empty("The server said no.", why, again));
}

function showDoor(): void {
  stopListening();
  shown = { place: "", page: "door", text: "" };
  document.title = "Pawl";
  document.body.classList.add("locked");
  byId("view").replaceChildren(
    heading("This page is locked"),
    empty(
      "Every start of the dashboard has a key of its own.",
      [
        "Run ",
        h("code", {}, "pawl dashboard"),
        " in a terminal and open the link it prints. The key in it is only good for that start.",
      ],
      h("p", { class: "muted" }, "Already running? The link stands in its terminal."),
    ),
  );
}

// ── Around it ───────────────────────────────────────────────────────────────

function drawPages(): void {
  const items = PAGES.map(({ name, title, key }) =>
    h(
      "li",
      {},
      h(
        "a",
        { href: link(name), "data-page": name },
        h("span", {}, title),
        h("span", { class: "hint", "aria-hidden": "true" }, `g ${key}`),
      ),
    ),
  );
  byId("pages").replaceChildren(h("ul", {}, items));
  void ask<Now>("now").then(showReadOnly, () => {});
}

function showReadOnly({ readOnly = false }: Now): void {
  setReadOnly(readOnly);
  byId("read-only").hidden = !readOnly;
  if (readOnly) void redraw();
}

function redraw(): Promise<void> {
  shown = { ...shown, text: "" };
  return show();
}

function markPage(page: string): void {
  for (const anchor of document.querySelectorAll<HTMLElement>("[data-page]")) {
    if (anchor.dataset.page === page) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

// ── Live ────────────────────────────────────────────────────────────────────

const READING_MS = 700;
let later: ReturnType<typeof setTimeout> | undefined;

/** A long history is still being read: the figures grow. `again`: what is shown may be over without a word. */
function showReading(again: number | null): void {
  const percent = readSoFar();
  const place = byId("reading");
  place.hidden = percent === null;
  place.textContent =
    percent === null ? "" : `Reading the journal… ${percent} %. Figures are of what has been read so far.`;
  clearTimeout(later);
  const wait = percent === null ? again : READING_MS;
  if (wait !== null) later = setTimeout(() => void show(), wait);
}

const TOGETHER_MS = 80;
let soon: ReturnType<typeof setTimeout> | undefined;

/** Several lines are written at once: one look for all of them. */
function heard(change: Change | null): void {
  if (change?.kind === "asked" || change?.kind === "halted") announce("A run needs you");
  if (soon !== undefined) return;
  soon = setTimeout(() => {
    soon = undefined;
    void show();
  }, TOGETHER_MS);
}
