/// <reference lib="dom" />
/** Listens for what the server announces, and connects again when it is gone. */
import type { Change } from "../live.ts";
import { state, update } from "./state.ts";

type Listener = (change: Change | null) => void;

const SOONEST_MS = 500;
const LATEST_MS = 10_000;
let source: EventSource | null = null;
let wait = SOONEST_MS;
let wasOnline = false;

/** `null`: back after a gap, anything may have happened. */
export function listen(heard: Listener): void {
  source?.close();
  source = new EventSource("/api/live");
  source.addEventListener("open", () => {
    const missed = wasOnline;
    wasOnline = true;
    wait = SOONEST_MS;
    showConnection("live");
    if (missed) heard(null);
  });
  source.addEventListener("change", (event) => {
    const change = read((event as MessageEvent<string>).data);
    if (change) heard(change);
  });
  source.addEventListener("error", () => {
    showConnection("offline");
    source?.close();
    setTimeout(() => again(heard), wait);
    wait = Math.min(wait * 2, LATEST_MS);
  });
}

/** Perhaps the server does not know this browser any more: the page finds that out by asking. */
function again(heard: Listener): void {
  if (source === null) return;
  heard(null);
  listen(heard);
}

export function stopListening(): void {
  source?.close();
  source = null;
}

function read(text: string): Change | null {
  try {
    return JSON.parse(text) as Change;
  } catch {
    return null;
  }
}

function showConnection(connection: "live" | "offline"): void {
  if (state.connection === connection) return;
  const isFirst = state.connection === "starting" && connection === "live";
  update({ connection });
  if (!isFirst) update({ announced: connection === "live" ? "Live again" : "The dashboard is offline" });
}
