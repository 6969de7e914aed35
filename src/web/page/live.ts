/// <reference lib="dom" />
/** What the server tells by itself: listened to, taken up again, and said when it is gone. */
import { announce, byId } from "./dom.ts";

export interface Change {
  project: string;
  run: string;
  kind: string;
  at: string;
}

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
    showOnline(true);
    if (missed) heard(null);
  });
  source.addEventListener("change", (event) => {
    const change = read((event as MessageEvent<string>).data);
    if (change) heard(change);
  });
  source.addEventListener("error", () => {
    showOnline(false);
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

function showOnline(online: boolean): void {
  const place = byId("connection");
  if (place.dataset.state === (online ? "live" : "offline")) return;
  const before = place.dataset.state;
  place.dataset.state = online ? "live" : "offline";
  byId("connection-text").textContent = online ? "Live" : "Offline, trying again";
  byId("offline").hidden = online;
  if (before !== "starting" || !online) announce(online ? "Live again" : "The dashboard is offline");
}
