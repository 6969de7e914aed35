/** How a person is notified: every channel, with its defaults in place. Without valibot: a notifier starts with this. */
import type { NotifyFile } from "./config.ts";

export interface NotifySettings {
  on: boolean;
  bell: boolean;
  desktop: boolean;
  command: string[] | null;
  /** seconds */
  batch: number;
  /** minutes; 0: never */
  silent: number;
}

export const NOTIFY_DEFAULTS = { batch: 5, silent: 15 };

export function notifySettings(file: NotifyFile | undefined): NotifySettings {
  const level = typeof file === "object" ? file : { send: file ?? "off" };
  const silent = level.silent ?? NOTIFY_DEFAULTS.silent;
  return {
    on: level.send !== "off",
    bell: level.bell !== "off",
    desktop: level.desktop !== "off",
    command: level.command ?? null,
    batch: level.batch ?? NOTIFY_DEFAULTS.batch,
    silent: silent === "never" ? 0 : silent,
  };
}
