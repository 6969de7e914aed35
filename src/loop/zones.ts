/** Clocks of the world, for times that a text names with their zone. */

/** Minutes that a zone's clock is ahead of UTC at a moment; null: no such zone. */
export function zoneOffset(zone: string, at: string): number | null {
  const moment = Date.parse(at);
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const name = format.formatToParts(moment).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0"] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  } catch {
    return null;
  }
}

/** Minutes that the clock of this machine is ahead of UTC at a moment. */
export const localOffset = (at: string): number => 0 - new Date(at).getTimezoneOffset();
