/// <reference lib="dom" />
/** What is around every page, and the page itself. */
import { useMemo } from "preact/hooks";
import { showHelp } from "./keys.tsx";
import { Empty, Heading, ReadOnly } from "./parts.tsx";
import { link, PAGES } from "./route.ts";
import { nextTheme, type Screen, type State } from "./state.ts";

type Props = State & { onRetry(): void };

export const Frame = (props: Props) => (
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
        <Shown screen={props.screen} onRetry={props.onRetry} />
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

function Side({ screen, page, connection, readOnly, theme }: Props) {
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
function Shown({ screen, onRetry }: { screen: Screen; onRetry(): void }) {
  return useMemo(() => {
    if (screen.kind === "page") return <screen.view.Page data={screen.data} query={screen.query} />;
    if (screen.kind === "failed") return <Failed why={screen.why} onRetry={onRetry} />;
    return screen.kind === "locked" ? <Door /> : null;
  }, [screen, onRetry]);
}

const Failed = ({ why, onRetry }: { why: string; onRetry(): void }) => (
  <>
    <Heading title="This page cannot be shown" />
    <Empty title="The server refused." text={why}>
      <button type="button" onClick={onRetry}>
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
      text={
        <>
          Run <code>pawl dashboard</code> in a terminal and open the link it prints. The key in it works until that
          dashboard ends.
        </>
      }
    >
      <p class="muted">Already running? The link is in its terminal.</p>
    </Empty>
  </>
);
