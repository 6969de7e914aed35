/** How long until a usage limit is over, as its text says it. */
import { resetTime } from "../core/usage-limit.ts";
import { localOffset, zoneOffset } from "./zones.ts";

/** A little later than said: clocks differ. */
const SLACK_MS = 30_000;

export function resetIn(text: string, at: string): number | null {
  const reset = resetTime(text, at, localOffset(at), zoneOffset);
  return reset === null ? null : Math.max(0, Date.parse(reset) - Date.parse(at)) + SLACK_MS;
}
