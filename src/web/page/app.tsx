/// <reference lib="dom" />
/** The frame: which page is shown, when it is drawn, and the door. */
import { render } from "preact";
import type { NowData } from "../api.ts";
import type { Change } from "../live.ts";
import { ask, enter, Locked, readSoFar } from "./api.ts";
import { Frame } from "./frame.tsx";
import { viewJournal } from "./journal.tsx";
import { onKey } from "./keys.tsx";
import { viewLoops, viewRuns, viewTasks } from "./lists.tsx";
import { listen, stopListening } from "./live.ts";
import { viewNow } from "./now.tsx";
import { markNew, type View } from "./parts.tsx";
import { currentRoute, link, type PageName } from "./route.ts";
import { viewRun } from "./run.tsx";
import { viewStages } from "./stages.tsx";
import { announce, startDrawing, state, update } from "./state.ts";

// biome-ignore lint/suspicious/noExplicitAny: each view gets the data that it loaded itself
const VIEWS: Record<PageName, View<any>> = {
  now: viewNow,
  runs: viewRuns,
  run: viewRun,
  stages: viewStages,
  tasks: viewTasks,
  loops: viewLoops,
  journal: viewJournal,
};

void start();

async function start(): Promise<void> {
  startDrawing(() => {
    document.documentElement.dataset.theme = state.theme;
    render(<Frame {...state} onRetry={show} />, document.body);
  });
  document.addEventListener("keydown", onKey);
  if (!(await takeToken())) return lock();
  addEventListener("hashchange", () => void show());
  void ask<NowData>("now").then(
    ({ readOnly }) => update({ readOnly }),
    () => {},
  );
  await show();
  if (state.screen.kind !== "locked") listen(heard);
}

async function takeToken(): Promise<boolean> {
  const token = location.hash.replace(/^#(token=|t=)?/, "");
  if (token === "" || token.startsWith("/")) return true;
  history.replaceState(null, "", link("now"));
  return enter(token).catch(() => false);
}

function lock(): void {
  stopListening();
  document.title = "Pawl";
  update({ screen: { kind: "locked" } });
}

// ── Drawing ─────────────────────────────────────────────────────────────────

let asked = 0;

async function show(): Promise<void> {
  const { page, query } = currentRoute();
  const place = location.hash;
  const view = VIEWS[page];
  asked += 1;
  const mine = asked;
  update({ page });
  try {
    const data = await view.load(query);
    if (mine !== asked) return;
    draw(view, data, place, query);
    lookAgain(view.again?.(data) ?? null);
  } catch (error) {
    if (error instanceof Locked) lock();
    else if (mine === asked) fail(error, place);
  }
}

function draw(view: View<unknown>, data: unknown, place: string, query: Record<string, string>): void {
  const { screen } = state;
  const text = JSON.stringify(data);
  const isSamePlace = screen.kind === "page" && screen.place === place;
  if (isSamePlace && screen.text === text) return;
  const isSamePage = screen.kind === "page" && screen.view === view;
  const isFirst = screen.kind === "starting";
  const title = view.title(data);
  document.title = `${title} · Pawl`;
  markNew(isSamePlace);
  update({ screen: { kind: "page", view, data, text, query, place } });
  if (!isSamePage) arrive(title, isFirst);
}

/** A new page begins at its top, for eyes, keys and ears. */
function arrive(title: string, isFirst: boolean): void {
  scrollTo(0, 0);
  if (!isFirst) document.querySelector<HTMLElement>("#view h1")?.focus({ preventScroll: true });
  announce(title);
}

function fail(error: unknown, place: string): void {
  const { screen } = state;
  // While it is offline, what was there before is better than nothing.
  if (error instanceof TypeError && screen.kind === "page" && screen.place === place) return;
  document.title = "Pawl";
  update({ screen: { kind: "failed", why: error instanceof Error ? error.message : String(error), place } });
}

// ── Live ────────────────────────────────────────────────────────────────────

const READING_MS = 700;
let later: ReturnType<typeof setTimeout> | undefined;

/** A long history is still being read: the figures grow. `again`: what is shown may end without an announcement. */
function lookAgain(again: number | null): void {
  const percent = readSoFar();
  if (state.percent !== percent) update({ percent });
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
