/** Times, spans and sums, short enough for a table. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function span(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  const whole = Math.max(0, ms);
  if (whole < 1000) return whole === 0 ? "0 s" : `${Math.round(whole)} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  if (whole < MINUTE) return `${Math.round(whole / 1000)} s`;
  if (whole >= 10 * MINUTE && whole < HOUR) return `${Math.round(whole / MINUTE)} min`;
  if (whole < HOUR) return two(whole, MINUTE, "min", 1000, "s");
  if (whole < 2 * DAY) return two(whole, HOUR, "h", MINUTE, "min");
  return two(whole, DAY, "d", HOUR, "h");
}

function two(ms: number, large: number, name: string, small: number, smallName: string): string {
  const first = Math.floor(ms / large);
  const second = Math.floor((ms % large) / small);
  return second === 0 ? `${first} ${name}` : `${first} ${name} ${second} ${smallName}`;
}

/** As a clock that runs: for times that are watched. With units: “11:01” would be a time of day. */
export function ticking(ms: number): string {
  const whole = Math.max(0, ms);
  const last = (part: number) => String(Math.floor(part)).padStart(2, "0");
  if (whole < MINUTE) return `${Math.floor(whole / 1000)} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${last((whole % MINUTE) / 1000)} s`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h ${last((whole % HOUR) / MINUTE)} min`;
  return `${Math.floor(whole / DAY)} d`;
}

export function ago(at: string): string {
  const ms = Date.now() - Date.parse(at);
  if (Number.isNaN(ms)) return "";
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h ago` : `${Math.floor(ms / DAY)} d ago`;
}

export function clock(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : date.toLocaleTimeString([], { hour12: false });
}

export function day(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === new Date().toDateString()) return "Today";
  return date.toLocaleDateString([], { weekday: "short", day: "numeric", month: "short" });
}

export const moment = (at: string): string => `${day(at)}, ${clock(at)}`;

export const percent = (part: number | null | undefined): string =>
  part === null || part === undefined ? "–" : `${Math.round(part * 100)} %`;

export const money = (usd: number | null | undefined): string =>
  usd === null || usd === undefined ? "–" : `$${usd.toFixed(2)}`;

export const many = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

/** Between two things in a line: what goes on in the next line does not begin with it. */
export const DOT = "\u00a0· ";

/** The folder's name is what a person calls a project. */
export const projectName = (root: string): string => root.split("/").findLast((part) => part !== "") ?? root;

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const capital = (word: string): string => sentence(word.replaceAll("_", " "));

/** Some workflows write their stages' names in capitals. */
export const stageName = (name: string): string => (/^[A-Z0-9_]+$/.test(name) ? capital(name.toLowerCase()) : name);
