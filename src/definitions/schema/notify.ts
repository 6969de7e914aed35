/** How a person is notified: every channel, with its defaults in place. Without valibot: a notifier starts with this. */

/** What a file says; schema/config.ts checks it. */
interface NotifyLevel {
  send?: "on" | "off";
  bell?: "on" | "off";
  desktop?: "on" | "off";
  command?: string[];
  batch?: number;
  silent?: number | "never";
}

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

export function notifySettings(file: NotifyLevel | "on" | "off" | undefined): NotifySettings {
  const level: NotifyLevel = typeof file === "object" ? file : { send: file ?? "off" };
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
