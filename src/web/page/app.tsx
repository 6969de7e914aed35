/** Which page is shown, when it is drawn, what is around it, and the door. */
import { render } from "preact";
import { useMemo } from "preact/hooks";
import type { Change } from "../live.ts";
import { ask, enter, follow, Locked, readSoFar } from "./api.ts";
import { viewJournal } from "./journal.tsx";
import { onKey, showHelp } from "./keys.tsx";
import { viewLoops, viewRuns, viewTasks } from "./lists.tsx";
import { viewNow } from "./now.tsx";
import { Empty, Heading, markNew, ReadOnly } from "./parts.tsx";
import { currentRoute, drawAgain, link, PAGES, type PageName, type View } from "./route.ts";
import { viewRun } from "./run.tsx";
import { viewStages } from "./stages.tsx";
import { announce, nextTheme, type Screen, type State, startDrawing, state, update } from "./state.ts";

// biome-ignore lint/suspicious/noExplicitAny: each view gets the data that it loaded itself
const VIEWS: Record<PageName, View<any>> = {
  now: viewNow,
  runs: viewRuns,
  run: viewRun,
  stages: viewStages,
  tasks: viewTasks,
  loops: viewLoops,
  journal: viewJournal,
  unknown: {
    title: () => "No such page",
    load: async () => null,
    Page: () => (
      <>
        <Heading title="There is no such page" />
        <Empty title="The address may be mistyped, or from another version of Pawl." text="">
          <a href={link("now")}>Go to Now</a>
        </Empty>
      </>
    ),
  },
};

function start(): void {
  startDrawing(() => {
    document.documentElement.dataset.theme = state.theme;
    render(<Frame {...state} />, document.body);
  });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => void arrive());
  void arrive();
}

/** The link may also be opened in a tab that shows the page already: then nothing is loaded anew. */
async function arrive(): Promise<void> {
  const token = /^#token=(.*)$/.exec(location.hash)?.[1];
  if (token !== undefined) {
    history.replaceState(null, "", link("now"));
    // If it is a wrong one, the page finds out by asking whether it is known by another.
    await enter(token).catch(() => {});
  }
  if (listening === null) void learnWhatIsAllowed();
  await show();
  if (state.screen.kind !== "locked" && listening === null) void listen();
}

const learnWhatIsAllowed = () =>
  ask("now").then(
    ({ readOnly }) => update({ readOnly }),
    () => {},
  );

function lock(): void {
  listening?.abort();
  listening = null;
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
    if (mine !== asked) return;
    if (error instanceof Locked) lock();
    else fail(error, place);
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
  const focused = document.activeElement;
  update({ screen: { kind: "page", view, data, text, query, place } });
  // What had the focus may be gone now, such as the button of a question that was answered.
  if (!isFirst && !(isSamePage && focused?.isConnected))
    document.querySelector<HTMLElement>("#view h1")?.focus({ preventScroll: true });
  if (isSamePage) return;
  // A new page begins at its top, for eyes, keys and ears.
  scrollTo(0, 0);
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

const AGAIN_MS = 1_000;
let listening: AbortController | null = null;

/** Again and again, until the page is locked. After a gap anything may have happened. */
async function listen(): Promise<void> {
  const mine = new AbortController();
  listening = mine;
  while (!mine.signal.aborted) {
    await follow(mine.signal, connected, heard).catch(() => {});
    if (mine.signal.aborted) return;
    if (state.connection !== "offline") update({ connection: "offline", announced: "The dashboard is offline" });
    // Perhaps the server does not know this page any more: it finds that out by asking.
    heard(null);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function connected(): void {
  const wasOffline = state.connection === "offline";
  update({ connection: "live", ...(wasOffline && { announced: "Live again" }) });
  if (wasOffline) heard(null);
}

// ── What is around every page, and the page itself ──────────────────────────

const Frame = (props: State) => (
  <ReadOnly.Provider value={props.readOnly}>
    {/* biome-ignore lint/a11y/useValidAnchor: it is a link to a place on this page, whose address is used otherwise */}
    <a class="skip" href="#main" onClick={toContent}>
      Skip to content
    </a>
    <Side {...props} />
    <main id="main" tabIndex={-1}>
      <p id="offline" hidden={props.connection !== "offline"}>
        <strong>Offline.</strong> What you see may be old. Is <code>pawl dashboard</code> still running?
      </p>
      <p id="reading" hidden={props.percent === null}>
        {props.percent !== null && `Reading the journal… ${props.percent} %. Figures cover what has been read so far.`}
      </p>
      <div id="view">
        <Shown screen={props.screen} />
      </div>
    </main>
    <div class="visually-hidden" role="status" aria-live="polite">
      {props.announced}
    </div>
    {props.dialog}
  </ReadOnly.Provider>
);

/** The address after `#` is ours, so the link may not go there. */
function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

const CONNECTIONS = { starting: "Connecting", live: "Live", offline: "Offline, trying again" };
const THEME_NAMES = { system: "System", light: "Light", dark: "Dark" };

function Side({ screen, page, connection, readOnly, theme }: State) {
  return (
    <header class={screen.kind === "locked" ? "side locked" : "side"}>
      <a class="brand" href={link("now")} aria-label="Pawl, now">
        <img src="/page/icon.svg" alt="" width={26} height={26} />
        <span>Pawl</span>
      </a>
      <nav id="pages" aria-label="Pages">
        <ul>
          {PAGES.map(({ name, title, key }) => (
            <li key={name}>
              <a href={link(name)} aria-current={name === (page === "run" ? "runs" : page) ? "page" : undefined}>
                <span>{title}</span>
                <span class="hint" aria-hidden="true">
                  g {key}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="foot">
        <p id="connection" data-state={connection}>
          <span class="dot" aria-hidden="true" />
          <span id="connection-text">{CONNECTIONS[connection]}</span>
        </p>
        {readOnly && <p>Read-only</p>}
        <button type="button" onClick={nextTheme}>
          <span aria-hidden="true">◐</span> <span class="visually-hidden">Theme: </span>
          <span>{THEME_NAMES[theme]}</span>
        </button>
        <button id="help" type="button" aria-label="Keyboard shortcuts" onClick={showHelp}>
          ?
        </button>
      </div>
    </header>
  );
}

/** Drawn again only when there is something new on it: a long story has thousands of elements. */
function Shown({ screen }: { screen: Screen }) {
  return useMemo(() => {
    if (screen.kind === "page") return <screen.view.Page data={screen.data} query={screen.query} />;
    if (screen.kind === "failed") return <Failed why={screen.why} />;
    return screen.kind === "locked" ? <Door /> : null;
  }, [screen]);
}

const Failed = ({ why }: { why: string }) => (
  <>
    <Heading title="This page cannot be shown" />
    <Empty title="The server refused." text={why}>
      <button type="button" onClick={drawAgain}>
        Try again
      </button>
    </Empty>
  </>
);

const Door = () => (
  <>
    <Heading title="This page is locked" />
    <Empty
      title="Every start of the dashboard has its own key."
      text="Run `pawl dashboard` in a terminal and open the link it prints. The key in it works until that dashboard ends."
    >
      <p class="muted">Already running? The link is in its terminal; every new tab needs it once.</p>
    </Empty>
  </>
);

start();
