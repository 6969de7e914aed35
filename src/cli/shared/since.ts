import { type Clock, parseSince, SINCE_WAYS } from "../../kernel/time/since.ts";
import { UserError } from "../../kernel/user-error.ts";
import { localTime } from "../../native/libc.ts";
import { homeDir } from "../../store/home.ts";
import { visible } from "./visible.ts";

/** The clock on the person's wall. */
const wallClock = (): Clock => ({ now: Date.now(), offset: (ms) => -new Date(ms).getTimezoneOffset() });

export function sinceAsked(text: string): { since: string; at: string } {
  const clock = wallClock();
  const found = parseSince(text, clock);
  if (!found.ok) throw new UserError(`--since ${visible(text)}: ${found.why}`, `write ${SINCE_WAYS}`);
  return { since: new Date(found.ms).toISOString(), at: new Date(clock.now).toISOString() };
}

/** To the minute; the day where it is not today. */
export function clockTime(at: string, now: string): string {
  const [day = "", time = ""] = localTime(at).slice(0, 16).split(" ");
  return localTime(now).startsWith(day) ? time : `${day} ${time}`;
}

export function projectPath(root: string): string {
  const home = homeDir();
  return visible(root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root);
}

/** The folder's name; as much of the path before it as tells it apart from the others. */
export function projectNames(roots: string[]): (root: string) => string {
  const end = (root: string, parts: number) => root.split("/").slice(-parts).join("/");
  const isOnly = (root: string, parts: number) =>
    roots.every((one) => one === root || end(one, parts) !== end(root, parts));
  return (root) => visible(end(root, [1, 2, 3, 4].find((parts) => isOnly(root, parts)) ?? 20));
}
