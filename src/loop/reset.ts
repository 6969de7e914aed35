/** How long until a usage limit is over, as its text says it. */
import { resetTime } from "./core/usage-limit.ts";
import { localOffset, zoneOffset } from "./zones.ts";

export function resetIn(text: string, at: string): number | null {
  const reset = resetTime(text, at, localOffset(at), zoneOffset);
  if (reset === null) return null;
  const ms = Math.max(0, Date.parse(reset) - Date.parse(at));
  return ms + slack(ms);
}

/** A little later than said: clocks differ. */
const slack = (ms: number) => Math.min(30_000, Math.max(1_000, ms / 20));
